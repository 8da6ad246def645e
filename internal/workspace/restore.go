package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
)

// Revert puts the files that a task changed back as they were before it, and leaves all others alone. What is there now
// is kept first, with ignored files that are in the way, so nothing is lost by it: a file that cannot be kept is not
// overwritten. An interrupted Revert is finished by the next.
func (h *Here) Revert(ctx context.Context, back engine.Back) (engine.Reverted, error) {
	release, err := h.take(ctx)
	if err != nil {
		return engine.Reverted{}, err
	}
	defer release()
	head, _, err := h.keepNow(ctx, "chore(plan): the files before something is taken back")
	if err != nil {
		return engine.Reverted{}, err
	}
	own := h.git.configured(wholeIndex(hereSettings)...)
	tree, out, err := newReverting(own, filepath.Join(h.dir, "revert.index"), h.record, back).from(ctx, head)
	if err != nil || len(out.Files) == 0 {
		return out, err
	}
	if err := h.unkept(ctx, out.Files); err != nil {
		return engine.Reverted{}, err
	}
	if head, err = h.backUp(ctx, head, tree); err != nil {
		return engine.Reverted{}, err
	}
	if len(out.Overwritten) > 0 {
		out.Recall = "git --git-dir " + h.dir + " show " + head + ":FILE"
	}
	// Stopping git in the middle is harmless, but it is not the caller's wish that half of the files are old.
	ctx, cancel := finishing(ctx)
	defer cancel()
	if _, err := h.git.run(ctx, nil, "read-tree", "-m", "-u", head, tree); err != nil {
		return engine.Reverted{}, err
	}
	if _, err := h.advance(ctx, head, tree, back.Message, out.Files); err != nil {
		return engine.Reverted{}, err
	}
	return out, h.nestedBack(ctx)
}

// unkept refuses to overwrite a file whose present content was left out of the last state: it would be lost.
func (h *Here) unkept(ctx context.Context, files []string) error {
	_, all, err := look(ctx, h.git)
	if err != nil {
		return err
	}
	var left []string
	for _, f := range all {
		if !f.nested && slices.Contains(files, f.path) && !h.sieve.hides(f.path) {
			left = append(left, f.path+why(h.sieve.left[f.path].why))
		}
	}
	return lossOf(left)
}

func why(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// lossOf says which files going back would lose, if there are any.
func lossOf(files []string) error {
	if len(files) == 0 {
		return nil
	}
	return fault.New(fault.Conflict, "going back would overwrite what was not kept: %s", named(files)).
		Remedy("move it elsewhere, then try again")
}

// backUp keeps the ignored files that are in the way of a tree.
func (h *Here) backUp(ctx context.Context, head, tree string) (string, error) {
	added, err := h.git.added(ctx, head, tree)
	if err != nil {
		return "", err
	}
	var blocking []found
	for _, name := range added {
		files, err := inTheWay(h.root, name)
		if err != nil {
			return "", err
		}
		for _, f := range files {
			blocking = append(blocking, found{path: f, mode: "000000"})
		}
	}
	if len(blocking) == 0 {
		return head, nil
	}
	sift, err := newSieve(h.sieve.opts, false).sift(ctx, h.git, h.root, blocking)
	if err != nil {
		return "", err
	}
	if err := lossOf(sift.left); err != nil {
		return "", err
	}
	if err := writeIndex(ctx, h.git, sift); err != nil {
		return "", err
	}
	kept, err := h.git.line(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	return h.advance(ctx, head, kept, "chore(plan): files in the way of going back", sift.keep)
}

// inTheWay names the files that are where name has to be: itself, a parent that is no folder, or all in a folder of that
// name.
func inTheWay(root, name string) (files []string, err error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(dir)))
		if err == nil && !info.IsDir() {
			return []string{dir}, nil
		}
	}
	full := filepath.Join(root, filepath.FromSlash(name))
	err = filepath.WalkDir(full, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := within(root, at)
		files = append(files, rel)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return files, err
}

// nestedBack says which repositories inside the root are not where the state has them: their own git has to move them.
func (h *Here) nestedBack(ctx context.Context) error {
	_, all, err := look(ctx, h.git)
	if err != nil {
		return err
	}
	for _, f := range all {
		if f.nested && f.hash != "" {
			return fault.New(fault.Conflict, "the files are back, but the repository in %s is not at the commit it was at", f.path).
				Remedy("run `git -C %s checkout %s`, then try again", f.path, f.hash)
		}
	}
	return nil
}

func sortedUnion(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
