package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/engine"
)

type artifactPutOptions struct {
	plan, task, name, file string
	typ                    string
}

func (a *app) artifactPut() *cobra.Command {
	var o artifactPutOptions
	c := &cobra.Command{
		Use:               "put PLAN TASK NAME FILE [--type TYPE]",
		Short:             "store a file as a partial artifact of a task",
		Example:           "  cairn artifact put first read notes notes.md --type markdown",
		Args:              takes(4, 4),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			o.plan, o.task, o.name, o.file = args[0], args[1], args[2], args[3]
			return a.changing(c.Context(), func(p place, h *House) error {
				return runArtifactPut(c.Context(), h, p.actor, o, a.out())
			})
		},
	}
	c.Flags().StringVar(&o.typ, "type", "", "what it is: text, json, markdown, ...")
	return c
}

func runArtifactPut(ctx context.Context, h *House, actor string, o artifactPutOptions, out Out) error {
	st, _, err := h.Engine.Load(ctx, o.plan)
	if err != nil {
		return err
	}
	if _, ok := st.Task(o.task); !ok {
		return noTask(st, o.task)
	}
	ref, err := putFile(ctx, h, o.name, o.typ, o.file)
	if err != nil {
		return err
	}
	c := engine.Command{Name: engine.PutArtifact, Task: o.task, Artifacts: []capability.Ref{ref}}
	if err := h.Engine.Do(ctx, o.plan, actor, c); err != nil {
		return err
	}
	return writeArtifacts([]stored{{Plan: o.plan, Task: o.task, Ref: ref, Partial: true, Time: h.Engine.Now().UTC()}}, out)
}
