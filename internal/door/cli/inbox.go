package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

func (a *app) inboxCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "inbox",
		Short:   "list what waits for a person, over all plans, and how to answer",
		Example: "  cairn inbox\n  cairn inbox --json",
		Args:    takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.reading(c.Context(), func(h *House) error { return runInbox(c.Context(), h.Engine, a.out()) },
				func() error { return writeInbox(nil, a.out()) })
		},
	}
}

// ask is one thing that waits for a person.
type ask struct {
	Plan    string         `json:"plan"`
	Task    string         `json:"task"`
	Title   string         `json:"title,omitempty"`
	For     lifecycle.Wait `json:"for"`
	Says    string         `json:"says,omitempty"` // what is asked
	Answers []string       `json:"answers"`        // commands
}

func runInbox(ctx context.Context, e *engine.Engine, out Out) error {
	names, err := e.Journal.Plans(ctx)
	if err != nil {
		return err
	}
	var asks []ask
	var damage error
	for _, name := range names {
		st, _, err := e.Load(ctx, name)
		if broken(err) {
			damage = err // the others still wait for somebody
			continue
		}
		if err != nil {
			return err
		}
		if st.Phase.Over() {
			continue
		}
		for t := range st.Tasks() {
			if t.Wait.NeedsPerson() {
				asks = append(asks, askOf(name, t))
			}
		}
	}
	if err := writeInbox(asks, out); err != nil {
		return err
	}
	return reported(damage, out)
}

// askOf says what a task wants of a person, and the commands that answer it.
func askOf(name string, t lifecycle.Task) ask {
	q := ask{Plan: name, Task: t.ID, Title: t.Spec.Title, For: t.Wait, Says: t.Spec.Description}
	on := name + " " + t.ID
	switch t.Wait {
	case lifecycle.ForDecision:
		q.Answers = []string{"cairn approve " + on + " --why TEXT", "cairn reject " + on + " --why TEXT"}
	case lifecycle.ForUnknown:
		q.Says = "it was cut off and must not run twice: did it happen?"
		q.Answers = []string{"cairn complete " + on, "cairn retry " + on + " --why 'it did not happen'", "cairn fail " + on + " --why TEXT"}
	case lifecycle.ForJudge:
		var prose []string
		for _, c := range t.Spec.Expect {
			if c.Judge {
				prose = append(prose, c.Says)
			}
		}
		q.Says = "does this hold: " + strings.Join(prose, "; ")
		q.Answers = []string{"cairn complete " + on, "cairn fail " + on + " --why TEXT"}
	default:
		complete := "cairn complete " + on
		for _, o := range t.Spec.Outputs {
			complete += " --output " + o.Name + "=VALUE"
		}
		q.Answers = []string{complete, "cairn fail " + on + " --why TEXT"}
	}
	return q
}

func writeInbox(asks []ask, out Out) error {
	if out.JSON {
		return out.print(append([]ask{}, asks...))
	}
	if len(asks) == 0 {
		fmt.Fprintln(out, "nothing waits for anybody")
	}
	for i, q := range asks {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%s  %s", q.Plan, q.Task)
		if q.Title != "" {
			fmt.Fprintf(out, "  %s", q.Title)
		}
		fmt.Fprintln(out)
		if q.Says != "" {
			fmt.Fprintf(out, "  %s\n", strings.ReplaceAll(strings.TrimSpace(q.Says), "\n", "\n  "))
		}
		for _, c := range q.Answers {
			fmt.Fprintf(out, "    %s\n", c)
		}
	}
	return nil
}
