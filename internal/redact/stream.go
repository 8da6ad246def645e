package redact

import "slices"

// stream is the work on one text. Positions count from the start of buf, which holds what has not
// been given out and, for shapes that look back, a little of what has.
type stream struct {
	r       *Redactor
	buf     []byte
	given   int // buf[:given] is in out, or hidden
	scanned int // the automaton has read buf[:scanned]
	state   uint32
	spans   []span      // to be hidden: sorted, apart, not yet wholly given out
	waiting []candidate // marks whose text is not all here
	flown   []stretch   // by shape: where its last flow went, so that none goes there twice
	hits    []bool      // by label
	out     []byte
	quiet   bool // only findings are wanted
}

func newStream(r *Redactor, b []byte) stream { return stream{r: r, buf: b, state: r.auto.root} }

// span is text to be hidden.
type span struct {
	from, to, label int
	shown           bool // its mask is in out
}

// stretch is where a flow of one mode went.
type stretch struct {
	from, to, mode int
	open           bool // and goes on
}

// candidate is a mark that was found and is not settled.
type candidate struct {
	shape, at, after int
	hold             int // what follows may be part of a secret
	flowing          bool
	flow             flow
}

// read takes in what was added to buf. Unless last, more may follow.
func (s *stream) read(last bool) {
	t := text{s.buf, last}
	waiting := s.waiting
	s.waiting = s.waiting[:0]
	for _, c := range waiting {
		s.settle(t, c)
	}
	s.scan(t)
}

// scan runs the automaton over what it has not read.
func (s *stream) scan(t text) {
	a, b, state, i := s.r.auto, t.b, s.state, s.scanned
	for i < len(b) {
		if state-a.root < a.shallow {
			i -= int(a.states[state].open) // what has been read of it
			i = a.skip(b, i)
			state = a.root
			for end := min(i+reach, len(b)); i < end; i++ {
				state = a.step(state, b[i])
			}
		} else {
			state = a.step(state, b[i])
			i++
		}
		if state&found != 0 {
			state &^= found
			s.hit(t, a.hits[a.states[state].hit], i)
		}
	}
	s.state, s.scanned = state, i
}

// hit takes what the automaton found to end at end.
func (s *stream) hit(t text, h hit, end int) {
	if h.length > 0 {
		s.hide(end-h.length, end, h.label)
	}
	for _, m := range h.marks {
		s.settle(t, candidate{shape: m.shape, at: end - m.length, after: end})
	}
}

// settle looks at a candidate as far as the text goes, and keeps it when that is not far enough.
func (s *stream) settle(t text, c candidate) {
	fresh, shape := !c.flowing, &s.r.shapes[c.shape]
	if fresh {
		v := shape.look(t, c.at, c.after)
		switch v.answer {
		case no:
			return
		case more:
			c.hold = v.from
			s.waiting = append(s.waiting, c)
			return
		case yes:
			s.hide(v.from, v.to, shape.label)
			return
		case flows:
			s.hide(v.from, v.to, shape.label)
			c.flowing, c.hold, c.flow.mode = true, v.to-1, v.mode
		}
	}
	if s.follow(t, &c, fresh) {
		s.waiting = append(s.waiting, c)
	}
}

// follow hides what flows on, and says whether it may go on in text to come.
func (s *stream) follow(t text, c *candidate, fresh bool) bool {
	if s.flown == nil {
		s.flown = make([]stretch, len(s.r.shapes))
	}
	start, past, shape := c.hold+1, &s.flown[c.shape], &s.r.shapes[c.shape]
	joins := past.mode == c.flow.mode && past.from <= start && (start < past.to || start == past.to && past.open)
	if fresh && joins && !shape.alone {
		return false // the other one ends where this one would
	}
	end, ended := shape.flow(t, start, &c.flow)
	// The letter before joins what comes to what is hidden already.
	s.hide(c.hold, end, shape.label)
	if !joins {
		*past = stretch{from: start, mode: c.flow.mode}
	}
	past.to, past.open, c.hold = end, !ended, end-1
	return !ended
}

// hide adds a span, one with those that it overlaps.
func (s *stream) hide(from, to, label int) {
	if s.hits == nil {
		s.hits = make([]bool, len(s.r.labels))
	}
	s.hits[label] = true
	if s.quiet {
		return
	}
	if n := len(s.spans); n > 0 {
		if last := &s.spans[n-1]; from > last.from && from < last.to {
			last.to = max(last.to, to)
			return
		}
	}
	first := len(s.spans)
	for first > 0 && s.spans[first-1].to > from {
		first--
	}
	joined, next := span{from: from, to: to, label: label}, first
	for ; next < len(s.spans) && s.spans[next].from < to; next++ {
		joined = joined.with(s.spans[next])
	}
	s.spans = slices.Replace(s.spans, first, next, joined)
}

// with is the union of two spans that overlap, named by the leftmost.
func (a span) with(b span) span {
	if b.from < a.from || b.from == a.from && b.label < a.label {
		a.label = b.label
	}
	return span{min(a.from, b.from), max(a.to, b.to), a.label, a.shown || b.shown}
}

// hold is the position before which everything is settled: no find that is still to come begins there.
func (s *stream) hold(last bool) int {
	if last {
		return len(s.buf)
	}
	h := s.scanned - int(s.r.auto.states[s.state].open)
	for _, c := range s.waiting {
		h = min(h, c.hold)
	}
	return max(h, s.given)
}

// give puts what is settled into out, with masks instead of spans.
func (s *stream) give(last bool) {
	hold := s.hold(last)
	gone := 0
	for i := range s.spans {
		p := &s.spans[i]
		if p.from >= hold {
			break
		}
		if !p.shown {
			s.out = append(s.out, s.buf[s.given:p.from]...)
			s.out = append(s.out, s.r.labels[p.label].mask...)
			p.shown = true
		}
		s.given = min(p.to, hold)
		if p.to <= hold {
			gone++
		}
	}
	s.spans = slices.Delete(s.spans, 0, gone)
	if s.given < hold {
		s.out = append(s.out, s.buf[s.given:hold]...)
		s.given = hold
	}
}
