package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/view"
)

type checkOptions struct {
	files []string
	in    io.Reader
}

func (a *app) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "check FILE...",
		Short:   "tell everything that is wrong with plan files",
		Example: "  cairn check examples/first.yaml\n  cairn check - < plan.json",
		Args:    takes(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			caps, err := a.catalogue()
			if err != nil {
				return err
			}
			return runCheck(c.Context(), caps, checkOptions{files: args, in: a.io.In}, a.out())
		},
	}
}

// catalogue is what is installed here. It needs no home.
func (a *app) catalogue() (Capabilities, error) {
	p, err := a.at()
	if err != nil {
		return nil, err
	}
	return a.parts.Catalogue(p.home)
}

// checked is one file under --json.
type checked struct {
	File   string      `json:"file"`
	Plan   string      `json:"plan,omitempty"`
	Tasks  int         `json:"tasks"`
	OK     bool        `json:"ok"`
	Faults plan.Faults `json:"faults"`
	Risks  []view.Risk `json:"risks"` // what cannot be taken back; it is no fault
}

// runCheck looks at every file before it fails for any.
func runCheck(ctx context.Context, caps plan.Catalogue, o checkOptions, out Out) error {
	var all []checked
	wrong := 0
	for _, name := range o.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := readPlan(name, o.in, caps)
		if err != nil {
			return err
		}
		c := checked{File: name, OK: r.err() == nil, Faults: append(plan.Faults{}, r.faults...), Risks: []view.Risk{}}
		if r.plan != nil {
			c.Plan, c.Tasks = r.plan.Name, len(r.plan.Tasks)
			c.Risks = append(c.Risks, view.Risks(r.plan)...)
		}
		if all = append(all, c); !c.OK {
			wrong++
		}
		if !out.JSON {
			if err := r.tell(out, out.Color); err != nil {
				return err
			}
			if err := view.RiskLines(out, name, c.Risks, out.Color); err != nil {
				return err
			}
			if c.OK {
				fmt.Fprintf(out, "%s: plan %s, %s, sound\n", name, c.Plan, count(c.Tasks, "task"))
			}
		}
	}
	if out.JSON {
		if err := out.print(all); err != nil || wrong == 0 {
			return err
		}
		return outcome{fault.Invalid}
	}
	if wrong == 0 {
		return nil
	}
	return fault.New(fault.Invalid, "%s of %d cannot run", count(wrong, "file"), len(o.files)).Remedy("mend what is listed above")
}
