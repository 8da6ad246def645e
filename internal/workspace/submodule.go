package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// modules lists the submodules of a tree that the user has at hand, with the commit each has to be at. A repository
// without .gitmodules is not asked.
func (b *Branch) modules(ctx context.Context, t *tree) ([]*module, error) {
	if !exists(filepath.Join(t.dir, ".gitmodules")) {
		return nil, nil
	}
	out, err := t.git.run(ctx, nil, "ls-files", "-s", "-z")
	if err != nil {
		return nil, err
	}
	var all []*module
	for _, entry := range list(out) {
		meta, name, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(meta)
		if len(fields) != 3 || fields[0] != "160000" {
			continue
		}
		users := git{program: b.user.program, env: outside(b.user.env), dir: filepath.Join(b.user.dir, filepath.FromSlash(name))}
		if _, err := os.Lstat(filepath.Join(users.dir, ".git")); err != nil {
			continue // not fetched: there is nothing to take it from
		}
		common, err := users.line(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
		if err != nil {
			continue
		}
		all = append(all, &module{path: name, commit: fields[1], common: common, dir: filepath.Join(t.dir, filepath.FromSlash(name)), git: users})
	}
	return all, nil
}

// module is a submodule in a tree of the pool: a work tree of the user's own copy, so a commit made in it is at hand for
// the user, and nothing is fetched.
type module struct {
	path, commit string
	common       string // the git dir of the user's copy
	dir          string
	git          git
}

func (m *module) on(gitDir string) git {
	return m.git.on(gitDir, m.dir, filepath.Join(gitDir, "index"))
}

// fillModules brings every submodule of a tree to its commit.
func (b *Branch) fillModules(ctx context.Context, t *tree) error {
	all, err := b.modules(ctx, t)
	if err != nil {
		return err
	}
	t.modules = all
	for _, m := range all {
		admin := adminOf(m.common, m.dir)
		if admin == "" || !isDir(m.dir) {
			if err := removeAll(m.dir); err != nil {
				return missing(m.dir, err)
			}
			main := m.git.with("GIT_DIR=" + m.common)
			main.dir = t.dir
			if _, err := main.run(ctx, nil, "worktree", "add", "-q", "-f", "-f", "--detach", m.dir, m.commit); err != nil {
				return err
			}
			continue
		}
		g := m.on(admin)
		_ = os.Remove(filepath.Join(admin, "index.lock"))
		for _, step := range [][]string{{"update-ref", "--no-deref", "HEAD", m.commit}, {"reset", "-q", "--hard", m.commit}, {"clean", "-q", "-ffd"}} {
			if _, err := g.run(ctx, nil, step...); err != nil {
				return err
			}
		}
	}
	return nil
}

// unkeptModules names the submodules with changes that are not committed inside them, which cannot be kept.
func (t *tree) unkeptModules(ctx context.Context) (left []string) {
	for _, m := range t.modules {
		admin := adminOf(m.common, m.dir)
		if admin == "" || !isDir(m.dir) {
			continue
		}
		if out, err := m.on(admin).run(ctx, nil, "status", "--porcelain", "-z"); err == nil && len(out) > 0 {
			left = append(left, m.path+": changed inside, and not committed there")
		}
	}
	return left
}

// removeModules takes the submodules of a tree out of the user's copies.
func (b *Branch) removeModules(ctx context.Context, t *tree) {
	all, err := b.modules(ctx, t)
	if err != nil {
		return
	}
	for _, m := range all {
		if admin := adminOf(m.common, m.dir); admin != "" {
			_ = os.RemoveAll(admin)
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
