package workspace

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

// claimPatience is how long a git of a process that died is waited for.
var claimPatience = 5 * time.Second

// begin makes the commit that the plan starts from. What it starts from is recorded before the branch is made, so a
// crash in between is finished by the next open.
func (b *Branch) begin(ctx context.Context) error {
	if found, err := b.git.line(ctx, "rev-parse", "-q", "--verify", b.ref+"^{commit}"); err == nil {
		return fault.New(fault.Conflict, "there is a branch plan/%s already, at %s, which this home did not make", b.plan, short(found)).
			Remedy("rename it (`git branch -m plan/%s old-%s`), or name the plan otherwise", b.plan, b.plan)
	}
	now, err := b.present(ctx, "start.index")
	if err != nil {
		return err
	}
	b.start = start{Plan: b.plan, Head: now.head, Base: now.head, Left: now.left}
	if now.tree != "" {
		var parents []string
		if now.head != "" {
			parents = []string{now.head}
		}
		if b.start.Base, err = b.record.commit(ctx, now.tree, "chore(plan): the files that were not committed yet", parents...); err != nil {
			return err
		}
	}
	text, err := json.Marshal(b.start)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "record the start of plan %s", b.plan)
	}
	return writeFile(filepath.Join(b.folder, "start.json"), string(text)+"\n")
}

// present is the user's work tree as it is now, ignored files left out, seen through an index of our own. Its tree is
// empty when it is just what HEAD has.
func (b *Branch) present(ctx context.Context, index string) (staged, error) {
	g, err := b.ownIndex(index)
	if err != nil {
		return staged{}, err
	}
	st, err := stage(ctx, g, g.dir, b.sieve)
	if err != nil {
		return staged{}, err
	}
	if st.head == "" && st.tree == "" {
		// Nothing is committed and there is no file: begin from nothing, but from a commit.
		out, err := g.run(ctx, nil, "mktree")
		if err != nil {
			return staged{}, err
		}
		st.tree = strings.TrimSpace(string(out))
	}
	if st.head == "" || st.tree == "" {
		return st, nil
	}
	if last, err := g.treeOf(ctx, st.head); err != nil || last == st.tree {
		st.tree = ""
		return st, err
	}
	return st, nil
}

// ownIndex copies the user's index, so that git need not read every file again, and leaves theirs alone.
func (b *Branch) ownIndex(name string) (git, error) {
	index := filepath.Join(b.folder, name)
	for _, v := range b.user.env {
		file, ok := strings.CutPrefix(v, "GIT_INDEX_FILE=")
		if !ok {
			continue
		}
		_ = os.Remove(index)
		_ = os.Remove(index + ".lock")
		if err := copyIndex(file, index); err != nil && !os.IsNotExist(err) {
			return git{}, fault.Wrap(fault.Invalid, err, "read the index of the repository").Remedy("make %s readable for you", file)
		}
	}
	return b.user.with("GIT_INDEX_FILE=" + index), nil
}

// copyIndex copies an index with its time. Git looks again at files that changed in the same moment as the index was
// written; a copy that claims to be younger would have it trust them.
func copyIndex(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := writeFile(to, string(text)); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
