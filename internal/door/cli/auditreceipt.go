package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/audit"
)

func (a *app) auditReceipt() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:               "receipt PLAN [-o FILE]",
		Short:             "write one signed file that tells what became of a plan, and that a stranger can verify",
		Example:           "  cairn audit receipt first -o first.receipt\n  cairn audit verify first.receipt --key journal.key.pub",
		Args:              takes(1, 1),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			return a.within(c.Context(), func(_ place, h *House) error {
				return runReceipt(c.Context(), h, args[0], file, a.out())
			})
		},
	}
	c.Flags().StringVarP(&file, "file", "o", "", "write to this file, whole or not at all")
	return c
}

func runReceipt(ctx context.Context, h *House, plan, file string, out Out) error {
	home, err := h.Audit()
	if err != nil {
		return err
	}
	text, err := audit.Receipt(ctx, home, plan)
	if err != nil {
		return err
	}
	return handOut(text, file, out)
}
