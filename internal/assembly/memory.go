package assembly

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/memory"
	"github.com/cairn-plan/cairn/internal/redact"
)

// remember makes the memory of the home. Its project is named by the way from the home, so that facts move along when both do.
func (h *House) remember(o Options) *memory.Memory {
	project, err := filepath.Rel(h.Home, h.Root)
	if err != nil {
		project = h.Root
	}
	return &memory.Memory{Store: h.Store, Now: o.Now, Project: filepath.ToSlash(project), Sources: sources{h.Engine},
		Redact: func(ctx context.Context) *redact.Redactor { return h.secrets.all(ctx, o) }}
}

// all is a redactor of every secret that can be read in silence, beside those that were given out: a command may ask
// somebody for a password, and is not run for this.
func (s *secrets) all(ctx context.Context, o Options) *redact.Redactor {
	for _, name := range s.store.Names() {
		if o.Secrets[name].Command == nil {
			_, _ = s.Value(ctx, name) // what cannot be read cannot have been given to a plan either
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.red == nil {
		s.red = redact.New(s.given)
	}
	return s.red
}

// sources finds what facts come from in the journals of the home.
type sources struct{ engine *engine.Engine }

var _ memory.Sources = sources{}

// Locate implements memory.Sources.
func (s sources) Locate(ctx context.Context, text string) (memory.Source, error) {
	if name, number, ok := strings.Cut(text, "#"); ok {
		return s.record(ctx, name, number)
	}
	parts := strings.SplitN(text, "/", 3)
	st, _, err := s.engine.Load(ctx, parts[0])
	if err != nil {
		return memory.Source{}, err
	}
	task, ok := st.Task(parts[1])
	if !ok {
		return memory.Source{}, fault.New(fault.NotFound, "plan %s has no task %s", parts[0], parts[1]).Remedy("see its tasks with: cairn show %s", parts[0])
	}
	src := memory.Source{Plan: parts[0], Task: task.ID, Execution: task.Execution}
	if len(parts) < 3 {
		return src, nil
	}
	src.Artifact = parts[2]
	hash, ok := artifactOf(task, src.Artifact)
	if !ok {
		return memory.Source{}, fault.New(fault.NotFound, "task %s/%s has no artifact %s", parts[0], parts[1], parts[2]).
			Remedy("see what there is with: cairn artifact list %s", parts[0])
	}
	src.Hash = hash
	return src, nil
}

func (s sources) record(ctx context.Context, name, number string) (memory.Source, error) {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return memory.Source{}, fault.New(fault.Invalid, "%q is no record", number).Remedy("write PLAN#NUMBER, as cairn log shows them")
	}
	head, err := s.engine.Journal.Head(ctx, name)
	if err != nil {
		return memory.Source{}, err
	}
	if n < 1 || n > int64(head.Seq) {
		return memory.Source{}, fault.New(fault.NotFound, "plan %s has no record %d, its last is %d", name, n, head.Seq).Remedy("see them with: cairn log %s", name)
	}
	return memory.Source{Plan: name, Record: n}, nil
}

// Outdated implements memory.Sources. What a record says stands for ever; what a task found stands until it is run again,
// undone or taken out of the plan, or its artifact is dropped.
func (s sources) Outdated(ctx context.Context, src memory.Source) (string, error) {
	if src.Task == "" {
		return "", nil
	}
	st, _, err := s.engine.Load(ctx, src.Plan)
	if fault.Is(err, fault.NotFound) {
		return "plan " + src.Plan + " is not in this home", nil
	}
	if err != nil {
		return "", err
	}
	task, ok := st.Task(src.Task)
	switch {
	case !ok:
		return "task " + src.Task + " is no longer part of plan " + src.Plan, nil
	case task.Execution > src.Execution:
		return "task " + src.Plan + "/" + src.Task + " was run again", nil
	case task.Status == lifecycle.RolledBack:
		return "task " + src.Plan + "/" + src.Task + " was undone", nil
	case !src.Hash.IsZero() && st.Expired(src.Hash):
		return "artifact " + src.String() + " was dropped", nil
	}
	return "", nil
}

func artifactOf(t lifecycle.Task, name string) (id digest.ID, ok bool) {
	if t.Result == nil {
		return id, false
	}
	for _, a := range t.Result.Artifacts {
		if a.Name == name {
			return a.Hash, true
		}
	}
	if v, ok := t.Result.Outputs[name]; ok {
		return digest.Sum(v), true
	}
	return id, false
}
