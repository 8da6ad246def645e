package workspace

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
)

// reverting finds the tree that is left when what a task did is taken out of a later state. The files are not touched:
// both workspaces ask for the tree first, and put it in its place each in its own way.
type reverting struct {
	git    git // with an index of its own
	record *recorder
	back   engine.Back
}

// entry is what a state has under a path; its mode is zeros when it has nothing.
type entry struct{ mode, hash string }

// turn is what a task did to one path.
type turn struct {
	was entry // what is put back
	did entry // what the task left
}

// newReverting gives it an index at a path where nobody else has one.
func newReverting(g git, index string, rec *recorder, back engine.Back) reverting {
	_ = os.Remove(index)
	_ = os.Remove(index + ".lock")
	return reverting{git: g.with("GIT_INDEX_FILE=" + index), record: rec, back: back}
}

// from gives the tree that is left of head, and how it came about. Where nothing is to be done it is empty.
func (r reverting) from(ctx context.Context, head string) (tree string, out engine.Reverted, err error) {
	turns, err := r.turns(ctx)
	if err != nil {
		return "", out, err
	}
	if out.Spared, err = r.spare(ctx, turns); err != nil {
		return "", out, err
	}
	tree, err = r.take(ctx, head, turns, &out)
	return tree, out, err
}

// take takes turns back.
func (r reverting) take(ctx context.Context, head string, turns map[string]turn, out *engine.Reverted) (tree string, err error) {
	if len(turns) == 0 {
		return "", nil
	}
	back, err := r.build(ctx, head, turns, func(t turn) entry { return t.was })
	if err != nil {
		return "", err
	}
	now, err := r.git.turns(ctx, head, back)
	if err != nil || len(now) == 0 {
		return "", err
	}
	var since, blocking []string // changed since, and in the way without being the task's
	for name, n := range now {
		if t, ok := turns[name]; !ok {
			blocking = append(blocking, name)
		} else if n.was != t.did {
			since = append(since, name)
		}
	}
	slices.Sort(since)
	slices.Sort(blocking)
	if dropped, err := r.settled(ctx, head, since, turns); err != nil {
		return "", err
	} else if dropped {
		return r.take(ctx, head, turns, out)
	}
	switch {
	case len(blocking) > 0:
		tree, out.Overwritten = back, sortedUnion(since, blocking)
	case len(since) > 0:
		tree, out.Overwritten, err = r.join(ctx, head, back, turns)
		out.Joined = slices.DeleteFunc(since, func(f string) bool { return slices.Contains(out.Overwritten, f) })
	default:
		tree = back
	}
	if err != nil {
		return "", err
	}
	if len(out.Overwritten) > 0 && !r.back.Force {
		return "", collided(out.Overwritten)
	}
	out.Files, err = r.git.differing(ctx, head, tree)
	return tree, err
}

// settled drops the turns of files that nothing but going back has changed since: another way of going back has put them
// back already. It reports whether there are any.
func (r reverting) settled(ctx context.Context, head string, since []string, turns map[string]turn) (dropped bool, err error) {
	last := r.back.Spans[len(r.back.Spans)-1].After
	for _, name := range since {
		out, err := r.git.run(ctx, nil, "log", "--format=%s", "--full-history", head, "^"+last, "--", name)
		if err != nil {
			return false, err
		}
		subjects := strings.Split(strings.TrimSpace(string(out)), "\n")
		if !slices.ContainsFunc(subjects, func(s string) bool { return !strings.HasPrefix(s, engine.GoingBack) }) {
			delete(turns, name)
			dropped = true
		}
	}
	return dropped, nil
}

func collided(files []string) error {
	return fault.New(fault.Conflict, "changed since in the same places, so nothing of this task was put back: %s", named(files)).
		Remedy("undo what was changed in them since, or let the rollback overwrite it with --force; what is overwritten stays in git")
}

// turns adds up what the task did in its attempts. What happened between two of them, to a file that both changed, is
// taken for its own.
func (r reverting) turns(ctx context.Context) (map[string]turn, error) {
	all := map[string]turn{}
	for _, s := range r.back.Spans {
		for _, state := range []string{s.Before, s.After} {
			if err := r.git.exists(ctx, state); err != nil {
				return nil, err
			}
		}
		found, err := r.git.turns(ctx, s.Before, s.After)
		if err != nil {
			return nil, err
		}
		for name, t := range found {
			if earlier, ok := all[name]; ok {
				t.was = earlier.was
			}
			all[name] = t
		}
	}
	maps.DeleteFunc(all, func(_ string, t turn) bool { return t.was == t.did })
	return all, nil
}

// spare leaves to the tasks that stay what they may have done themselves: they were at work at the same time in the same
// folder, and nobody can tell whose a file is that changed meanwhile.
func (r reverting) spare(ctx context.Context, turns map[string]turn) (spared []string, err error) {
	if len(r.back.Spared) == 0 || len(turns) == 0 {
		return nil, nil
	}
	first, last := r.back.Spans[0].Before, r.back.Spans[len(r.back.Spans)-1].After
	out, err := r.git.run(ctx, nil, "rev-list", last, "^"+first)
	if err != nil {
		return nil, err
	}
	during := strings.Fields(string(out))
	for _, s := range r.back.Spared {
		if !slices.Contains(during, s.After) {
			continue
		}
		theirs, err := r.git.turns(ctx, s.Before, s.After)
		if err != nil {
			return nil, err
		}
		for name, t := range theirs {
			if mine, ok := turns[name]; ok {
				turns[name] = turn{was: t.did, did: mine.did}
			}
		}
	}
	for name, t := range turns {
		if t.was == t.did {
			spared = append(spared, name)
			delete(turns, name)
		}
	}
	slices.Sort(spared)
	return spared, nil
}

// join merges what is put back with what was changed since, line by line. Files in which they meet are put back, and
// named.
func (r reverting) join(ctx context.Context, head, back string, turns map[string]turn) (tree string, met []string, err error) {
	did, err := r.build(ctx, head, turns, func(t turn) entry { return t.did })
	if err != nil {
		return "", nil, err
	}
	now, err := r.git.treeOf(ctx, head)
	if err != nil {
		return "", nil, err
	}
	var commits []string
	for i, tree := range []string{did, now, back} { // the first is what the other two have in common
		c, err := r.record.commit(ctx, tree, "chore(plan): a step of going back", commits[:min(i, 1)]...)
		if err != nil {
			return "", nil, err
		}
		commits = append(commits, c)
	}
	// A path is what a task changed; where a file was renamed since, the two meet.
	tree, met, err = mergeTree(ctx, r.git, commits[1], commits[2], "-c", "merge.renames=false")
	if err != nil || len(met) == 0 {
		return tree, nil, err
	}
	forced := map[string]turn{}
	for _, name := range met {
		forced[name] = turn{was: entry{mode: "000000"}}
		if t, ok := turns[name]; ok {
			forced[name] = t
		}
	}
	tree, err = r.build(ctx, tree, forced, func(t turn) entry { return t.was })
	return tree, met, err
}

// build is the tree of a state with other entries for some paths.
func (r reverting) build(ctx context.Context, state string, turns map[string]turn, pick func(turn) entry) (string, error) {
	if _, err := r.git.run(ctx, nil, "read-tree", state); err != nil {
		return "", err
	}
	var info bytes.Buffer
	for _, gone := range []bool{true, false} { // what goes may be in the way of what comes
		for _, name := range slices.Sorted(maps.Keys(turns)) {
			e := pick(turns[name])
			switch absent := e.mode == "000000"; {
			case absent && gone:
				fmt.Fprintf(&info, "0 %s\t%s\x00", strings.Repeat("0", 40), name)
			case !absent && !gone:
				fmt.Fprintf(&info, "%s %s\t%s\x00", e.mode, e.hash, name)
			}
		}
	}
	if _, err := r.git.run(ctx, info.Bytes(), "update-index", "-z", "--add", "--replace", "--index-info"); err != nil {
		return "", err
	}
	return r.git.line(ctx, "write-tree")
}

// turns gives the paths that differ between two states, with what each has there.
func (g git) turns(ctx context.Context, from, to string) (map[string]turn, error) {
	out, err := g.run(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", from, to)
	if err != nil {
		return nil, err
	}
	all := map[string]turn{}
	for parts := list(out); len(parts) > 1; parts = parts[2:] {
		f := strings.Fields(strings.TrimPrefix(parts[0], ":")) // mode mode hash hash letter
		if len(f) != 5 {
			return nil, fault.New(fault.Internal, "git diff-tree printed %q, which is not understood", parts[0])
		}
		all[parts[1]] = turn{was: entry{f[0], f[2]}, did: entry{f[1], f[3]}}
	}
	return all, nil
}
