package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/fault"
)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "doctor",
		Short:   "look at what this machine and this home offer",
		Example: "  cairn doctor",
		Args:    takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.at()
			if err != nil {
				return err
			}
			return runDoctor(a.parts.Examine(c.Context(), p.site()), a.out())
		},
	}
}

// runDoctor tells every finding, and fails when one of them is bad.
func runDoctor(findings []Finding, out Out) error {
	bad := 0
	for _, f := range findings {
		if !f.OK {
			bad++
		}
	}
	if out.JSON {
		if err := out.print(append([]Finding{}, findings...)); err != nil {
			return err
		}
	} else {
		for _, f := range findings {
			mark := "ok "
			switch {
			case !f.OK:
				mark = "BAD"
			case f.Lacks:
				mark = "no "
			}
			fmt.Fprintf(out, "%s  %-12s %s\n", mark, f.What, f.Says)
			if f.Remedy != "" {
				fmt.Fprintf(out, "     %-12s %s\n", "", f.Remedy)
			}
		}
	}
	if bad > 0 {
		return outcome{fault.Invalid}
	}
	return nil
}
