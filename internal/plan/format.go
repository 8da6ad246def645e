package plan

import (
	"bytes"
	"slices"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan/source"
)

// Format writes a plan file in canonical form as "yaml", "json" or "dsl", with our spelling and
// order of keys. Comments stay where the form has them. What it writes reads back as the same plan,
// and formats to itself.
func Format(file string, src []byte, as string) ([]byte, error) {
	form := source.FormOf(file, src)
	p, faults := Read(file, src, Options{})
	if err := faults.Err(); err != nil {
		return nil, err
	}
	canon, err := tree(p)
	if err != nil {
		return nil, err
	}
	written, _ := source.Read(form, src)
	if isFragment(written) {
		tasks, _ := canon.Get("tasks")
		if canon = tasks.Items[0]; !isFragment(canon) {
			canon.Items[0].Text = "task" // with only an id and a title it could be a plan
		}
	}
	out, err := write(as, canon, notes(&canon, written, source.Comments(form, src)))
	if err != nil {
		return nil, err
	}
	if err := same(p, file, out, as); err != nil {
		return nil, err
	}
	return out, nil
}

func write(as string, n source.Node, notes source.Notes) ([]byte, error) {
	switch source.Form(as) {
	case source.YAML:
		return source.WriteYAML(n, notes), nil
	case source.JSON:
		return source.WriteJSON(n), nil
	case source.DSL:
		return source.WriteDSL(n, notes)
	}
	return nil, fault.New(fault.Invalid, "there is no form %q", as).Remedy("write yaml, json or dsl")
}

// same makes sure that nothing was lost: a formatter that changes a plan is worse than none.
func same(p *Plan, file string, out []byte, as string) error {
	ext := map[source.Form]string{source.YAML: ".yaml", source.JSON: ".json", source.DSL: ".plan"}[source.Form(as)]
	q, faults := Read(file+ext, out, Options{})
	if err := faults.Err(); err != nil {
		return fault.Wrap(fault.Internal, err, "%s cannot be written as %s", file, as)
	}
	a, err := p.Encode()
	if err != nil {
		return err
	}
	b, err := q.Encode()
	if err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return fault.New(fault.Internal, "%s would change when it is written as %s", file, as).Remedy("keep it as it is, and report it")
	}
	return nil
}

// entry is one of the canonical tree, with the line where its author wrote it.
type entry struct {
	line int32
	node *source.Node
	key  bool
}

// notes gives each comment to the entry it stands beside or, failing that, above.
func notes(canon *source.Node, written source.Node, comments []source.Comment) source.Notes {
	if len(comments) == 0 {
		return nil
	}
	var entries []entry
	pair(canon, written, &entries)
	slices.SortStableFunc(entries, func(a, b entry) int { return int(a.line - b.line) })
	out := source.Notes{}
	for _, c := range comments {
		first, _ := slices.BinarySearchFunc(entries, int32(c.Line), func(e entry, line int32) int { return int(e.line - line) })
		beside := beside(entries[first:], int32(c.Line))
		if note := out[beside]; c.Trailing && beside != nil && note.Line == "" {
			note.Line = c.Text
			out[beside] = note
			continue
		}
		var below *source.Node
		for ; first < len(entries); first++ {
			if int(entries[first].line) > c.Line {
				below = entries[first].node
				break
			}
		}
		note := out[below]
		if n := len(note.Head); c.Text != "" || n > 0 && note.Head[n-1] != "" || n == 0 {
			note.Head = append(note.Head, c.Text)
		}
		out[below] = note
	}
	return out
}

// beside finds the entry that a comment at the end of a line speaks of: the first key on it, or
// else the first item.
func beside(entries []entry, line int32) (found *source.Node) {
	for _, e := range entries {
		if e.line != line {
			break
		}
		if e.key {
			return e.node
		}
		if found == nil {
			found = e.node
		}
	}
	return found
}

// pair walks the canonical tree beside the written one and notes which entries are the same.
func pair(canon *source.Node, written source.Node, out *[]entry) {
	switch {
	case canon.Kind != written.Kind:
	case canon.Kind == source.List && len(canon.Items) == len(written.Items):
		for i := range canon.Items {
			*out = append(*out, entry{written.Items[i].Line, &canon.Items[i], false})
			pair(&canon.Items[i], written.Items[i], out)
		}
	case canon.Kind == source.Map:
		for i := 0; i < len(canon.Items); i += 2 {
			for j := 0; j < len(written.Items); j += 2 {
				if k := written.Items[j].Text; k == canon.Items[i].Text || isAlias(k, canon.Items[i].Text) {
					*out = append(*out, entry{written.Items[j].Line, &canon.Items[i], true})
					pair(&canon.Items[i+1], written.Items[j+1], out)
					break
				}
			}
		}
	}
}

// isAlias reports whether some type spells the key this way too.
func isAlias(key, name string) bool {
	for _, of := range aliases {
		if of[key] == name {
			return true
		}
	}
	return false
}
