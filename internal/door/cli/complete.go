package cli

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

type completeOptions struct {
	plan    string
	task    string
	outputs []string // k=v or k=@file
	why     string
}

func (a *app) completeCommand() *cobra.Command {
	var o completeOptions
	c := &cobra.Command{
		Use:   "complete PLAN TASK [--output NAME=VALUE | NAME=@FILE]...",
		Short: "say that a task which waits for a person is done, and hand in what it asks for",
		Example: "  cairn complete first read\n" +
			"  cairn complete first read --output verdict=good --output notes=@notes.md",
		Args:              takes(2, 2),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			o.plan, o.task = args[0], args[1]
			return a.changing(c.Context(), func(p place, h *House) error {
				return runComplete(c.Context(), h, p.actor, o, a.out())
			})
		},
	}
	c.Flags().StringArrayVarP(&o.outputs, "output", "o", nil, "an output of the task: NAME=VALUE, or NAME=@FILE for the content of a file")
	addWhy(c, &o.why)
	return c
}

func runComplete(ctx context.Context, h *House, actor string, o completeOptions, out Out) error {
	st, _, err := h.Engine.Load(ctx, o.plan)
	if err != nil {
		return err
	}
	t, ok := st.Task(o.task)
	if !ok && aboutGoal(st, o.task) {
		return runSteer(ctx, h, order{o.plan, actor, "completed", engine.Command{Name: engine.Complete, Task: o.task, Why: o.why}}, out)
	}
	if !ok {
		return noTask(st, o.task)
	}
	c := engine.Command{Name: engine.Complete, Task: o.task, Why: o.why}
	for _, text := range o.outputs {
		if err := addOutput(ctx, h, &c, t.Spec, text); err != nil {
			return err
		}
	}
	return runSteer(ctx, h, order{o.plan, actor, "completed", c}, out)
}

// addOutput reads NAME=VALUE or NAME=@FILE. A file becomes an artifact.
func addOutput(ctx context.Context, h *House, c *engine.Command, t *plan.Task, text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return fault.New(fault.Invalid, "--output %s has no value", text).Remedy("write --output NAME=VALUE, or --output NAME=@FILE")
	}
	typ := ""
	if i := slices.IndexFunc(t.Outputs, func(o plan.Output) bool { return o.Name == name }); i >= 0 {
		typ = t.Outputs[i].Type
	} else if len(t.Outputs) > 0 {
		return fault.New(fault.Invalid, "task %s has no output %s", t.ID, name).Remedy("its outputs are: %s", outputNames(t))
	}
	if file, isFile := strings.CutPrefix(value, "@"); isFile {
		ref, err := putFile(ctx, h, name, typ, file)
		c.Artifacts = append(c.Artifacts, ref)
		return err
	}
	raw, err := valueOf(name, typ, value)
	if c.Outputs == nil {
		c.Outputs = map[string]json.RawMessage{}
	}
	c.Outputs[name] = raw
	return err
}

func outputNames(t *plan.Task) string {
	names := make([]string, len(t.Outputs))
	for i, o := range t.Outputs {
		names[i] = o.Name
	}
	return strings.Join(names, ", ")
}

// putFile stores a file's content, streaming.
func putFile(ctx context.Context, h *House, name, typ, file string) (capability.Ref, error) {
	f, err := os.Open(file)
	if err != nil {
		return capability.Ref{}, fault.Wrap(fault.NotFound, err, "read what %s is to be", name).Remedy("name a file that you can read")
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return capability.Ref{}, fault.New(fault.Invalid, "%s is no file", file).Remedy("name a file that you can read")
	}
	blob, err := h.artifacts().Put(ctx, f)
	return capability.Ref{Name: name, Hash: blob.ID, Size: blob.Size, Type: typ}, err
}

// valueOf reads a value as the type that the output is declared with.
func valueOf(name, typ, value string) (json.RawMessage, error) {
	raw := json.RawMessage(value)
	var fits bool
	switch typ {
	case "number":
		var n json.Number
		fits = json.Unmarshal(raw, &n) == nil && !strings.HasPrefix(value, `"`) && n != ""
	case "bool":
		fits = value == "true" || value == "false"
	case "list":
		var list []json.RawMessage
		if fits = json.Unmarshal(raw, &list) == nil && list != nil; !fits {
			return json.Marshal(strings.Split(value, ","))
		}
	case "json":
		fits = json.Valid(raw)
	default:
		return json.Marshal(value)
	}
	if !fits {
		return nil, fault.New(fault.Invalid, "output %s is declared as %s, and %q is none", name, typ, value).
			Remedy("write it as JSON has it, such as %s", map[string]string{"number": "42", "bool": "true", "json": `{"a":1}`}[typ])
	}
	return raw, nil
}
