package git

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/process"
)

// CommitContract is what git.commit promises.
func CommitContract() capability.Contract {
	c := builtin("git.commit", "Commit files to the branch that is checked out, and leave the rest of the index as it is")
	c.Version = "1.0.0"
	c.Inputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "message": {"type": "string", "pattern": "\\S", "description": "A subject, and after an empty line what more there is to say"},
    "paths": {"type": "array", "minItems": 1, "items": {"type": "string"}, "description": "These files as they are now, from the task's directory; deleted ones too"},
    "all": {"type": "boolean", "enum": [true], "description": "All files of the repository as they are now, but ignored ones"},
    "staged": {"type": "boolean", "enum": [true], "description": "What is in the index, and only that"},
    "author": {"type": "object", "properties": {"name": {"type": "string", "minLength": 1}, "email": {"type": "string", "minLength": 1}},
      "required": ["name", "email"], "additionalProperties": false},
    "identity": {"enum": ["repository", "user"], "default": "repository", "description": "Whose name is taken without an author: what the repository says, or the user's own"},
    "empty": {"enum": ["fail", "skip", "commit"], "default": "fail", "description": "What to do when nothing changed"}
  },
  "required": ["message"],
  "oneOf": [{"required": ["paths"]}, {"required": ["all"]}, {"required": ["staged"]}],
  "additionalProperties": false
}`)
	c.Outputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "commit": {"type": "string", "description": "The commit; the one that was there when nothing changed and that is no failure"},
    "branch": {"type": "string"},
    "committed": {"type": "boolean", "description": "False when nothing changed, and that was no failure"},
    "files": {"type": "array", "items": {"type": "string"}}
  },
  "required": ["commit", "branch", "committed", "files"]
}`)
	c.Positional = []string{"message"}
	c.Needs.Write = true
	c.Repeat, c.Criticality = capability.Keyed, "moderate"
	c.Examples = []capability.Example{
		{Says: "Commit two files", With: json.RawMessage(`{"message": "feat(plan): say more", "paths": ["README.md", "docs"], "author": {"name": "Ada", "email": "ada@example.com"}}`)},
		{Says: "Commit whatever changed, if anything did", With: json.RawMessage(`{"message": "chore: format", "all": true, "empty": "skip", "author": {"name": "Ada", "email": "ada@example.com"}}`)},
	}
	return c
}

// Commit performs git.commit. It makes the commit beside the index and then moves the branch in one step,
// provided that it is still where it was.
type Commit struct{}

var (
	_ capability.Runner    = Commit{}
	_ capability.Previewer = Commit{}
)

type committing struct {
	Message  string   `json:"message"`
	Paths    []string `json:"paths"`
	All      bool     `json:"all"`
	Staged   bool     `json:"staged"`
	Author   *author  `json:"author"`
	Identity string   `json:"identity"`
	Empty    string   `json:"empty"`
}

type author struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

func (in committing) check() error {
	switch {
	case strings.TrimSpace(in.Message) == "":
		return fault.New(fault.Invalid, "there is no message to commit with").Remedy("say in message what changed, and why")
	case strings.ContainsRune(in.Message, 0):
		return fault.New(fault.Invalid, "the message holds a NUL character, which no commit can carry")
	case in.Author != nil && strings.ContainsAny(in.Author.Name+in.Author.Email, "<>\n\x00"):
		return fault.New(fault.Invalid, "the author's name or address holds a character that it may not").Remedy("write them without < > and line ends")
	case len(in.Paths) == 0 && !in.All && !in.Staged:
		return fault.New(fault.Invalid, "it does not say what to commit").Remedy("give paths, all: true or staged: true")
	}
	return local(in.Paths)
}

// Run implements capability.Runner.
func (Commit) Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	in, r, h, err := beginCommit(ctx, call)
	if err != nil {
		return capability.Result{}, err
	}
	if made, err := r.keyed(ctx, h, call.Key.String()); err != nil {
		return capability.Result{}, err
	} else if made != "" {
		return in.finish(ctx, r, made)
	}
	t, err := newIndex(r)
	if err != nil {
		return capability.Result{}, err
	}
	defer t.close()
	tree, same, err := in.tree(ctx, t, h)
	if err != nil {
		return capability.Result{}, err
	}
	if same && in.Empty != "commit" {
		return in.nothing(h)
	}
	made, err := in.make(ctx, r, tree, h.commit, message(in.Message, call.Key.String()))
	if err != nil {
		return capability.Result{}, err
	}
	was := h.commit
	if was == "" {
		was = strings.Repeat("0", len(made))
	}
	subject, _, _ := strings.Cut(strings.TrimSpace(in.Message), "\n")
	if _, err := r.ask(ctx, "update-ref", "-m", "commit: "+subject, "HEAD", made, was); err != nil {
		return capability.Result{}, err
	}
	return in.finish(ctx, r, made)
}

func beginCommit(ctx context.Context, call capability.Call) (committing, repo, head, error) {
	in := committing{Empty: "fail"}
	if err := decode(call, "git.commit", &in); err != nil {
		return in, repo{}, head{}, err
	}
	if err := in.check(); err != nil {
		return in, repo{}, head{}, err
	}
	r, err := open(ctx, call)
	if err != nil {
		return in, r, head{}, err
	}
	h, err := r.attached(ctx, "commit to")
	if err != nil {
		return in, r, h, err
	}
	return in, r, h, r.settled(ctx)
}

// tree is what is to be committed, and whether that is what the last commit holds.
func (in committing) tree(ctx context.Context, t trial, h head) (tree string, same bool, err error) {
	if !in.Staged {
		if err := t.fill(ctx, h.commit, in.Paths); err != nil {
			return "", false, err
		}
	}
	if tree, err = t.ask(ctx, "write-tree"); err != nil {
		return "", false, err
	}
	was, err := t.emptyTree(ctx)
	if err == nil && h.commit != "" {
		was, err = t.ask(ctx, "rev-parse", h.commit+"^{tree}")
	}
	return tree, tree == was, err
}

func (in committing) nothing(h head) (capability.Result, error) {
	if in.Empty == "skip" {
		return committed(h.commit, h.branch, false, []string{}), nil
	}
	return capability.Result{}, fault.New(fault.Failed, "there is nothing to commit: the files are as the last commit of %s has them", h.branch).
		Remedy("if that is no failure here, say so: empty: skip")
}

// make writes the commit; no branch knows it yet.
func (in committing) make(ctx context.Context, r repo, tree, parent, text string) (string, error) {
	switch {
	case in.Author != nil:
		r = r.with("GIT_AUTHOR_NAME="+in.Author.Name, "GIT_AUTHOR_EMAIL="+in.Author.Email,
			"GIT_COMMITTER_NAME="+in.Author.Name, "GIT_COMMITTER_EMAIL="+in.Author.Email)
	case in.Identity == "user":
		var err error
		if r, err = r.asUser(ctx); err != nil {
			return "", err
		}
	}
	args := []string{"-c", "user.useConfigOnly=true", "commit-tree", tree, "-F", "-"}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	return r.tell(ctx, text, args...)
}

// asUser takes name and address from the user's own configuration, and nothing else.
func (r repo) asUser(ctx context.Context) (repo, error) {
	own := r
	own.env = nil
	for _, e := range r.env {
		if !strings.HasPrefix(e, "GIT_CONFIG_GLOBAL=") {
			own.env = append(own.env, e)
		}
	}
	for key, names := range map[string][2]string{"user.name": {"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"}, "user.email": {"GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"}} {
		a, err := own.run(ctx, "", "config", "--get", key)
		if err != nil {
			return r, err
		}
		v := strings.TrimSpace(string(a.out))
		if v == "" {
			return r, fault.New(fault.NotFound, "the user's configuration of git does not say %s", key).
				Remedy("set it: git config --global %s ..., or give author: {name, email}; HOME is %s", key, process.Value(r.env, "HOME"))
		}
		r = r.with(names[0]+"="+v, names[1]+"="+v)
	}
	return r, nil
}

const keyTrailer = "Cairn-Key: "

var trailers = regexp.MustCompile(`\n\n(?:[A-Za-z][A-Za-z0-9-]*: .*\n)+$`)

// message is the text of a commit, with the key by which a second try finds it.
func message(text, key string) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) + "\n"
	if !trailers.MatchString(text) {
		text += "\n"
	}
	return text + keyTrailer + key + "\n"
}

// recent is how many commits are searched for one of the same key: a second try is never far behind.
const recent = "1000"

// keyed finds the commit that an earlier try of the same effect made.
func (r repo) keyed(ctx context.Context, h head, key string) (string, error) {
	if h.commit == "" {
		return "", nil
	}
	out, err := r.ask(ctx, "log", "-n", recent, "--format=%H %(trailers:key=Cairn-Key,valueonly,separator=%x20)", "HEAD")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		if commit, keys, _ := strings.Cut(strings.TrimSpace(line), " "); strings.Contains(keys, key) {
			return commit, nil
		}
	}
	return "", nil
}

// finish brings the index to what was committed, for the paths that were, and tells of it.
func (in committing) finish(ctx context.Context, r repo, made string) (capability.Result, error) {
	if !in.Staged {
		at, args := r, append([]string{"reset", "--quiet", "--"}, in.Paths...)
		if in.All {
			at = r.in(r.top)
		}
		if _, err := at.ask(ctx, args...); err != nil {
			return capability.Result{}, err
		}
	}
	h, err := r.head(ctx)
	if err != nil {
		return capability.Result{}, err
	}
	files, err := r.ask(ctx, "diff-tree", "--root", "--no-commit-id", "--name-only", "-r", "-z", made)
	if err != nil {
		return capability.Result{}, err
	}
	return committed(made, h.branch, true, split(strings.ToValidUTF8(files, "\uFFFD"))), nil
}

func committed(commit, branch string, made bool, files []string) capability.Result {
	if files == nil {
		files = []string{}
	}
	return capability.Result{Dir: ".", Outputs: map[string]json.RawMessage{
		"commit": asJSON(commit), "branch": asJSON(branch), "committed": asJSON(made), "files": asJSON(files)}}
}

// Preview implements capability.Previewer: the diff that would be committed.
func (Commit) Preview(ctx context.Context, call capability.Call) (capability.Preview, error) {
	in, r, h, err := beginCommit(ctx, call)
	if err != nil {
		return capability.Preview{}, err
	}
	t, err := newTrial(r)
	if err != nil {
		return capability.Preview{}, err
	}
	defer t.close()
	_, same, err := in.tree(ctx, t, h)
	if err != nil {
		return capability.Preview{}, err
	}
	subject, _, _ := strings.Cut(strings.TrimSpace(in.Message), "\n")
	p := capability.Preview{Commands: []string{fmt.Sprintf("commit to %s: %s", h.branch, subject)}}
	if same {
		p.Unforeseen = append(p.Unforeseen, "nothing is there to commit now; an earlier task may change that")
		return p, nil
	}
	from := h.commit
	if from == "" {
		if from, err = t.emptyTree(ctx); err != nil {
			return p, err
		}
	}
	p.Diff, err = t.ask(ctx, append(append([]string{"diff", "--cached"}, plain...), from)...)
	if p.Diff != "" {
		p.Diff += "\n"
	}
	return p, err
}
