package lifecycle

import "strconv"

func itoa(n int) string { return strconv.Itoa(n) }

// heap is the ready queue: priority, then critical path, then id. Written out because the order
// reads the nodes, and because container/heap would box every index.
type heap []int32

func (s *State) before(a, b int32) bool {
	x, y := &s.nodes[a], &s.nodes[b]
	if x.rank != y.rank {
		return x.rank > y.rank
	}
	if x.weight != y.weight {
		return x.weight > y.weight
	}
	if x.item != y.item && x.parent == y.parent {
		return x.item < y.item // dig-2 before dig-10
	}
	return x.id < y.id
}

func (s *State) push(i int32) {
	s.ready = append(s.ready, i)
	h := s.ready
	for c := len(h) - 1; c > 0; {
		p := (c - 1) / 2
		if !s.before(h[c], h[p]) {
			break
		}
		h[c], h[p] = h[p], h[c]
		c = p
	}
}

func (s *State) pop() int32 {
	h := s.ready
	top, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for p := 0; ; {
		c := 2*p + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && s.before(h[c+1], h[c]) {
			c++
		}
		if !s.before(h[c], h[p]) {
			break
		}
		h[p], h[c] = h[c], h[p]
		p = c
	}
	s.ready = h
	return top
}

// lock is something exclusive that tasks declare.
type lock struct {
	held    bool
	waiters []int32
}

// pump starts ready tasks while there are workers for them.
func (s *State) pump() {
	for s.Phase == PlanRunning && s.Tended && int(s.running) < s.Workers && len(s.ready)+len(s.aside) > 0 {
		i, ok := s.next()
		if !ok {
			return
		}
		s.start(i)
	}
}

func (s *State) takeLocks(i int32) bool {
	names := s.nodes[i].spec.Locks
	for _, name := range names {
		if l := s.locks[name]; l != nil && l.held {
			l.waiters = append(l.waiters, i)
			return false
		}
	}
	for _, name := range names {
		if s.locks[name] == nil {
			s.locks[name] = &lock{}
		}
		s.locks[name].held = true
	}
	return true
}

func (s *State) freeLocks(i int32) {
	for _, name := range s.nodes[i].spec.Locks {
		l := s.locks[name]
		l.held = false
		waiting := l.waiters
		l.waiters = nil
		for _, w := range waiting {
			if s.nodes[w].status == Ready {
				s.push(w)
			}
		}
	}
}

func (s *State) start(i int32) {
	n := &s.nodes[i]
	n.status = Running
	n.attempt++
	s.running++
	if !n.pure {
		body := append([]byte(`{"execution":`), itoa(int(n.execution))...)
		body = s.Key(n.id, int(n.execution)).AppendHex(append(body, `,"key":"`...))
		s.emit(Derived{Kind: TaskStarted, Task: n.id, Attempt: int(n.attempt), Body: append(body, '"', '}')}, nil)
	}
	s.effect(Start, i)
	s.reserve(i)
}

// release gives back the worker and the locks of an attempt that is over.
func (s *State) release(i int32) {
	s.running--
	if len(s.nodes[i].spec.Locks) > 0 {
		s.freeLocks(i)
	}
}

// stir counts a node as active in all groups around it.
func (s *State) stir(i int32) {
	for p := s.nodes[i].parent; p >= 0; p = s.nodes[p].parent {
		s.nodes[p].active++
	}
}

// calm takes it back. A group whose last active descendant is over may be over itself, which is looked at
// when everything that follows from this fact has been set in motion.
func (s *State) calm(i int32) {
	for p := s.nodes[i].parent; p >= 0; p = s.nodes[p].parent {
		if s.nodes[p].active--; s.nodes[p].active == 0 {
			s.dirty = append(s.dirty, p)
		}
	}
}
