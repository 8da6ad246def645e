package process

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/capability"
)

var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// stream reads one output of a child to its end, whatever becomes of the sink: a child must never
// block, or fill memory, because nobody wants what it writes.
type stream struct {
	from  *os.File
	sink  io.Writer
	limit int64
	beat  func()

	seen int64
	tail tail
	err  error // of the sink
}

func (s *stream) drain() {
	b := buffers.Get().(*[]byte)
	defer buffers.Put(b)
	for {
		n, err := s.from.Read(*b)
		if n > 0 {
			s.take((*b)[:n])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.sweep(*b)
		}
		if err != nil {
			return
		}
	}
}

// sweep takes what is in the pipe when the wait for its end is over. On a busy machine that may be all
// that a child wrote; from somebody who keeps writing no more is taken than a pipe can hold.
func (s *stream) sweep(b []byte) {
	for room := 1 << 20; room > 0; {
		n := readNow(s.from, b)
		if n <= 0 {
			return
		}
		s.take(b[:n])
		room -= n
	}
}

func (s *stream) take(b []byte) {
	room := max(0, s.limit-s.seen)
	s.seen += int64(len(b))
	s.tail.add(b)
	s.beat()
	if s.sink == nil || s.err != nil || room == 0 {
		return
	}
	_, s.err = s.sink.Write(b[:min(room, int64(len(b)))])
}

// left is how much the cap kept from the sink.
func (s *stream) left() int64 { return max(0, s.seen-s.limit) }

// tail keeps the last TailSize bytes of what it is given.
type tail struct {
	b      []byte
	longer bool // something before b was dropped
}

func (t *tail) add(b []byte) {
	if len(b) > TailSize {
		b, t.b, t.longer = b[len(b)-TailSize:], t.b[:0], true
	}
	t.b = append(t.b, b...)
	if over := len(t.b) - TailSize; over > 0 {
		t.b, t.longer = append(t.b[:0], t.b[over:]...), true
	}
}

// cut is the tail without the rest of a character whose beginning was dropped.
func (t *tail) cut() []byte {
	b := t.b
	for i := 0; t.longer && i < utf8.UTFMax-1 && len(b) > 0 && !utf8.RuneStart(b[0]); i++ {
		b = b[1:]
	}
	return b
}

// pulse beats for output, at most once a second.
func pulse(host capability.Host) func() {
	var last atomic.Int64
	return func() {
		now, was := time.Now().UnixNano(), last.Load()
		if now-was >= int64(time.Second) && last.CompareAndSwap(was, now) {
			host.Beat()
		}
	}
}
