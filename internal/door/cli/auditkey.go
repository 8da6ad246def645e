package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/audit"
)

func (a *app) auditKey() *cobra.Command {
	c := &cobra.Command{
		Use:     "key",
		Short:   "show the public key that proofs are checked with; `key rotate` replaces it",
		Example: "  cairn audit key\n  cairn audit key rotate --why 'ann has left'",
		Args:    takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.within(c.Context(), func(_ place, h *House) error { return runKey(h, a.out()) })
		},
	}
	c.AddCommand(a.auditKeyRotate())
	return c
}

func (a *app) auditKeyRotate() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use:     "rotate --why TEXT",
		Short:   "let the signing key name a new one, and go on with that",
		Example: "  cairn audit key rotate --why 'ann has left'",
		Args:    takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := reason(why, "rotate"); err != nil {
				return err
			}
			return a.within(c.Context(), func(_ place, h *House) error { return runKeyRotate(c.Context(), h, why, a.out()) })
		},
	}
	addWhy(c, &why)
	return c
}

// keyLine is the key under --json.
type keyLine struct {
	Key       string         `json:"key"`
	Secret    string         `json:"secret,omitempty"`  // where its other half lies
	Problem   string         `json:"problem,omitempty"` // why nothing can be signed
	Handovers []handoverLine `json:"handovers"`
}

type handoverLine struct {
	Old  string    `json:"old"`
	New  string    `json:"new"`
	Size uint64    `json:"size"`
	Time time.Time `json:"time"`
	Why  string    `json:"why"`
}

// runKey shows the key. Its secret half may be elsewhere: that is told, and is no failure.
func runKey(h *House, out Out) error {
	home, err := h.Audit()
	if err != nil {
		return err
	}
	v := keyLine{Key: home.Verifier.String(), Handovers: []handoverLine{}}
	for _, o := range home.Verifier.Handovers() {
		v.Handovers = append(v.Handovers, handoverOf(o))
	}
	if s, err := home.Sealer(); err != nil {
		v.Problem = err.Error()
	} else {
		v.Secret = s.Key().Secret()
	}
	if out.JSON {
		return out.print(v)
	}
	fmt.Fprintln(out, v.Key)
	if v.Problem != "" {
		fmt.Fprintf(out, "nothing can be signed here: %s\n", v.Problem)
	} else {
		fmt.Fprintf(out, "its secret half is %s; whoever has that can sign in your name\n", v.Secret)
	}
	for _, o := range v.Handovers {
		writeHandover(o, out)
	}
	return nil
}

func handoverOf(h audit.Handover) handoverLine {
	return handoverLine{h.Old, h.New, h.Size, h.Time, h.Why}
}

func writeHandover(h handoverLine, out Out) {
	fmt.Fprintf(out, "before it, up to %s: %s, replaced at %s: %s\n", count(int(h.Size), "record"), h.Old, moment(h.Time), oneLine(h.Why))
}

func runKeyRotate(ctx context.Context, h *House, why string, out Out) error {
	home, err := h.Audit()
	if err != nil {
		return err
	}
	s, err := home.Sealer()
	if err != nil {
		return err
	}
	done, err := s.Rotate(ctx, why)
	if err != nil {
		return err
	}
	v := handoverOf(done)
	if out.JSON {
		return out.print(v)
	}
	fmt.Fprintln(out, v.New)
	writeHandover(v, out)
	fmt.Fprintln(out, "tell the new key to whoever checks your receipts; those that the old one signed stay good")
	return nil
}
