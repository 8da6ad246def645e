package workspace

import (
	"bytes"
	"context"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// found is one path that differs from the last state, in the index or in the files.
type found struct {
	path   string
	mode   string // in the last state; zeros when it was not there
	hash   string // likewise
	staged bool   // the index differs from the last state
	gone   bool   // the file is deleted
	nested bool   // a folder that is a repository of its own
}

// look asks git what differs from HEAD, and which commit that is.
func look(ctx context.Context, g git) (head string, all []found, err error) {
	out, err := g.run(ctx, nil, "status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--no-renames",
		"--untracked-files=all", "--ignore-submodules=dirty")
	if err != nil {
		return "", nil, err
	}
	for line := range bytes.SplitSeq(out, []byte{0}) {
		text := string(line)
		if oid, ok := strings.CutPrefix(text, "# branch.oid "); ok {
			head = oid
			continue
		}
		f, ok := parseFound(text)
		if ok {
			all = append(all, f)
		} else if text != "" && text[0] != '#' {
			return "", nil, fault.New(fault.Internal, "git status printed %q, which is not understood", text)
		}
	}
	if head == "(initial)" {
		head = ""
	}
	return head, all, nil
}

// parseFound reads one entry of porcelain version 2: changed, unmerged or untracked.
func parseFound(text string) (found, bool) {
	kind, rest, _ := strings.Cut(text, " ")
	switch kind {
	case "?":
		path, nested := strings.CutSuffix(rest, "/")
		return found{path: path, mode: "000000", nested: nested}, true
	case "1": // XY sub mH mI mW hH hI path
		if f := strings.SplitN(rest, " ", 8); len(f) == 8 && len(f[0]) == 2 {
			return found{path: f[7], mode: f[2], hash: f[5], staged: f[0][0] != '.', gone: f[4] == "000000",
				nested: f[4] == "160000"}, true
		}
	case "u": // XY sub m1 m2 m3 mW h1 h2 h3 path: stage 2 is ours, which is not the last state in a rebase, yet near it
		if f := strings.SplitN(rest, " ", 10); len(f) == 10 {
			return found{path: f[9], mode: f[3], hash: f[7], staged: true, gone: f[5] == "000000"}, true
		}
	}
	return found{}, false
}
