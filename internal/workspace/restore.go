package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Restore puts the files back as they were in state. What is there now is kept first, with ignored files that are in the
// way, so it can be restored in its turn; only a file that holds a secret is not. Files that are the same are not
// touched, and neither are ignored files that are not in the way. An interrupted Restore is finished by the next.
func (h *Here) Restore(ctx context.Context, state string) ([]string, error) {
	if err := h.git.exists(ctx, state); err != nil {
		return nil, err
	}
	release, err := h.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	head, _, err := h.keepNow(ctx, "chore(plan): the files before going back to "+short(state))
	if err != nil {
		return nil, err
	}
	changed, err := h.git.differing(ctx, head, state)
	if err != nil {
		return nil, err
	}
	unkept, err := h.unkept(ctx)
	if err != nil {
		return nil, err
	}
	changed = sortedUnion(changed, unkept)
	if len(changed) == 0 {
		return nil, nil
	}
	if head, err = h.backUp(ctx, head, state); err != nil {
		return nil, err
	}
	// Stopping git in the middle is harmless, but it is not the caller's wish that half of the files are old.
	ctx, cancel := finishing(ctx)
	defer cancel()
	if _, err := h.git.run(ctx, nil, "read-tree", "--reset", "-u", state); err != nil {
		return nil, err
	}
	tree, err := h.git.treeOf(ctx, state)
	if err != nil {
		return nil, err
	}
	if _, err := h.advance(ctx, head, tree, "revert(plan): go back to "+short(state), changed); err != nil {
		return nil, err
	}
	return changed, h.nestedBack(ctx)
}

// unkept names the files of the last state whose present content was left out. They are overwritten, because they hold
// a secret or cannot be read; a file that is only too large would be lost.
func (h *Here) unkept(ctx context.Context) (names []string, err error) {
	_, all, err := look(ctx, h.git)
	if err != nil {
		return nil, err
	}
	var large []string
	for _, f := range all {
		if f.mode == "000000" || h.sieve.hides(f.path) || f.nested {
			continue
		}
		names = append(names, f.path)
		if strings.Contains(h.sieve.left[f.path].why, "above the limit") {
			large = append(large, f.path)
		}
	}
	if len(large) > 0 {
		return nil, tooLarge(large)
	}
	return names, nil
}

func tooLarge(files []string) error {
	return fault.New(fault.Conflict, "going back would overwrite %s, too large to be kept", named(files)).
		Remedy("move it elsewhere, then try again")
}

// backUp keeps the ignored files that are in the way of state.
func (h *Here) backUp(ctx context.Context, head, state string) (string, error) {
	added, err := h.git.added(ctx, head, state)
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
	var large []string
	for _, text := range sift.left {
		if name, why, _ := strings.Cut(text, ": "); strings.Contains(why, "above the limit") {
			large = append(large, name)
		}
	}
	if len(large) > 0 {
		return "", tooLarge(large)
	}
	if err := writeIndex(ctx, h.git, sift); err != nil {
		return "", err
	}
	tree, err := h.git.line(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	return h.advance(ctx, head, tree, "chore(plan): files in the way of going back to "+short(state), sift.keep)
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
