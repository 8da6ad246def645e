package git

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/process"
)

// BisectContract is what git.bisect promises.
func BisectContract() capability.Contract {
	c := builtin("git.bisect", "Find the commit that broke something, by running a command on ever fewer of them")
	c.Inputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "bad": {"type": "string", "minLength": 1, "default": "HEAD", "description": "A revision where the command fails"},
    "good": {"type": "string", "minLength": 1, "description": "An earlier one where it succeeds"},
    "run": {"type": "string", "minLength": 1, "description": "Exit status 0: good, 1 to 124: bad, 125: cannot be told; run by sh in a work tree of its own that holds committed files only"},
    "paths": {"type": "array", "items": {"type": "string"}, "description": "Only commits that touch these, from the root of the repository"},
    "verify": {"type": "boolean", "default": true, "description": "Try the two ends first"}
  },
  "required": ["good", "run"],
  "additionalProperties": false
}`)
	c.Outputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "commit": {"type": "string", "description": "The first bad one"},
    "subject": {"type": "string"},
    "author": {"type": "string"},
    "date": {"type": "string"},
    "candidates": {"type": "array", "items": {"type": "string"}, "description": "When skipped ones leave it open"},
    "tested": {"type": "array", "items": {
      "type": "object",
      "properties": {"commit": {"type": "string"}, "verdict": {"enum": ["good", "bad", "skip"]}, "exit": {"type": "integer"}},
      "required": ["commit", "verdict", "exit"]
    }}
  },
  "required": ["tested"]
}`)
	c.Needs.Write = true
	c.Repeat, c.CostTier = capability.Repeatable, 2
	c.Examples = []capability.Example{
		{Says: "Find what broke a check", With: json.RawMessage(`{"good": "HEAD~2", "bad": "HEAD", "run": "! grep -q broken README.md"}`)},
	}
	return c
}

type bisecting struct {
	Bad    string   `json:"bad"`
	Good   string   `json:"good"`
	Run    string   `json:"run"`
	Paths  []string `json:"paths"`
	Verify bool     `json:"verify"`
}

// tested is one commit that was tried.
type tested struct {
	Commit  string `json:"commit"`
	Verdict string `json:"verdict"`
	Exit    int    `json:"exit"`
}

// search is a bisection under way, in a work tree of its own.
type search struct {
	repo
	in    bisecting
	env   []string // of the command
	lim   capability.Limits
	tried []tested
}

// Bisect performs git.bisect.
func Bisect(ctx context.Context, call capability.Call) (capability.Result, error) {
	in := bisecting{Bad: "HEAD", Verify: true}
	if err := decode(call, "git.bisect", &in); err != nil {
		return capability.Result{}, err
	}
	if strings.TrimSpace(in.Run) == "" || strings.ContainsRune(in.Run, 0) {
		return capability.Result{}, fault.New(fault.Invalid, "there is no command to run").Remedy("give one in run")
	}
	if err := local(in.Paths); err != nil {
		return capability.Result{}, err
	}
	r, err := open(ctx, call)
	if err != nil {
		return capability.Result{}, err
	}
	if in.Good, in.Bad, err = r.ends(ctx, in); err != nil {
		return capability.Result{}, err
	}
	// The name is the same over retries, so that a try which was cut off is swept up by the next.
	tree := filepath.Join(os.TempDir(), "cairn-bisect-"+call.Key.Short())
	r.dropTree(ctx, tree)
	defer r.dropTree(context.WithoutCancel(ctx), tree)
	if _, err := r.ask(ctx, "worktree", "add", "--quiet", "--detach", "--force", tree, in.Bad); err != nil {
		return capability.Result{}, err
	}
	s := &search{repo: r.in(tree), in: in, env: process.Env(call.Env), lim: call.Limits}
	s.lim.Root = tree
	return s.search(ctx)
}

// ends finds the two ends, and refuses those between which there is nothing to find.
func (r repo) ends(ctx context.Context, in bisecting) (good, bad string, err error) {
	if _, err := r.born(ctx, "search"); err != nil {
		return "", "", err
	}
	if good, err = r.commit(ctx, in.Good); err != nil {
		return "", "", err
	}
	if bad, err = r.commit(ctx, in.Bad); err != nil {
		return "", "", err
	}
	if good == bad {
		return "", "", fault.New(fault.Invalid, "good and bad are the same commit, %.12s", good).Remedy("name an earlier commit where it still worked as good")
	}
	a, err := r.run(ctx, "", "merge-base", "--is-ancestor", bad, good)
	if err == nil && a.exit == 0 {
		err = fault.New(fault.Invalid, "%s comes before %s: good and bad are the wrong way round", in.Bad, in.Good).Remedy("exchange them")
	}
	return good, bad, err
}

// dropTree removes a work tree; that it is not there is as good.
func (r repo) dropTree(ctx context.Context, tree string) {
	if _, err := os.Lstat(tree); err == nil {
		_, _ = r.run(ctx, "", "worktree", "remove", "--force", "--force", tree)
		_ = os.RemoveAll(tree)
	}
	_, _ = r.run(ctx, "", "worktree", "prune") // an entry whose folder is gone harms nobody until then
}

var firstBad = regexp.MustCompile(`(?m)^([0-9a-f]{40,64}) is the first bad commit`)

func (s *search) search(ctx context.Context) (capability.Result, error) {
	if s.in.Verify {
		if err := s.verify(ctx); err != nil {
			return s.result(nil), err
		}
	}
	a, err := s.run(ctx, "", append([]string{"bisect", "start", s.in.Bad, s.in.Good, "--"}, s.in.Paths...)...)
	for err == nil {
		if m := firstBad.FindSubmatch(a.out); m != nil {
			return s.found(ctx, string(m[1]))
		}
		if a.exit != 0 || strings.Contains(string(a.out), "only 'skip'ped commits left") {
			return s.open(a)
		}
		var at string
		if at, err = s.ask(ctx, "rev-parse", "HEAD"); err != nil {
			break
		}
		var verdict string
		if verdict, err = s.try(ctx, at); err == nil {
			a, err = s.run(ctx, "", "bisect", verdict)
		}
	}
	return s.result(nil), err
}

// verify tries the two ends: between ends that do not differ the search would point anywhere.
func (s *search) verify(ctx context.Context) error {
	for _, end := range []struct{ rev, want, is string }{{s.in.Bad, "bad", "succeeds"}, {s.in.Good, "good", "fails"}} {
		if _, err := s.ask(ctx, "checkout", "--quiet", "--force", "--detach", end.rev); err != nil {
			return err
		}
		verdict, err := s.try(ctx, end.rev)
		if err != nil {
			return err
		}
		if verdict != end.want {
			return fault.New(fault.Failed, "the command %s at %.12s, which is said to be %s", end.is, end.rev, end.want).
				Remedy("correct the command or the revision; it runs where only committed files are")
		}
	}
	return nil
}

// try runs the command where the work tree stands. A commit that was tried is not tried again.
func (s *search) try(ctx context.Context, at string) (string, error) {
	for _, t := range s.tried {
		if t.Commit == at {
			return t.Verdict, nil
		}
	}
	spec := process.Spec{Argv: []string{"sh", "-c", s.in.Run}, Dir: s.dir, Env: s.env}
	if err := spec.Limit(s.lim); err != nil {
		return "", err
	}
	o, err := process.Run(ctx, s.host, spec)
	if err != nil {
		return "", stopped(ctx, "bisect", err)
	}
	verdict := "bad"
	switch {
	case o.Exit == 0:
		verdict = "good"
	case o.Exit == 125:
		verdict = "skip"
	case o.Exit > 125:
		return "", fault.New(fault.Failed, "the command could not be run at %.12s: exit status %d: %s", at, o.Exit, lastLine(clean(string(o.Stderr)))).
			Remedy("make it end with 125 where it cannot tell")
	}
	s.tried = append(s.tried, tested{at, verdict, o.Exit})
	s.host.Beat()
	return verdict, nil
}

func (s *search) result(more map[string]json.RawMessage) capability.Result {
	if more == nil {
		more = map[string]json.RawMessage{}
	}
	if s.tried == nil {
		s.tried = []tested{}
	}
	more["tested"] = asJSON(s.tried)
	return capability.Result{Dir: ".", Outputs: more}
}

func (s *search) found(ctx context.Context, commit string) (capability.Result, error) {
	out, err := s.ask(ctx, "log", "-1", "--format=%s%x00%an%x00%aI", commit)
	if err != nil {
		return s.result(nil), err
	}
	about := append(strings.Split(strings.ToValidUTF8(out, "\uFFFD"), "\x00"), "", "")
	return s.result(map[string]json.RawMessage{"commit": asJSON(commit), "subject": asJSON(about[0]), "author": asJSON(about[1]), "date": asJSON(about[2])}), nil
}

var hashLine = regexp.MustCompile(`(?m)^[0-9a-f]{40,64}$`)

// open tells why there is no answer.
func (s *search) open(a answer) (capability.Result, error) {
	switch said := string(a.out) + a.err; {
	case strings.Contains(said, "only 'skip'ped commits left"):
		left := hashLine.FindAllString(said, -1)
		return s.result(map[string]json.RawMessage{"candidates": asJSON(left)}),
			fault.New(fault.Failed, "it is one of %d commits, and the command cannot tell which: it skipped the others", len(left)).
				Remedy("make the command work at one of them: %.12s", strings.Join(left, " "))
	case strings.Contains(said, "merge base"):
		return s.result(nil), fault.New(fault.Failed, "the command fails already where the two revisions parted, so it was repaired on the good side, not broken on the other").
			Remedy("take a good revision that is an ancestor of the bad one")
	}
	return s.result(nil), s.explain("bisect", a)
}
