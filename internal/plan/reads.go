package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/expr"
)

// Reads tells which tasks' outputs a task refers to by ${...}, each once, as it names them.
func (t *Task) Reads() []string {
	var ids []string
	add := func(s string) {
		if !strings.Contains(s, "${") {
			return
		}
		for _, r := range expr.Refs(s) {
			if r.IsTask() && !slices.Contains(ids, r.Root) {
				ids = append(ids, r.Root)
			}
		}
	}
	for _, s := range []string{string(t.With), t.Run, t.Each, t.Dir} {
		add(s)
	}
	if len(t.Env) > 0 {
		for _, k := range slices.Sorted(maps.Keys(t.Env)) {
			add(t.Env[k])
		}
	}
	if !t.IsGroup() { // what a subplan gives is read inside it
		for _, o := range t.Outputs {
			add(o.From)
		}
	}
	return ids
}
