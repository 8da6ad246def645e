package workspace

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// identity is who a commit is by.
type identity struct{ name, mail string }

var ourselves = identity{"cairn", "cairn@localhost"}

// as makes who the author and the committer.
func (g git) as(who identity) git {
	return g.with("GIT_AUTHOR_NAME="+who.name, "GIT_AUTHOR_EMAIL="+who.mail,
		"GIT_COMMITTER_NAME="+who.name, "GIT_COMMITTER_EMAIL="+who.mail)
}

// author is who the user says they are in git's settings, if they say both.
func (g git) author(ctx context.Context) identity {
	name, err1 := g.line(ctx, "config", "user.name")
	mail, err2 := g.line(ctx, "config", "user.email")
	if err1 != nil || err2 != nil || name == "" || mail == "" {
		return ourselves
	}
	return identity{name, mail}
}

// treeOf is the tree of a commit.
func (g git) treeOf(ctx context.Context, commit string) (string, error) {
	return g.line(ctx, "rev-parse", "--verify", commit+"^{tree}")
}

// differing names the paths that differ between two states.
func (g git) differing(ctx context.Context, from, to string) ([]string, error) {
	out, err := g.run(ctx, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to)
	return list(out), err
}

// added names the paths that the second state has and the first has not.
func (g git) added(ctx context.Context, from, to string) ([]string, error) {
	out, err := g.run(ctx, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", from, to)
	return list(out), err
}

// diff shows what changed as a unified diff: renames are found, and of binary files only the name is shown. Plumbing
// is not led by the user's settings, so the text is the same for everyone.
func (g git) diff(ctx context.Context, from, to string) ([]byte, error) {
	for _, state := range []string{from, to} {
		if err := g.exists(ctx, state); err != nil {
			return nil, err
		}
	}
	return g.patch(ctx, from, to)
}

func (g git) patch(ctx context.Context, from, to string) ([]byte, error) {
	return g.run(ctx, nil, "diff-tree", "-p", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color", from, to)
}

// show gives the content that a file had in a state.
func (g git) show(ctx context.Context, state, name string) ([]byte, error) {
	if err := inRoot(name); err != nil {
		return nil, err
	}
	if err := g.exists(ctx, state); err != nil {
		return nil, err
	}
	return g.run(ctx, nil, "cat-file", "blob", state+":"+name)
}

func short(state string) string { return state[:min(12, len(state))] }

// joined is the message of a commit that several tasks share.
func joined(messages []string) string {
	if len(messages) == 1 {
		return messages[0]
	}
	first, _, _ := strings.Cut(messages[0], "\n")
	var text strings.Builder
	fmt.Fprintf(&text, "%s (and %d more)\n", first, len(messages)-1)
	for _, m := range messages {
		subject, _, _ := strings.Cut(m, "\n")
		text.WriteString("\n- " + subject)
	}
	return text.String()
}

// finishing is a context for work that others wait for as well: the caller who leaves does not stop it. It still ends.
func finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 10*time.Minute)
}
