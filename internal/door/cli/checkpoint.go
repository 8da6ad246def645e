package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// runCheckpoints lists where a plan can go back to.
func runCheckpoints(ctx context.Context, e *engine.Engine, name string, out Out) error {
	st, _, err := e.Load(ctx, name)
	if err != nil {
		return err
	}
	all, err := e.Checkpoints(ctx, name)
	if err != nil {
		return err
	}
	if out.JSON {
		return out.print(append([]engine.Checkpoint{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintln(out, "there are no checkpoints yet: none of its tasks is done")
		return nil
	}
	width := 0
	for _, c := range all {
		width = max(width, len(c.Name))
	}
	for _, c := range all {
		note := ""
		if t, ok := st.Task(c.Task); ok && t.Status == lifecycle.RolledBack {
			note = "rolled back"
		}
		line := fmt.Sprintf("%-*s  %-12s  record %-5d  %s", width, c.Name, cmp.Or(short(c.Tree), "no files"), c.Seq, note)
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
	fmt.Fprintf(out, "\ngo back to one with: cairn rollback %s --to %s --why TEXT\n", name, all[len(all)-1].Name)
	return nil
}
