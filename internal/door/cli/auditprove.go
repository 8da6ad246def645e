package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/fault"
)

type auditProveOptions struct {
	plan  string
	which string // a record's number, or a task
	from  string // the size of an older head, or a file that holds it
	file  string
}

func (a *app) auditProve() *cobra.Command {
	var o auditProveOptions
	c := &cobra.Command{
		Use:   "prove PLAN [SEQ|TASK] | --from SIZE|HEADFILE",
		Short: "prove that records stand under the signed head, or that the journal only grew since an older one",
		Example: "  cairn audit prove first\n  cairn audit prove first 4 -o record4.proof\n" +
			"  cairn audit prove --from head-of-may -o growth.proof",
		Args:              takes(0, 2),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			if (len(args) == 0) == (o.from == "") {
				return fault.New(fault.Invalid, "prove wants a plan, or --from an older head").Remedy("usage: %s", c.UseLine())
			}
			if len(args) > 0 {
				o.plan = args[0]
			}
			if len(args) > 1 {
				o.which = args[1]
			}
			return a.within(c.Context(), func(_ place, h *House) error { return runProve(c.Context(), h, o, a.out()) })
		},
	}
	c.Flags().StringVar(&o.from, "from", "", "the size of a head that was signed here, or a file that holds one")
	c.Flags().StringVarP(&o.file, "file", "o", "", "write to this file, whole or not at all")
	return c
}

func runProve(ctx context.Context, h *House, o auditProveOptions, out Out) error {
	home, err := h.Audit()
	if err != nil {
		return err
	}
	var text []byte
	if o.from == "" {
		text, err = audit.ProveRecords(ctx, home, o.plan, o.which)
	} else {
		var older audit.Head
		if older, err = o.older(ctx, home); err == nil {
			text, err = audit.ProveGrowth(ctx, home, older)
		}
	}
	if err != nil {
		return err
	}
	return handOut(text, o.file, out)
}

// older is the head to prove from.
func (o auditProveOptions) older(ctx context.Context, home audit.Home) (audit.Head, error) {
	text, err := os.ReadFile(o.from)
	if err == nil {
		h, err := audit.ParseHead(text)
		if err != nil {
			return h, fault.Wrap(fault.CodeOf(err), err, "%s", o.from)
		}
		return h, nil
	}
	size, bad := strconv.ParseUint(o.from, 10, 62)
	switch {
	case bad == nil:
		return audit.HeadOfSize(ctx, home.Ledger, size)
	case errors.Is(err, fs.ErrNotExist):
		return audit.Head{}, fault.New(fault.NotFound, "%s is neither a size nor a file", o.from).
			Remedy("name a copy of keys/head that you kept, or the size of a head")
	}
	return audit.Head{}, fault.Wrap(fault.Invalid, err, "read the head").Remedy("make %s a file that you can read", o.from)
}

// handOut checks a proof as its reader will, and writes it to a file or to standard output.
func handOut(text []byte, file string, out Out) error {
	c, err := audit.Check(text, nil)
	if err != nil {
		return err
	}
	if !c.Sound() {
		return fault.New(fault.Internal, "what was made does not hold: %s", c.Findings[0])
	}
	if file != "" {
		if err := writeWhole(file, text); err != nil {
			return err
		}
	}
	switch {
	case out.JSON:
		v := provenOf(c)
		v.File = file
		if file == "" {
			v.Text = string(text)
		}
		return out.print(v)
	case file == "":
		_, err := out.Write(text)
		return err
	}
	fmt.Fprintf(out, "%s: written, signed by %s\ncheck it with: cairn audit verify %s --key KEY\n", file, c.Key, file)
	return nil
}

// writeWhole puts a file in place, whole or not at all.
func writeWhole(file string, text []byte) error {
	temp := file + ".new"
	err := os.WriteFile(temp, text, 0o644)
	if err == nil {
		err = os.Rename(temp, file)
	}
	if err != nil {
		os.Remove(temp)
		return fault.Wrap(fault.Invalid, err, "write %s", file).Remedy("name a file in a folder that you can write to")
	}
	return nil
}
