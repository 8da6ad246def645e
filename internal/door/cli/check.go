package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/view"
)

type checkOptions struct {
	place
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
			p, err := a.at()
			if err != nil {
				return err
			}
			caps, err := a.parts.Catalogue(p.home)
			if err != nil {
				return err
			}
			return runCheck(c.Context(), caps, checkOptions{files: args, in: a.io.In, place: p}, a.out())
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
	Holds  []detained  `json:"holds"` // what waits for somebody's consent, by which rule
}

// detained is what one task waits for, or is refused by.
type detained struct {
	Task    string        `json:"task"`
	Demands []gate.Demand `json:"demands,omitempty"`
	Denied  string        `json:"denied,omitempty"`
}

// runCheck looks at every file before it fails for any.
func runCheck(ctx context.Context, caps Capabilities, o checkOptions, out Out) error {
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
		c := checked{File: name, OK: r.err() == nil, Faults: append(plan.Faults{}, r.faults...), Risks: []view.Risk{}, Holds: []detained{}}
		if r.plan != nil {
			c.Plan, c.Tasks = r.plan.Name, len(r.plan.Tasks)
			c.Risks = append(c.Risks, view.Risks(r.plan)...)
		}
		if c.OK {
			if c.Holds, err = o.foresee(ctx, r.plan, caps); err != nil {
				return fault.Wrap(fault.CodeOf(err), err, "%s", name).Remedy("%s", fault.HintOf(err))
			}
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
			writeDetained(c.Holds, name, out)
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

// foresee says what will be held, as far as the text tells, and refuses a plan that waits for a role that nobody has.
func (p place) foresee(ctx context.Context, of *plan.Plan, caps Capabilities) ([]detained, error) {
	out := []detained{}
	set, err := p.rules(of)
	if err != nil {
		return out, err
	}
	all, err := set.Foresee(ctx, of, func(id string) (capability.Contract, bool) {
		c, _, ok := caps.Lookup(id)
		return c, ok
	})
	for _, f := range all {
		out = append(out, detained{f.Task, f.Demands, f.Denied})
	}
	if err == nil {
		err = nobodyHas(of, set, p.roles)
	}
	return out, err
}

// writeDetained tells what waits for whom, and because of which rule.
func writeDetained(holds []detained, name string, out Out) {
	for _, h := range holds {
		if h.Denied != "" {
			fmt.Fprintf(out, "%s: %s is not allowed by %s\n", name, h.Task, h.Denied)
			continue
		}
		fmt.Fprintf(out, "%s: %s waits for %s\n", name, h.Task, (&gate.Hold{Demands: h.Demands}).Lacks())
	}
}
