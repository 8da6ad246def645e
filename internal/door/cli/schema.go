package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/plan"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "print the JSON Schema of the plan language",
		Example: "  cairn schema > plan.schema.json",
		Args:    takes(0, 0),
		RunE:    func(*cobra.Command, []string) error { return runSchema(a.io.Out) },
	}
}

func runSchema(out io.Writer) error {
	_, err := out.Write(plan.Schema())
	return err
}
