package git

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// DiffContract is what git.diff promises.
func DiffContract() capability.Contract {
	c := builtin("git.diff", "Show what changed: since the last commit, in the index, or between two revisions")
	c.Inputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "from": {"type": "string", "minLength": 1, "description": "A branch, tag or commit; the last commit when absent"},
    "to": {"type": "string", "minLength": 1, "description": "Likewise; the files as they are when absent"},
    "since_fork": {"type": "boolean", "description": "From where the two parted, as a pull request shows it"},
    "staged": {"type": "boolean", "description": "The index in place of the files"},
    "untracked": {"type": "boolean", "description": "With the files that git does not know yet"},
    "paths": {"type": "array", "items": {"type": "string"}, "description": "Only these, from the task's directory"},
    "context": {"type": "integer", "minimum": 0, "maximum": 1000, "default": 3, "description": "Lines around each change"}
  },
  "additionalProperties": false
}`)
	c.Outputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "diff": {"type": "string", "description": "Unified; an artifact when over 4 KiB, cut at 16 MiB"},
    "files": {"type": "array", "items": {
      "type": "object",
      "properties": {"path": {"type": "string"}, "added": {"type": "integer"}, "deleted": {"type": "integer"}, "binary": {"type": "boolean"}},
      "required": ["path", "added", "deleted"]
    }},
    "added": {"type": "integer", "description": "Lines"},
    "deleted": {"type": "integer", "description": "Lines"}
  },
  "required": ["diff", "files", "added", "deleted"]
}`)
	c.Repeat = capability.Repeatable
	c.Examples = []capability.Example{
		{Says: "See what is not committed, new files too", With: json.RawMessage(`{"untracked": true}`)},
		{Says: "See what the last commit did", With: json.RawMessage(`{"from": "HEAD~1", "to": "HEAD"}`)},
	}
	return c
}

type diffing struct {
	From      string   `json:"from"`
	To        string   `json:"to"`
	SinceFork bool     `json:"since_fork"`
	Staged    bool     `json:"staged"`
	Untracked bool     `json:"untracked"`
	Paths     []string `json:"paths"`
	Context   int      `json:"context"`
}

func (in diffing) check() error {
	switch {
	case in.To != "" && (in.Staged || in.Untracked):
		return fault.New(fault.Invalid, "two revisions are compared, so there is no index and nothing untracked").Remedy("leave out to, or staged and untracked")
	case in.Staged && in.Untracked:
		return fault.New(fault.Invalid, "what is untracked is not in the index").Remedy("leave out staged or untracked")
	case in.SinceFork && in.To == "":
		return fault.New(fault.Invalid, "since_fork needs two revisions").Remedy("give from and to")
	}
	return local(in.Paths)
}

// Diff performs git.diff.
func Diff(ctx context.Context, call capability.Call) (capability.Result, error) {
	in := diffing{Context: 3}
	if err := decode(call, "git.diff", &in); err != nil {
		return capability.Result{}, err
	}
	if err := in.check(); err != nil {
		return capability.Result{}, err
	}
	r, err := open(ctx, call)
	if err != nil {
		return capability.Result{}, err
	}
	sides, err := in.sides(ctx, r)
	if err != nil {
		return capability.Result{}, err
	}
	if in.Untracked {
		t, err := newTrial(r)
		if err != nil {
			return capability.Result{}, err
		}
		defer t.close()
		if err := t.fill(ctx, sides[0], nil); err != nil {
			return capability.Result{}, err
		}
		r, sides = t.repo, append([]string{"--cached"}, sides...)
	}
	return r.showDiff(ctx, call, append(append(sides, "--"), in.Paths...), in.Context)
}

// sides are the arguments that say what is compared with what.
func (in diffing) sides(ctx context.Context, r repo) (sides []string, err error) {
	if in.From == "" {
		h, err := r.head(ctx)
		if err != nil {
			return nil, err
		}
		if in.From = h.commit; h.commit == "" {
			if in.From, err = r.emptyTree(ctx); err != nil {
				return nil, err
			}
		}
	} else if in.From, err = r.commit(ctx, in.From); err != nil {
		return nil, err
	}
	if in.To == "" {
		if in.Staged {
			return []string{"--cached", in.From}, nil
		}
		return []string{in.From}, nil
	}
	if in.To, err = r.commit(ctx, in.To); err != nil {
		return nil, err
	}
	if in.SinceFork {
		a, err := r.run(ctx, "", "merge-base", in.From, in.To)
		if err != nil {
			return nil, err
		}
		if in.From = strings.TrimSpace(string(a.out)); a.exit != 0 {
			return nil, fault.New(fault.Conflict, "the two revisions have no commit in common").Remedy("leave out since_fork to compare them as they are")
		}
	}
	return []string{in.From, in.To}, nil
}

// emptyTree is what there was before the first commit.
func (r repo) emptyTree(ctx context.Context) (string, error) {
	return r.tell(ctx, "", "hash-object", "-t", "tree", "--stdin")
}

// plain are the options that keep programs of the repository's configuration out of a diff.
var plain = []string{"--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"}

func (r repo) showDiff(ctx context.Context, call capability.Call, what []string, lines int) (capability.Result, error) {
	stat, err := r.ask(ctx, append(append([]string{"diff", "--numstat", "-z"}, plain...), what...)...)
	if err != nil {
		return capability.Result{}, err
	}
	a, err := r.run(ctx, "", append(append([]string{"diff", fmt.Sprintf("-U%d", lines)}, plain...), what...)...)
	if err != nil {
		return capability.Result{}, err
	}
	if a.exit != 0 {
		return capability.Result{}, r.explain("diff", a)
	}
	files, added, deleted := readStat(stat)
	res := capability.Result{Dir: ".", Outputs: map[string]json.RawMessage{"files": asJSON(files), "added": asJSON(added), "deleted": asJSON(deleted)}}
	if len(a.out) <= inline && utf8.Valid(a.out) {
		res.Outputs["diff"] = asJSON(string(a.out))
		return res, nil
	}
	ref, err := call.Host.Put(ctx, "diff", "diff", bytes.NewReader(a.out))
	if err != nil {
		return res, err
	}
	ref.Truncated = a.left
	res.Artifacts = append(res.Artifacts, ref)
	return res, nil
}

// filed is one file of a diff.
type filed struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
	Binary  bool   `json:"binary,omitempty"`
}

// readStat reads what --numstat -z prints, and sums it up.
func readStat(out string) (files []filed, added, deleted int) {
	files = []filed{}
	for _, line := range split(out) {
		plus, rest, _ := strings.Cut(line, "\t")
		minus, path, ok := strings.Cut(rest, "\t")
		if !ok {
			continue
		}
		f := filed{Path: strings.ToValidUTF8(path, "\uFFFD"), Binary: plus == "-"}
		if !f.Binary {
			f.Added, _ = strconv.Atoi(plus)
			f.Deleted, _ = strconv.Atoi(minus)
		}
		files, added, deleted = append(files, f), added+f.Added, deleted+f.Deleted
	}
	return files, added, deleted
}
