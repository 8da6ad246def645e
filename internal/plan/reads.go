package plan

import (
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/expr"
)

// Reads tells which tasks' outputs a task refers to by ${...}, each once, as it names them.
func (t *Task) Reads() []string {
	var ids []string
	for _, s := range []string{string(t.With), t.Run, t.Each} {
		if !strings.Contains(s, "${") {
			continue
		}
		for _, r := range expr.Refs(s) {
			if r.IsTask() && !slices.Contains(ids, r.Root) {
				ids = append(ids, r.Root)
			}
		}
	}
	return ids
}
