package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/memory"
)

type memoryGetOptions struct {
	where
	key     string
	history bool
}

func (a *app) memoryGet() *cobra.Command {
	var o memoryGetOptions
	c := &cobra.Command{
		Use:     "get KEY [--scope SCOPE] [--plan PLAN] [--history]",
		Short:   "print a fact, or all that its key ever held",
		Example: "  cairn memory get deploy.region\n  cairn memory get deploy.region --history\n  cairn memory get deploy.region --json",
		Args:    takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			o.key = args[0]
			return a.within(c.Context(), func(_ place, h *House) error {
				return runMemoryGet(c.Context(), h.Memory, o, a.out(), a.io.Err)
			})
		},
	}
	o.addFlags(c)
	c.Flags().BoolVar(&o.history, "history", false, "all that it ever was, newest first")
	return c
}

func runMemoryGet(ctx context.Context, m *memory.Memory, o memoryGetOptions, out Out, beside io.Writer) error {
	in, err := o.places(m)
	if err != nil {
		return err
	}
	if o.history {
		return runMemoryHistory(ctx, m, o.key, in, out)
	}
	f, err := m.Get(ctx, o.key, in)
	if err != nil {
		return err
	}
	if out.JSON {
		return out.print(f)
	}
	if f.Stale != "" {
		fmt.Fprintf(beside, "outdated: %s\n", f.Stale)
	}
	_, err = fmt.Fprintln(out, say(f.Value))
	return err
}

func runMemoryHistory(ctx context.Context, m *memory.Memory, key string, in []memory.Place, out Out) error {
	all := []memory.Fact{}
	var missing error
	for _, p := range in {
		facts, err := m.History(ctx, key, p)
		if err != nil {
			missing = err
			continue
		}
		all = append(all, facts...)
	}
	if len(all) == 0 {
		return missing
	}
	if out.JSON {
		return out.print(all)
	}
	for _, f := range all {
		what := say(f.Value)
		if f.Forgotten {
			what = "forgotten: " + f.Why
		}
		fmt.Fprintf(out, "%s  %-8s %s  %s\n", f.Time.Format(time.DateTime), f.Scope, onALine(what), about(f))
	}
	return nil
}

// about says what is to be known of a fact beside its value.
func about(f memory.Fact) string {
	parts := []string{"by " + f.Author}
	if f.Confidence < 1 && !f.Forgotten {
		parts = append(parts, "confidence "+strconv.FormatFloat(f.Confidence, 'g', 3, 64))
	}
	if s := f.Source.String(); s != "" {
		parts = append(parts, "from "+s)
	}
	if !f.Expires.IsZero() {
		parts = append(parts, "until "+f.Expires.Format(time.DateTime))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// onALine is a value that fits on a line.
func onALine(s string) string {
	const most = 100
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > most {
		return string(r[:most]) + "..."
	}
	return string(r)
}

type memorySearchOptions struct {
	where
	text  string
	limit int
	stale bool
}

func (a *app) memorySearch() *cobra.Command {
	var o memorySearchOptions
	c := &cobra.Command{
		Use:     "search TEXT [--limit N] [--plan PLAN] [--stale]",
		Short:   "find facts that speak of something, and say why each was found",
		Example: "  cairn memory search 'where do we deploy?'\n  cairn memory search 배포 --limit 3 --json",
		Args:    takes(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			o.text = strings.Join(args, " ")
			return a.within(c.Context(), func(_ place, h *House) error { return runMemorySearch(c.Context(), h.Memory, o, a.out()) })
		},
	}
	o.addFlags(c)
	c.Flags().IntVar(&o.limit, "limit", 10, "how many at most")
	c.Flags().BoolVar(&o.stale, "stale", false, "also show what its source has outdated")
	return c
}

func runMemorySearch(ctx context.Context, m *memory.Memory, o memorySearchOptions, out Out) error {
	in, err := o.places(m)
	if err != nil {
		return err
	}
	hits, err := m.Recall(ctx, memory.Ask{Text: o.text, In: in, Limit: o.limit, Stale: o.stale})
	if err != nil {
		return err
	}
	if out.JSON {
		return out.print(append([]memory.Hit{}, hits...))
	}
	if len(hits) == 0 {
		_, err := fmt.Fprintln(out, "nothing that is remembered speaks of it")
		return err
	}
	for _, h := range hits {
		fmt.Fprintf(out, "%s  %s  %s\n", h.Key, onALine(say(h.Value)), about(h.Fact))
		if h.Stale != "" {
			fmt.Fprintf(out, "    outdated: %s\n", h.Stale)
		}
		fmt.Fprintf(out, "    %s\n", h.Found.Text())
	}
	return nil
}
