package workspace

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// recorder writes commits and moves references, through two sessions.
type recorder struct {
	who     identity
	objects session
	refs    session

	mu   sync.Mutex
	file string // holds the text of the commit that is being written
}

func newRecorder(g git, who identity, file string) *recorder {
	return &recorder{who: who, file: file,
		objects: session{git: g, args: []string{"hash-object", "-t", "commit", "-w", "--no-filters", "--stdin-paths"}},
		refs:    session{git: g, args: []string{"update-ref", "--stdin"}}}
}

// commit writes a commit. It is not reachable before a reference names it.
func (r *recorder) commit(ctx context.Context, tree, message string, parents ...string) (string, error) {
	var text strings.Builder
	text.WriteString("tree " + tree + "\n")
	for _, p := range parents {
		text.WriteString("parent " + p + "\n")
	}
	now := time.Now()
	stamp := fmt.Sprintf("%s <%s> %d %s\n", plainName(r.who.name), plainName(r.who.mail), now.Unix(), now.Format("-0700"))
	text.WriteString("author " + stamp + "committer " + stamp + "\n")
	message = strings.TrimSpace(strings.ReplaceAll(message, "\x00", ""))
	if message == "" {
		message = "chore(plan): keep the files"
	}
	text.WriteString(message + "\n")

	r.mu.Lock()
	defer r.mu.Unlock()
	if err := os.WriteFile(r.file, []byte(text.String()), 0o600); err != nil {
		return "", notWritten(err, r.file)
	}
	answer, err := r.objects.ask(ctx, r.file+"\n", 1)
	if err != nil {
		return "", err
	}
	return answer[0], nil
}

// plainName drops the characters that end a name in a commit.
func plainName(name string) string {
	return strings.Trim(strings.NewReplacer("<", "", ">", "", "\n", " ", "\x00", "").Replace(name), " .,:;'\"")
}

// move lets a reference name a commit, if it still names the one before; an empty one means that there is none.
func (r *recorder) move(ctx context.Context, ref, to, from string) error {
	if from == "" {
		from = strings.Repeat("0", len(to))
	}
	_, err := r.refs.ask(ctx, fmt.Sprintf("start\nupdate %s %s %s\nprepare\ncommit\n", ref, to, from), 3)
	return err
}

func (r *recorder) close() {
	r.objects.close()
	r.refs.close()
}
