package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/memory"
)

func (a *app) memoryCommand() *cobra.Command {
	return group("memory", "remember facts, and find them again", a.memoryGet(), a.memorySet(), a.memorySearch(), a.memoryForget())
}

// where says which facts a command means.
type where struct{ scope, plan string }

func (w *where) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&w.scope, "scope", "", "for whom it holds: plan, project or global")
	c.Flags().StringVar(&w.plan, "plan", "", "as this plan sees it")
}

// places lists where to look.
func (w where) places(m *memory.Memory) ([]memory.Place, error) {
	if w.scope == "" {
		return m.Seen(w.plan), nil
	}
	p, err := m.Place(w.scope, w.plan)
	return []memory.Place{p}, err
}

type memorySetOptions struct {
	where
	key, value string
	expires    string
	confidence float64
	source     string
}

func (a *app) memorySet() *cobra.Command {
	var o memorySetOptions
	c := &cobra.Command{
		Use:   "set KEY VALUE|@FILE [--scope SCOPE] [--expires 30d] [--confidence 0.8] [--source SOURCE]",
		Short: "remember a fact, in front of what its key held before",
		Long: `Remember a fact under a key. VALUE is JSON, or text; @FILE reads it from a file.

What the key held before stays in its history. A source is plan/task/artifact, plan/task, plan#record, or a note in words;
when what it names is run again, undone or dropped, the fact is shown as outdated.`,
		Example: "  cairn memory set deploy.region eu-north-1 --source 'asked the team'\n  cairn memory set build.flaky '[\"TestLogin\"]' --expires 7d --confidence 0.6\n  cairn memory set style.guide @style.md --scope global",
		Args:    takes(2, 2),
		RunE: func(c *cobra.Command, args []string) error {
			o.key, o.value = args[0], args[1]
			p, err := a.at()
			if err != nil {
				return err
			}
			if o.value, err = readValue(o.value); err != nil {
				return err
			}
			h, err := a.open(c.Context(), p) // the first fact makes a home
			if err != nil {
				return err
			}
			return errors.Join(runMemorySet(c.Context(), h.Memory, p.actor, o, a.out()), h.Close())
		},
	}
	o.addFlags(c)
	c.Flags().StringVar(&o.expires, "expires", "", "how long it holds, such as 12h, 30d or 2w (default: for good)")
	c.Flags().Float64Var(&o.confidence, "confidence", 1, "how sure it is, from 0 to 1")
	c.Flags().StringVar(&o.source, "source", "", "where it comes from: plan/task/artifact, plan/task, plan#record, or a note")
	return c
}

// maxFactFile is more than a fact may hold, so that the refusal tells the size.
const maxFactFile = 1 << 20

// readValue takes a value from the command line, or from the file that it names.
func readValue(text string) (string, error) {
	path, ok := strings.CutPrefix(text, "@")
	if !ok {
		return text, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fault.New(fault.NotFound, "there is no file %s", path).Remedy("name a file that is there, or quote a text that begins with @: '\"@...\"'")
	}
	if info.Size() > maxFactFile {
		return "", fault.New(fault.Invalid, "%s has %d bytes, which is no fact", path, info.Size()).Remedy("store it as an artifact, and remember where it is")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fault.Wrap(fault.Invalid, err, "read the value").Remedy("name a file that you can read")
	}
	return strings.TrimSuffix(string(b), "\n"), nil
}

func runMemorySet(ctx context.Context, m *memory.Memory, actor string, o memorySetOptions, out Out) error {
	place, err := m.Place(o.scope, o.plan)
	if err != nil {
		return err
	}
	f := memory.Fact{Key: o.key, Value: memory.Value(o.value), Place: place, Confidence: o.confidence, Author: actor}
	if f.Source, err = m.Source(ctx, o.source); err != nil {
		return err
	}
	if f.Expires, err = memory.After(m.Now(), o.expires); err != nil {
		return err
	}
	if f, err = m.Set(ctx, f); err != nil {
		return err
	}
	if out.JSON {
		return out.print(f)
	}
	did := "remembered"
	if f.Supersedes > 0 {
		did = "remembered anew"
	}
	_, err = fmt.Fprintf(out, "%s: %s (%s)\n", f.Key, did, f.Where())
	return err
}

type memoryForgetOptions struct {
	where
	key, why string
}

func (a *app) memoryForget() *cobra.Command {
	var o memoryForgetOptions
	c := &cobra.Command{
		Use:     "forget KEY --why TEXT [--scope SCOPE]",
		Short:   "forget a fact; its history stays, with the reason",
		Example: "  cairn memory forget deploy.region --why 'we left that provider'",
		Args:    takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			o.key = args[0]
			return a.within(c.Context(), func(p place, h *House) error { return runMemoryForget(c.Context(), h.Memory, p.actor, o, a.out()) })
		},
	}
	o.addFlags(c)
	addWhy(c, &o.why)
	return c
}

func runMemoryForget(ctx context.Context, m *memory.Memory, actor string, o memoryForgetOptions, out Out) error {
	in, err := o.places(m)
	if err != nil {
		return err
	}
	f := memory.Fact{Key: o.key, Place: in[0], Why: o.why, Author: actor}
	if o.scope == "" { // where it is known
		known, err := m.Get(ctx, o.key, in)
		if err != nil {
			return err
		}
		f.Place = known.Place
	}
	if f, err = m.Forget(ctx, f); err != nil {
		return err
	}
	if out.JSON {
		return out.print(f)
	}
	_, err = fmt.Fprintf(out, "%s: forgotten (%s)\n", f.Key, f.Where())
	return err
}

// say is a value as people read it: text bare, anything else as JSON.
func say(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}
