// Package source is the text of a plan: one tree of positioned nodes, three readers that make it
// (YAML, JSON and the small DSL) and three writers that turn it back into text.
//
// It knows nothing of plans: what a key means is decided by whoever reads the tree. A text that
// cannot be read yields problems with their places, never a panic, and every reader bounds size,
// depth and the number of values before it spends memory on them.
package source

// Kind says what a node is.
type Kind uint8

// The kinds of node.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Map
)

func (k Kind) String() string {
	return [...]string{"nothing", "true or false", "a number", "text", "a list", "a map"}[k]
}

// Node is one value of the tree with the place where it was written. Text holds a scalar as the
// author meant it: strings unescaped, numbers as JSON writes them. Items holds the elements of a
// list, or key, value, key, value of a map. Nobody changes a node once it is read, so aliases
// share their items.
type Node struct {
	Kind  Kind
	Line  int32
	Col   int32
	Text  string
	Items []Node
}

// Len is how many entries a map or elements a list has.
func (n Node) Len() int {
	if n.Kind == Map {
		return len(n.Items) / 2
	}
	return len(n.Items)
}

// Entry returns the key and the value of the i-th entry of a map.
func (n Node) Entry(i int) (key, value Node) { return n.Items[2*i], n.Items[2*i+1] }

// Get finds the value of a key in a map.
func (n Node) Get(key string) (Node, bool) {
	for i := 0; n.Kind == Map && i < len(n.Items); i += 2 {
		if n.Items[i].Text == key {
			return n.Items[i+1], true
		}
	}
	return Node{}, false
}

// Text makes a string node without a place.
func Text(s string) Node { return Node{Kind: String, Text: s} }

// Limits of one text. They are far above what an ordinary plan of 100,000 tasks needs.
const (
	MaxBytes  = 32 << 20
	MaxValues = 4 << 20
	MaxDepth  = 100
)

// Problem is something wrong with the text itself.
type Problem struct {
	Code      string
	Line, Col int
	Msg       string
	Remedy    string
}

// The codes of problems.
const (
	Syntax    = "E_SYNTAX"
	NotUTF8   = "E_UTF8"
	TooBig    = "E_TOO_BIG"
	Alias     = "E_ALIAS"
	Duplicate = "E_DUPLICATE"
)

// Form is a spelling of the tree.
type Form string

// The forms.
const (
	YAML Form = "yaml"
	JSON Form = "json"
	DSL  Form = "dsl"
)

// slab hands out slices of nodes cut from ever larger blocks, so that a plan of a million nodes
// costs hundreds of allocations and not a million, and a value of three nodes one small one.
type slab struct {
	free []Node
	next int
}

func (s *slab) copy(ns []Node) []Node {
	if len(ns) == 0 {
		return nil
	}
	if len(ns) > len(s.free) {
		if len(ns) > max(s.next/4, 8) {
			return append(make([]Node, 0, len(ns)), ns...)
		}
		s.next = min(max(2*s.next, 8), 4096)
		s.free = make([]Node, s.next)
	}
	out := s.free[:len(ns):len(ns)]
	s.free = s.free[len(ns):]
	copy(out, ns)
	return out
}

// duplicateKey finds the first key of a map that stands there twice.
func duplicateKey(items []Node) (Node, bool) {
	if len(items) <= 24 {
		for i := 2; i < len(items); i += 2 {
			for j := 0; j < i; j += 2 {
				if items[i].Text == items[j].Text {
					return items[i], true
				}
			}
		}
		return Node{}, false
	}
	seen := make(map[string]bool, len(items)/2)
	for i := 0; i < len(items); i += 2 {
		if seen[items[i].Text] {
			return items[i], true
		}
		seen[items[i].Text] = true
	}
	return Node{}, false
}
