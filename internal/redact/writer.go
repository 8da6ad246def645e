package redact

import (
	"io"
	"slices"
)

const (
	block    = 32 << 10 // how much of a write is taken at once
	lookback = 64       // how far back a shape looks from its mark
)

// Writer hides the secrets in what passes through it. It holds back only what may be the beginning of a
// secret, until it knows or Close is called. It is for one goroutine at a time.
type Writer struct {
	to     io.Writer
	stream stream
	err    error
}

// Writer makes a Writer that passes what is left on to w. Closing it does not close w.
func (r *Redactor) Writer(w io.Writer) *Writer { return &Writer{to: w, stream: newStream(r, nil)} }

// Write passes p on without secrets. It reports all of p as written, although some may be held back;
// after an error of the writer behind it, it takes nothing more.
func (w *Writer) Write(p []byte) (int, error) {
	for n := 0; n < len(p); n += block {
		if w.err != nil {
			return n, w.err
		}
		w.stream.buf = append(w.stream.buf, p[n:min(n+block, len(p))]...)
		w.pass(false)
	}
	return len(p), w.err
}

// Close passes on what was held back.
func (w *Writer) Close() error {
	if w.err == nil {
		w.pass(true)
	}
	err := w.err
	if err == nil {
		w.err = io.ErrClosedPipe
	}
	return err
}

// Found lists what has been hidden so far, secrets first, each once.
func (w *Writer) Found() []Finding { return w.stream.r.findings(w.stream.hits) }

func (w *Writer) pass(last bool) {
	s := &w.stream
	s.read(last)
	s.give(last)
	if len(s.out) > 0 {
		_, w.err = w.to.Write(s.out)
		s.out = s.out[:0]
	}
	keep := s.given
	for _, c := range s.waiting {
		if !c.flowing {
			keep = min(keep, c.at)
		}
	}
	if keep > lookback {
		s.forget(keep - lookback)
	}
}

// forget drops the first n bytes of buf.
func (s *stream) forget(n int) {
	s.buf = slices.Delete(s.buf, 0, n)
	s.given, s.scanned = s.given-n, s.scanned-n
	for i := range s.spans {
		s.spans[i].from, s.spans[i].to = s.spans[i].from-n, s.spans[i].to-n
	}
	for i := range s.waiting {
		c := &s.waiting[i]
		c.at, c.after, c.hold = c.at-n, c.after-n, c.hold-n
	}
	for i := range s.flown {
		s.flown[i].from, s.flown[i].to = s.flown[i].from-n, s.flown[i].to-n
	}
}
