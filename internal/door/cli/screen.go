package cli

import (
	"bytes"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/view"
)

// frameEvery bounds how often the tree is drawn.
const frameEvery = 100 * time.Millisecond

// Escape sequences of the terminal.
const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	clearBelow = "\x1b[J"
	clearRight = "\x1b[K"
)

// screen draws the tree of a run over itself. It folds a state of its own in one goroutine, which close ends and
// waits for; whoever reports entries only leaves them. What cannot be folded ends the drawing, not the run.
type screen struct {
	tty   *os.File
	fold  *lifecycle.Fold
	times *view.Times
	color bool
	look  turns
	turns view.Turns // as they were looked up last

	queue
	below atomic.Pointer[string] // a notice under the tree
	stop  chan struct{}
	done  chan struct{}
	drawn int // lines on the terminal that belong to us
	frame int
}

func newScreen(tty *os.File, fold *lifecycle.Fold, times *view.Times, color bool, look turns) *screen {
	s := &screen{tty: tty, fold: fold, times: times, color: color, look: look, stop: make(chan struct{}), done: make(chan struct{})}
	go s.loop()
	return s
}

// close draws the last picture and gives the cursor back.
func (s *screen) close() {
	close(s.stop)
	<-s.done
}

func (s *screen) notice(text string) { s.below.Store(&text) }

func (s *screen) loop() {
	defer close(s.done)
	defer fmt.Fprint(s.tty, showCursor)
	fmt.Fprint(s.tty, hideCursor)
	tick := time.NewTicker(frameEvery)
	defer tick.Stop()
	for {
		if !s.catchUp() {
			return
		}
		s.draw()
		select {
		case <-tick.C:
			if s.frame++; s.frame%int(turnsEvery/frameEvery) == 0 {
				s.turns = s.look()
			}
		case <-s.stop:
			if s.catchUp() {
				s.draw()
			}
			return
		}
	}
}

// catchUp folds what was left for us.
func (s *screen) catchUp() bool {
	for _, e := range s.all() {
		if e.Seq <= s.fold.Head.Seq {
			continue
		}
		r, err := s.fold.Next(e)
		if err != nil {
			fmt.Fprintln(s.tty, "the tree cannot be drawn any further:", err)
			return false
		}
		s.times.Note(r)
	}
	return true
}

// draw puts the tree where the last one was, in one write so that it does not flicker.
func (s *screen) draw() {
	width, height := size(s.tty)
	tree := view.TreeLines(s.fold.State, view.TreeOptions{Width: width - 1, Height: height - 2, Color: s.color,
		Now: time.Now(), Frame: s.frame, Times: s.times, Turns: s.turns})
	if text := s.below.Load(); text != nil {
		tree = append(tree, *text)
	}
	var b bytes.Buffer
	if s.drawn > 0 {
		// After a resize the old picture may be higher than the terminal: what scrolled away stays.
		fmt.Fprintf(&b, "\x1b[%dA", min(s.drawn, height-1))
	}
	b.WriteByte('\r')
	for _, line := range tree {
		b.WriteString(line + clearRight + "\n")
	}
	b.WriteString(clearBelow)
	s.drawn = len(tree)
	// A terminal that went away is told to nobody; the run goes on.
	_, _ = s.tty.Write(b.Bytes())
}

func terminalSize(f *os.File) (width, height int, err error) { return term.GetSize(int(f.Fd())) }
