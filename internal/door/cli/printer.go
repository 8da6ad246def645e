package cli

import (
	"bufio"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/journal"
)

// queue keeps entries for whoever shows them. It has no bound: what a run journals is bounded by the run.
type queue struct {
	mu    sync.Mutex
	fresh []journal.Entry
	some  chan struct{} // holds one token when there is something; nil where nobody waits for it
}

func (q *queue) take(entries []journal.Entry) {
	q.mu.Lock()
	q.fresh = append(q.fresh, entries...)
	q.mu.Unlock()
	select {
	case q.some <- struct{}{}:
	default:
	}
}

func (q *queue) all() []journal.Entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.fresh
	q.fresh = nil
	return all
}

// printer writes entries in their order, those of one commit in one go.
type printer struct {
	queue
	out    *bufio.Writer
	beside io.Writer // for notices
	write  func(io.Writer, journal.Entry)
	turns  *queuing // nil: of those nothing is told
	stop   chan struct{}
	done   chan struct{}
}

func newPrinter(out, beside io.Writer, write func(io.Writer, journal.Entry), turns *queuing) *printer {
	p := &printer{out: bufio.NewWriter(out), beside: beside, write: write, turns: turns, stop: make(chan struct{}), done: make(chan struct{})}
	p.some = make(chan struct{}, 1)
	go p.loop()
	return p
}

func (p *printer) loop() {
	defer close(p.done)
	var look <-chan time.Time
	if p.turns != nil {
		tick := time.NewTicker(turnsEvery)
		defer tick.Stop()
		look = tick.C
	}
	for {
		select {
		case <-p.some:
			p.flush()
		case <-look:
			p.flush() // that they began is told before that they wait
			p.turns.write(p.out)
			p.flush()
		case <-p.stop:
			p.flush()
			return
		}
	}
}

func (p *printer) flush() {
	for _, e := range p.all() {
		p.write(p.out, e)
	}
	// A reader that went away is no reason to stop the run.
	_ = p.out.Flush()
}

func (p *printer) notice(text string) { fmt.Fprintln(p.beside, text) }

// close writes what is left.
func (p *printer) close() {
	close(p.stop)
	<-p.done
}
