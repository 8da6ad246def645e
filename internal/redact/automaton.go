package redact

// automaton finds all values and marks in one pass (Aho and Corasick). Its states are the prefixes of
// what is looked for; the state after a text is the longest of them that the text ends with.
//
// Ordinary text seldom holds the first three letters of anything, so a filter passes over the places
// where nothing begins without following states at all. A state that branches, or is of depth one, has
// a whole row of successors; the long tails of values have one successor, and a state to fall back
// on, so that memory stays near the length of the values.
//
// States are numbered: deep rows, shallow rows, shallow tails, deep tails. So both what has a row and
// what is shallow (shorter than the filter looks) is a range.
type automaton struct {
	filter  [1 << (filterBits - 6)]uint64
	rows    []uint32 // 256 successors for each state below first
	tails   []tail   // the states from first upwards
	states  []state
	hits    []hit
	root    uint32 // the first shallow state
	shallow uint32 // how many there are
	first   uint32 // the first state without a row
}

const (
	reach      = 3 // letters that the filter looks at; nothing that is looked for is shorter
	filterBits = 16
)

type state struct {
	open uint32 // how many of the letters read may be the beginning of something that has not ended
	hit  uint32 // index of what ends here, 0 for nothing
}

// tail is a state with at most one successor of its own.
type tail struct {
	next, fail uint32 // next is none where there is no successor
	char       byte
}

// hit is what ends in a state.
type hit struct {
	length int // of the longest value; those inside it are hidden with it
	label  int
	marks  []mark
}

type mark struct{ length, shape int }

const (
	found = 1 << 31   // flags a successor in which something ends
	none  = found - 1 // is no state
)

// filterKey is where three letters are noted in the filter.
func filterKey(three uint32) uint32 { return three * 0x9E3779B1 >> (32 - filterBits) }

// skip finds the first place, from i on, where something may begin; it stops short of the last two letters.
func (a *automaton) skip(b []byte, i int) int {
	if len(b)-i < reach {
		return i
	}
	three := uint32(b[i])<<8 | uint32(b[i+1])
	for j, c := range b[i+2:] {
		three = (three<<8 | uint32(c)) & 0xFFFFFF
		h := filterKey(three)
		if a.filter[h>>6]>>(h&63)&1 != 0 {
			return i + j
		}
	}
	return len(b) - reach + 1
}

// step follows one letter from a state.
func (a *automaton) step(state uint32, c byte) uint32 {
	for state >= a.first {
		t := &a.tails[state-a.first]
		if t.char == c && t.next != none {
			return t.next
		}
		state = t.fail
	}
	return a.rows[state<<8|uint32(c)]
}
