package source

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// An alias may repeat what was written this often over, and no more: a bomb repeats it a billion
// times. aliasGrace lets small files do as they like.
const (
	aliasFactor = 10
	aliasGrace  = 100_000
)

// yamlReader turns the parser's nodes into ours. An alias shares the items of what it names, so
// that repeating costs nothing here; size counts what a walk over the result would meet.
type yamlReader struct {
	lines    int32 // lines before the text, when it is a part of a file
	slab     slab
	stack    []Node
	written  int
	done     map[*yaml.Node]sized // what carries an anchor; of size 0 while it is being read
	problems []Problem
	broken   bool // the tree is not whole
}

type sized struct {
	node   Node
	size   int // values, aliases counted in full
	height int
}

func readYAML(text string, lines int32) (Node, []Problem) {
	if marks(text) > MaxValues {
		return Node{}, []Problem{tooMany(1, 1)}
	}
	doc, p := parseYAML(text)
	if p != nil {
		p.Line += int(lines)
		return Node{}, []Problem{*p}
	}
	if doc == nil || len(doc.Content) == 0 {
		return Node{Line: 1 + lines, Col: 1}, nil
	}
	r := &yamlReader{lines: lines, done: map[*yaml.Node]sized{}}
	all := r.node(doc.Content[0], 0)
	if all.size > aliasGrace && all.size > aliasFactor*r.written {
		r.broken = true
		r.fault(doc.Content[0], Alias, "aliases repeat so much here that the plan would not fit in memory", "write out what differs, or use each")
	} else if all.size > MaxValues {
		r.broken = true
		r.problems = append(r.problems, tooMany(1, 1))
	}
	if r.broken {
		return Node{}, r.problems
	}
	return all.node, r.problems
}

// marks is a bound on the number of values: each but the first follows one of these. It is taken
// before parsing, which costs some hundred bytes a value.
func marks(text string) int {
	n := 0
	for i := range len(text) {
		switch text[i] {
		case ',', '[', '{', '\n', ':', '-', '?':
			n++
		}
	}
	if n <= MaxValues {
		return n
	}
	// Prose has commas and dashes too: count again, only what a space or a line's end follows.
	n = 0
	for i := range len(text) - 1 {
		switch c, next := text[i], text[i+1]; {
		case c == '[' || c == '{' || c == ',':
			n++
		case (c == ':' || c == '-' || c == '?') && (next == ' ' || next == '\n' || next == '\t'):
			n++
		}
	}
	return n
}

// parseYAML guards the parser, which is not ours: what it cannot bear must not end the program.
func parseYAML(text string) (doc *yaml.Node, p *Problem) {
	defer func() {
		if recover() != nil {
			doc, p = nil, &Problem{Syntax, 1, 1, "this is no YAML that can be read", "check quotes, brackets and indentation"}
		}
	}()
	d := yaml.NewDecoder(strings.NewReader(text))
	doc = &yaml.Node{}
	if err := d.Decode(doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, explainYAML(text, err)
	}
	var second yaml.Node
	if err := d.Decode(&second); err == nil {
		return nil, &Problem{Syntax, max(second.Line, 1), max(second.Column, 1), "a second document begins here", "keep one plan in a file"}
	} else if !errors.Is(err, io.EOF) {
		return nil, explainYAML(text, err)
	}
	return doc, nil
}

func (r *yamlReader) fault(y *yaml.Node, code, msg, remedy string) {
	if len(r.problems) < 100 {
		r.problems = append(r.problems, Problem{code, y.Line + int(r.lines), y.Column, msg, remedy})
	}
}

func (r *yamlReader) node(y *yaml.Node, depth int) sized {
	r.written++
	n := Node{Line: int32(y.Line) + r.lines, Col: int32(y.Column)}
	if depth > MaxDepth {
		r.broken = true
		r.fault(y, Syntax, tooDeep(0, 0).Msg, tooDeep(0, 0).Remedy)
		return sized{n, 1, 1}
	}
	if y.Kind == yaml.AliasNode {
		return r.alias(y, depth)
	}
	if y.Anchor != "" {
		r.done[y] = sized{}
	}
	all := sized{size: 1, height: 1}
	switch y.Kind {
	case yaml.ScalarNode:
		r.scalar(y, &n)
	case yaml.SequenceNode:
		n.Kind = List
		n.Items = r.items(y, depth, &all)
	case yaml.MappingNode:
		n.Kind = Map
		n.Items = r.entries(y, depth, &all)
	}
	all.node = n
	if y.Anchor != "" {
		r.done[y] = all
	}
	return all
}

func (r *yamlReader) alias(y *yaml.Node, depth int) sized {
	known := r.done[y.Alias]
	r.broken = r.broken || known.size == 0 || depth+known.height > MaxDepth+1
	switch {
	case known.size == 0:
		r.fault(y, Alias, fmt.Sprintf("the alias *%s stands inside what it names", y.Value), "write the value out")
	case depth+known.height > MaxDepth+1:
		r.fault(y, Alias, fmt.Sprintf("the alias *%s nests values more than %d deep", y.Value, MaxDepth), "write out what differs")
	default:
		return known
	}
	return sized{Node{Line: int32(y.Line) + r.lines, Col: int32(y.Column)}, 1, 1}
}

func (r *yamlReader) items(y *yaml.Node, depth int, all *sized) []Node {
	base := len(r.stack)
	for _, c := range y.Content {
		v := r.node(c, depth+1)
		r.stack = append(r.stack, v.node)
		all.hold(v)
	}
	out := r.slab.copy(r.stack[base:])
	r.stack = r.stack[:base]
	return out
}

// entries reads a map. What merge keys bring comes last, and gives way to what is written.
func (r *yamlReader) entries(y *yaml.Node, depth int, all *sized) []Node {
	base := len(r.stack)
	merges := false
	for i := 0; i+1 < len(y.Content); i += 2 {
		k, v := y.Content[i], y.Content[i+1]
		if isMerge(k) {
			merges = true
			continue
		}
		key := r.node(k, depth+1).node
		if key.Kind == List || key.Kind == Map {
			r.fault(k, Syntax, "a key must be a word, not "+key.Kind.String(), "quote it if it holds brackets")
			continue
		}
		if key.Kind != String && k.Kind == yaml.ScalarNode {
			key.Text = k.Value
		}
		key.Kind = String
		value := r.node(v, depth+1)
		r.stack = append(r.stack, key, value.node)
		all.hold(value)
	}
	if key, found := duplicateKey(r.stack[base:]); found && len(r.problems) < 100 {
		r.problems = append(r.problems, twice(key))
	}
	for i := 0; merges && i+1 < len(y.Content); i += 2 {
		if isMerge(y.Content[i]) {
			from := r.node(y.Content[i+1], depth+1)
			all.hold(from)
			r.merge(y.Content[i+1], from.node, base)
		}
	}
	out := r.slab.copy(r.stack[base:])
	r.stack = r.stack[:base]
	return out
}

func isMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" && (k.Tag == "!!merge" || k.Tag == "") && k.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0
}

// merge adds to the map on the stack what it does not have yet. Unlike an alias it copies, so that
// it is counted as if it were written.
func (r *yamlReader) merge(y *yaml.Node, from Node, base int) {
	maps := []Node{from}
	if from.Kind == List {
		maps = from.Items
	}
	have := make(map[string]bool)
	for i := base; i < len(r.stack); i += 2 {
		have[r.stack[i].Text] = true
	}
	for _, m := range maps {
		if m.Kind != Map {
			r.fault(y, Syntax, "<< merges maps, and this is "+m.Kind.String(), "name an anchored map: <<: *name")
			continue
		}
		if r.written += len(m.Items); r.written > MaxValues {
			r.broken = true
			r.fault(y, Alias, "merge keys repeat so much that the plan would not fit in memory", "write out what differs, or use each")
			return
		}
		for i := 0; i < len(m.Items); i += 2 {
			if !have[m.Items[i].Text] {
				have[m.Items[i].Text] = true
				r.stack = append(r.stack, m.Items[i], m.Items[i+1])
			}
		}
	}
}

func (r *yamlReader) scalar(y *yaml.Node, n *Node) {
	quoted := y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if y.Style&yaml.TaggedStyle != 0 {
		switch y.Tag {
		case "!!str", "!!timestamp":
			n.Kind, n.Text = String, y.Value
			return
		case "!!int", "!!float", "!!bool", "!!null":
			quoted = false
		default:
			r.fault(y, Syntax, fmt.Sprintf("the tag %s means nothing here", y.Tag), "leave the tag out")
		}
	}
	if n.Kind, n.Text = String, y.Value; !quoted {
		n.Kind, n.Text = plain(y.Value)
	}
}

// hold counts a child. Beyond the limits it does not matter by how much, so it stops short of
// overflow.
func (s *sized) hold(child sized) {
	s.size = min(s.size+child.size, 1<<40)
	s.height = max(s.height, child.height+1)
}
