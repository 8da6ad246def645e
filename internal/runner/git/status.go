package git

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
)

// StatusContract is what git.status promises.
func StatusContract() capability.Contract {
	c := builtin("git.status", "Tell the branch, and which files are staged, changed, untracked or in conflict")
	c.Inputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "paths": {"type": "array", "items": {"type": "string"}, "description": "Only these, from the task's directory"},
    "untracked": {"type": "boolean", "default": true, "description": "Look for files that git does not know"}
  },
  "additionalProperties": false
}`)
	c.Outputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "branch": {"type": "string", "description": "Empty when the head is detached"},
    "commit": {"type": "string", "description": "Empty before the first"},
    "detached": {"type": "boolean"},
    "upstream": {"type": "string"},
    "ahead": {"type": "integer"},
    "behind": {"type": "integer"},
    "clean": {"type": "boolean", "description": "Nothing is staged, changed, untracked or in conflict"},
    "staged": {"type": "array", "items": {"type": "string"}},
    "changed": {"type": "array", "items": {"type": "string"}},
    "untracked": {"type": "array", "items": {"type": "string"}},
    "conflicts": {"type": "array", "items": {"type": "string"}},
    "truncated": {"type": "integer", "description": "How many paths were left out"}
  },
  "required": ["branch", "commit", "detached", "clean", "staged", "changed", "untracked", "conflicts"]
}`)
	c.Repeat = capability.Repeatable
	c.Examples = []capability.Example{
		{Says: "See what changed", With: json.RawMessage(`{}`)},
		{Says: "See whether the documents changed", With: json.RawMessage(`{"paths": ["docs"], "untracked": false}`)},
	}
	return c
}

// maxPaths is how many paths a status lists.
const maxPaths = 2000

// state is what git.status gives.
type state struct {
	Branch    string   `json:"branch"`
	Commit    string   `json:"commit"`
	Detached  bool     `json:"detached"`
	Upstream  string   `json:"upstream,omitempty"`
	Ahead     int      `json:"ahead"`
	Behind    int      `json:"behind"`
	Clean     bool     `json:"clean"`
	Staged    []string `json:"staged"`
	Changed   []string `json:"changed"`
	Untracked []string `json:"untracked"`
	Conflicts []string `json:"conflicts"`
	Truncated int      `json:"truncated,omitempty"`
}

// Status performs git.status. Paths are told from the root of the work tree.
func Status(ctx context.Context, call capability.Call) (capability.Result, error) {
	in := struct {
		Paths     []string `json:"paths"`
		Untracked bool     `json:"untracked"`
	}{Untracked: true}
	if err := decode(call, "git.status", &in); err != nil {
		return capability.Result{}, err
	}
	if err := local(in.Paths); err != nil {
		return capability.Result{}, err
	}
	r, err := open(ctx, call)
	if err != nil {
		return capability.Result{}, err
	}
	untracked := "--untracked-files=no"
	if in.Untracked {
		untracked = "--untracked-files=all"
	}
	out, err := r.ask(ctx, append([]string{"status", "--porcelain=v2", "--branch", "-z", "--no-renames", untracked, "--"}, in.Paths...)...)
	if err != nil {
		return capability.Result{}, err
	}
	var outputs map[string]json.RawMessage
	if err := json.Unmarshal(asJSON(readStatus(out)), &outputs); err != nil {
		return capability.Result{}, err
	}
	return capability.Result{Outputs: outputs, Dir: "."}, nil
}

// readStatus reads the second porcelain format.
func readStatus(out string) state {
	s := state{Staged: []string{}, Changed: []string{}, Untracked: []string{}, Conflicts: []string{}}
	seen := 0
	note := func(list *[]string, path string) {
		if seen++; seen > maxPaths {
			s.Truncated++
			return
		}
		*list = append(*list, strings.ToValidUTF8(path, "\uFFFD"))
	}
	for _, line := range split(out) {
		switch kind, rest, _ := strings.Cut(line, " "); kind {
		case "#":
			s.header(rest)
		case "?":
			note(&s.Untracked, rest)
		case "u":
			note(&s.Conflicts, field(rest, 9))
		case "1":
			path := field(rest, 7)
			if rest[0] != '.' {
				note(&s.Staged, path)
			}
			if rest[1] != '.' {
				note(&s.Changed, path)
			}
		}
	}
	s.Clean = seen == 0
	return s
}

func (s *state) header(rest string) {
	switch name, v, _ := strings.Cut(rest, " "); name {
	case "branch.oid":
		if v != "(initial)" {
			s.Commit = v
		}
	case "branch.head":
		if s.Detached = v == "(detached)"; !s.Detached {
			s.Branch = v
		}
	case "branch.upstream":
		s.Upstream = v
	case "branch.ab":
		ahead, behind, _ := strings.Cut(v, " ")
		s.Ahead, _ = strconv.Atoi(strings.TrimPrefix(ahead, "+"))
		s.Behind, _ = strconv.Atoi(strings.TrimPrefix(behind, "-"))
	}
}

// field is what is left of a line after n words: a path, which may hold blanks.
func field(line string, n int) string {
	for range n {
		_, line, _ = strings.Cut(line, " ")
	}
	return line
}
