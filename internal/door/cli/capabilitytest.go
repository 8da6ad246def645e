package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/redact"
)

type capabilityTestOptions struct {
	id      string
	with    string
	timeout time.Duration
	secrets engine.Secrets
}

func (a *app) capabilityTest() *cobra.Command {
	var o capabilityTestOptions
	c := &cobra.Command{
		Use:               "test ID [--with JSON] [--timeout 30s]",
		Short:             "try a capability in an empty folder: its examples, or the inputs you give",
		Example:           "  cairn capability test shell --with '{\"run\": \"echo hello\"}'",
		Args:              takes(1, 1),
		ValidArgsFunction: a.completeCapability,
		RunE: func(c *cobra.Command, args []string) error {
			o.id = args[0]
			p, err := a.at()
			if err != nil {
				return err
			}
			caps, err := a.parts.Catalogue(p.home)
			if err != nil {
				return err
			}
			if o.secrets, err = a.parts.Secrets(p.site()); err != nil {
				return err
			}
			return runCapabilityTest(c.Context(), caps, o, a.out())
		},
	}
	c.Flags().StringVar(&o.with, "with", "", "inputs, as a JSON object (default: the examples of its contract)")
	c.Flags().DurationVar(&o.timeout, "timeout", 30*time.Second, "how long one call may take")
	return c
}

// tried is one call under --json.
type tried struct {
	Says    string                     `json:"says,omitempty"`
	With    json.RawMessage            `json:"with"`
	OK      bool                       `json:"ok"`
	Error   string                     `json:"error,omitempty"`
	Remedy  string                     `json:"remedy,omitempty"`
	Exit    *int                       `json:"exit,omitempty"`
	Outputs map[string]json.RawMessage `json:"outputs,omitempty"`
	Stdout  string                     `json:"stdout,omitempty"`
	Stderr  string                     `json:"stderr,omitempty"`
	Took    time.Duration              `json:"took"`
}

func runCapabilityTest(ctx context.Context, caps Capabilities, o capabilityTestOptions, out Out) error {
	c, runner, err := installed(caps, o.id)
	if err != nil {
		return err
	}
	calls := c.Examples
	if o.with != "" {
		calls = []capability.Example{{With: json.RawMessage(o.with)}}
	}
	if len(calls) == 0 {
		return fault.New(fault.Invalid, "the contract of %s has no examples", o.id).Remedy("give inputs: --with '{...}'")
	}
	dir, err := os.MkdirTemp("", "cairn-test-")
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "make a folder to try it in").Remedy("make room in the folder for temporary files")
	}
	defer os.RemoveAll(dir)
	var all []tried
	failed := 0
	for _, ex := range calls {
		if err := caps.Check(o.id, ex.With); err != nil {
			return err
		}
		t := try(ctx, runner, o, ex, dir)
		if all = append(all, t); !t.OK {
			failed++
		}
		if !out.JSON {
			t.tell(out)
		}
	}
	if out.JSON {
		err = out.print(all)
	}
	if err == nil && failed > 0 {
		err = outcome{fault.Failed}
	}
	return err
}

func try(ctx context.Context, runner capability.Runner, o capabilityTestOptions, ex capability.Example, dir string) tried {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	t := tried{Says: ex.Says, With: ex.With}
	given := map[string]string{}
	secret := func(ctx context.Context, name string) (string, error) {
		value, err := o.secrets.Value(ctx, name)
		if err == nil {
			given[name] = value
		}
		return value, err
	}
	began := time.Now()
	res, err := runner.Run(ctx, capability.Call{Plan: "test", Task: "test", Execution: 1, Attempt: 1,
		Key: digest.Parts("cairn test", o.id), With: ex.With, Dir: dir, Host: bench{}, Secret: secret})
	t.Took = time.Since(began)
	red := redact.New(given)
	t.OK, t.Exit, t.Outputs, t.Stdout, t.Stderr = err == nil, res.Exit, res.Outputs, red.String(res.Stdout), red.String(res.Stderr)
	for name, v := range res.Outputs {
		t.Outputs[name] = red.JSON(v)
	}
	if err != nil {
		t.Error, t.Remedy = red.String(err.Error()), red.String(fault.HintOf(err))
	}
	return t
}

func (t tried) tell(out Out) {
	mark := "ok"
	if !t.OK {
		mark = "failed: " + t.Error
	}
	fmt.Fprintf(out, "%s: %s (%s)\n", cmp.Or(t.Says, string(t.With)), mark, t.Took.Round(time.Millisecond))
	if t.Remedy != "" {
		fmt.Fprintf(out, "  %s\n", t.Remedy)
	}
	for name, v := range t.Outputs {
		fmt.Fprintf(out, "  %s = %s\n", name, v)
	}
	if t.Stdout != "" {
		fmt.Fprintf(out, "  stdout: %s\n", t.Stdout)
	}
	if t.Stderr != "" {
		fmt.Fprintf(out, "  stderr: %s\n", t.Stderr)
	}
}

// bench is the host of a call that belongs to no plan: content is named and dropped.
type bench struct{}

var _ capability.Host = bench{}

func (bench) Spawned(capability.Process) error { return nil }
func (bench) Beat()                            {}

func (bench) Put(_ context.Context, name, typ string, r io.Reader) (capability.Ref, error) {
	h := digest.New()
	n, err := io.Copy(h, r)
	return capability.Ref{Name: name, Hash: digest.From(h), Size: n, Type: typ}, err
}
