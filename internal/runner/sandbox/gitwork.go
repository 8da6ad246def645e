package sandbox

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
)

// worktree lets git work in a linked work tree, whose repository is elsewhere: objects and refs can be written, hooks and
// config not. A .git file counts only if the repository points back to it: a task that puts another in its place
// gains nothing.
func (p *Policy) worktree(l capability.Limits) {
	link := filepath.Join(l.Root, ".git")
	own := pointer(link, "gitdir: ")
	common := pointer(filepath.Join(own, "commondir"), "")
	if own == "" || common == "" {
		return
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(own, common)
	}
	if resolved(pointer(filepath.Join(own, "gitdir"), "")) != resolved(link) || filepath.Dir(filepath.Dir(own)) != common {
		return
	}
	p.Read = append(p.Read, common)
	if l.Write != nil && !(len(p.Write) > 0 && p.writes(l.Root)) {
		return
	}
	for _, dir := range []string{"objects", "refs", "logs"} {
		p.Write = append(p.Write, filepath.Join(common, dir)+"/")
	}
	p.Write = append(p.Write, own)
	p.ReadOnly = append(p.ReadOnly, link)
	for _, file := range []string{"gitdir", "commondir", "config.worktree"} {
		p.ReadOnly = append(p.ReadOnly, filepath.Join(own, file))
	}
}

// writes reports whether a path is among those that the policy lets be written.
func (p *Policy) writes(path string) bool {
	for _, w := range p.Write {
		if under(path, filepath.Clean(w)) {
			return true
		}
	}
	return false
}

// pointer is the path that a small file of git holds; empty when it is no such file.
func pointer(file, prefix string) string {
	st, err := os.Lstat(file)
	if err != nil || !st.Mode().IsRegular() || st.Size() > 8<<10 {
		return ""
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	path, ok := strings.CutPrefix(strings.TrimSpace(string(b)), prefix)
	if !ok {
		return ""
	}
	return filepath.Clean(path)
}

// identity is what a task's git is told of the person: name and address for commits, and nothing else of the
// person's settings, which may hold keys and commands.
var identity = sync.OnceValue(func() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "config", "--global", "--get-regexp", `^user\.(name|email)$`).Output()
	if err != nil {
		return "" // no git, or nobody said who they are
	}
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		b.WriteString("\t" + strings.TrimPrefix(key, "user.") + " = \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + "\"\n")
	}
	return "[user]\n" + b.String()
})
