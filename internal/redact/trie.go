package redact

// trie gathers what is looked for, to be built into an automaton. Node 0 is the root.
type trie struct {
	nodes []node
	hits  []hit      // 0 is nothing
	start [256]int32 // the children of the root by letter: it has many and is asked most
}

type node struct {
	child, sibling int32 // 0 for none
	fail           int32
	depth          int32
	hit            int32
	char           byte
}

func newTrie() *trie { return &trie{nodes: make([]node, 1), hits: make([]hit, 1)} }

func (t *trie) addValue(s string, label int) {
	h := t.insert(s)
	// The first to claim a text keeps it: labels come in order of precedence.
	if h.length == 0 {
		h.length, h.label = len(s), label
	}
}

func (t *trie) addMark(s string, shape int) {
	h := t.insert(s)
	h.marks = append(h.marks, mark{len(s), shape})
}

// insert makes the path of s and gives what ends there.
func (t *trie) insert(s string) *hit {
	at := int32(0)
	for i := range len(s) {
		next := t.find(at, s[i])
		if next == 0 {
			next = int32(len(t.nodes))
			t.nodes = append(t.nodes, node{char: s[i], depth: t.nodes[at].depth + 1, sibling: t.nodes[at].child})
			t.nodes[at].child = next
			if at == 0 {
				t.start[s[i]] = next
			}
		}
		at = next
	}
	return t.own(at)
}

func (t *trie) own(n int32) *hit {
	if t.nodes[n].hit == 0 {
		t.nodes[n].hit = int32(len(t.hits))
		t.hits = append(t.hits, hit{})
	}
	return &t.hits[t.nodes[n].hit]
}

func (t *trie) find(at int32, c byte) int32 {
	if at == 0 {
		return t.start[c]
	}
	for n := t.nodes[at].child; n != 0; n = t.nodes[n].sibling {
		if t.nodes[n].char == c {
			return n
		}
	}
	return 0
}

// link sets, breadth first, where each node falls back to and what ends in it, and gives that order.
func (t *trie) link() []int32 {
	order := make([]int32, 1, len(t.nodes))
	for i := 0; i < len(order); i++ {
		n := order[i]
		for child := t.nodes[n].child; child != 0; child = t.nodes[child].sibling {
			order = append(order, child)
			if n == 0 {
				continue
			}
			back := t.nodes[n].fail
			next := t.find(back, t.nodes[child].char)
			for next == 0 && back != 0 {
				back = t.nodes[back].fail
				next = t.find(back, t.nodes[child].char)
			}
			t.nodes[child].fail = next
			t.inherit(child, t.nodes[next].hit)
		}
	}
	return order
}

// inherit adds to what ends in a node what ends where it falls back to.
func (t *trie) inherit(n, from int32) {
	if from == 0 {
		return
	}
	if t.nodes[n].hit == 0 {
		t.nodes[n].hit = from
		return
	}
	own, other := &t.hits[t.nodes[n].hit], t.hits[from]
	if own.length == 0 {
		own.length, own.label = other.length, other.label
	}
	own.marks = append(own.marks[:len(own.marks):len(own.marks)], other.marks...)
}

// build links the trie and lays it out.
func (t *trie) build() *automaton {
	order := t.link()
	a := &automaton{states: make([]state, len(order)), hits: t.hits}
	id := make([]uint32, len(order))
	var next [5]uint32 // by class, where its numbers begin; one after the other
	for _, n := range order {
		next[t.class(n)+1]++
	}
	for class := range 4 {
		next[class+1] += next[class]
	}
	a.root, a.first, a.shallow = next[1], next[2], next[3]-next[1]
	for _, n := range order {
		class := t.class(n)
		id[n] = next[class]
		next[class]++
	}
	a.rows, a.tails = make([]uint32, 256*int(a.first)), make([]tail, len(order)-int(a.first))
	for _, n := range order {
		open := uint32(t.nodes[n].depth)
		if t.nodes[n].child == 0 {
			open = a.states[id[t.nodes[n].fail]].open
		}
		a.states[id[n]] = state{open, uint32(t.nodes[n].hit)}
		a.lay(t, n, id)
	}
	t.note(a, 0, 0)
	return a
}

// class tells in which order states are numbered: deep rows, shallow rows, shallow tails, deep tails.
func (t *trie) class(n int32) int {
	at := &t.nodes[n]
	row, shallow := at.depth <= 1 || at.child != 0 && t.nodes[at.child].sibling != 0, at.depth < reach
	switch {
	case row && !shallow:
		return 0
	case row:
		return 1
	case shallow:
		return 2
	}
	return 3
}

// lay sets one state, after those it falls back on.
func (a *automaton) lay(t *trie, n int32, id []uint32) {
	at, self := &t.nodes[n], id[n]
	target := func(n int32) uint32 {
		if t.nodes[n].hit != 0 {
			return id[n] | found
		}
		return id[n]
	}
	if self >= a.first {
		s := tail{next: none, fail: id[at.fail]}
		if at.child != 0 {
			s.next, s.char = target(at.child), t.nodes[at.child].char
		}
		a.tails[self-a.first] = s
		return
	}
	row := a.rows[self<<8:][:256]
	if n == 0 {
		for c := range row {
			row[c] = self
		}
	} else {
		a.fallBack(row, id[at.fail])
	}
	for child := at.child; child != 0; child = t.nodes[child].sibling {
		row[t.nodes[child].char] = target(child)
	}
}

// fallBack fills a row with the successors of the state it falls back on.
func (a *automaton) fallBack(row []uint32, to uint32) {
	if to < a.first {
		copy(row, a.rows[to<<8:][:256])
		return
	}
	t := a.tails[to-a.first]
	a.fallBack(row, t.fail)
	if t.next != none {
		row[t.char] = t.next
	}
}

// note puts the first three letters of everything into the filter.
func (t *trie) note(a *automaton, n int32, three uint32) {
	if t.nodes[n].depth == reach {
		h := filterKey(three)
		a.filter[h>>6] |= 1 << (h & 63)
		return
	}
	for child := t.nodes[n].child; child != 0; child = t.nodes[child].sibling {
		t.note(a, child, three<<8|uint32(t.nodes[child].char))
	}
}
