package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/view"
)

func (a *app) artifactCommand() *cobra.Command {
	return group("artifact", "what tasks left behind",
		a.artifactList(), a.artifactGet(), a.artifactPut(), a.artifactExpire())
}

func (a *app) artifactList() *cobra.Command {
	return &cobra.Command{
		Use:               "list [PLAN]",
		Short:             "list artifacts with their provenance",
		Example:           "  cairn artifact list first",
		Args:              takes(0, 1),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			return a.reading(c.Context(), func(h *House) error { return runArtifactList(c.Context(), h.Engine, args, a.out()) },
				func() error { return writeArtifacts(nil, a.out()) })
		},
	}
}

// stored is an artifact with who made it: the record that names it.
type stored struct {
	Plan string `json:"plan"`
	Task string `json:"task,omitempty"`
	capability.Ref
	Attempt int       `json:"attempt,omitempty"`
	Record  uint64    `json:"record"`
	Time    time.Time `json:"time"`
	Partial bool      `json:"partial,omitempty"` // put while the task was under way
	Expired bool      `json:"expired,omitempty"`
}

// address is how people name an artifact.
func (s stored) address() string {
	if s.Task == "" {
		return s.Plan + "/" + s.Name
	}
	return s.Plan + "/" + s.Task + "/" + s.Name
}

func runArtifactList(ctx context.Context, e *engine.Engine, plans []string, out Out) error {
	if len(plans) == 0 {
		var err error
		if plans, err = e.Journal.Plans(ctx); err != nil {
			return err
		}
	}
	var all []stored
	for _, name := range plans {
		if _, _, err := e.Load(ctx, name); err != nil {
			return err
		}
		of, err := storedOf(ctx, e, name)
		if err != nil {
			return err
		}
		all = append(all, of...)
	}
	return writeArtifacts(all, out)
}

// storedOf reads a plan's artifacts out of its records. Of content that was put under way and handed in at
// the end, the end counts.
func storedOf(ctx context.Context, e *engine.Engine, name string) ([]stored, error) {
	var all []stored
	at := map[string]int{} // address and hash: place in all
	expired := map[digest.ID]bool{}
	for r, err := range e.Records(ctx, name, 0) {
		if err != nil {
			return nil, err
		}
		add := func(ref capability.Ref, partial bool) {
			s := stored{Plan: name, Task: r.Task, Ref: ref, Attempt: r.Attempt, Record: uint64(r.Seq), Time: r.Time, Partial: partial}
			key := s.address() + " " + ref.Hash.String()
			if i, seen := at[key]; seen {
				all[i] = s
				return
			}
			at[key] = len(all)
			all = append(all, s)
		}
		switch r.Kind {
		case lifecycle.TaskEnded, lifecycle.TaskCarried, lifecycle.PlanArchived, lifecycle.ArtifactPut, lifecycle.ArtifactExpired:
		default:
			continue
		}
		f, err := lifecycle.FactOf(r)
		if err != nil {
			return nil, err
		}
		switch b := f.Body.(type) {
		case *lifecycle.Ended:
			for _, ref := range b.Artifacts {
				add(ref, false)
			}
		case *lifecycle.Archived:
			for _, ref := range b.Artifacts {
				add(ref, false)
			}
		case *lifecycle.Carried:
			for _, ref := range b.Artifacts {
				add(ref, false)
			}
		case *lifecycle.Stored:
			add(b.Ref, true)
		case *lifecycle.Expired:
			expired[b.Hash] = true
		}
	}
	for i := range all {
		all[i].Expired = expired[all[i].Hash]
	}
	return all, nil
}

func writeArtifacts(all []stored, out Out) error {
	if out.JSON {
		return out.print(append([]stored{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintln(out, "there are no artifacts here yet")
	}
	width := 0
	for _, s := range all {
		width = max(width, len(s.address()))
	}
	for _, s := range all {
		var notes []string
		if s.Truncated > 0 {
			notes = append(notes, fmt.Sprintf("%s left out", view.Size(s.Truncated)))
		}
		if s.Partial {
			notes = append(notes, "partial")
		}
		if s.Expired {
			notes = append(notes, "expired")
		}
		line := fmt.Sprintf("%-*s  %s  %9s  %-8s  %s", width, s.address(), s.Hash.Short(), view.Size(s.Size), s.Type, strings.Join(notes, ", "))
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
	return nil
}
