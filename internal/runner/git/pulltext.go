package git

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// PullTextContract is what git.pr.text promises.
func PullTextContract() capability.Contract {
	c := builtin("git.pr.text", "Write the title and the text of a pull request from what a plan did")
	c.Inputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "plan": {"type": "string", "description": "Its id"},
    "title": {"type": "string", "description": "From the goal, or the first task, when absent"},
    "goal": {"type": "string", "description": "What all of it is for"},
    "tasks": {"type": "array", "items": {
      "type": "object",
      "properties": {
        "id": {"type": "string", "minLength": 1},
        "title": {"type": "string"},
        "status": {"type": "string", "description": "completed, failed, skipped, ...; completed when absent"},
        "note": {"type": "string", "description": "What came of it"}
      },
      "required": ["id"],
      "additionalProperties": false
    }},
    "decisions": {"type": "array", "items": {
      "type": "object",
      "properties": {"gate": {"type": "string", "minLength": 1}, "by": {"type": "string"}, "verdict": {"type": "string"}, "why": {"type": "string"}},
      "required": ["gate"],
      "additionalProperties": false
    }},
    "facts": {"type": "array", "items": {"type": "string"}, "description": "What the journal says that a reviewer should know"},
    "checks": {"type": "array", "items": {"type": "string"}, "description": "What was verified, and how"},
    "closes": {"type": "array", "items": {"type": "string"}, "description": "Issues, such as #12"}
  },
  "anyOf": [{"required": ["goal"]}, {"required": ["tasks"]}, {"required": ["title"]}],
  "additionalProperties": false
}`)
	c.Outputs = json.RawMessage(`{
  "type": "object",
  "properties": {"title": {"type": "string"}, "body": {"type": "string", "description": "Markdown; an artifact when over 4 KiB"}},
  "required": ["title", "body"]
}`)
	c.Repeat = capability.Pure
	c.Examples = []capability.Example{{Says: "Tell what two tasks did", With: json.RawMessage(`{
  "plan": "feature-x", "goal": "Add partial retries to the HTTP client",
  "tasks": [{"id": "build", "title": "Retry idempotent requests", "note": "3 files"}, {"id": "docs", "status": "skipped"}],
  "decisions": [{"gate": "agree", "by": "ada", "verdict": "approved", "why": "diff read"}],
  "facts": ["all 412 tests passed"], "closes": ["#12"]}`)}}
	return c
}

type account struct {
	Plan  string `json:"plan"`
	Title string `json:"title"`
	Goal  string `json:"goal"`
	Tasks []struct {
		ID     string `json:"id"`
		Title  string `json:"title"`
		Status string `json:"status"`
		Note   string `json:"note"`
	} `json:"tasks"`
	Decisions []struct {
		Gate    string `json:"gate"`
		By      string `json:"by"`
		Verdict string `json:"verdict"`
		Why     string `json:"why"`
	} `json:"decisions"`
	Facts  []string `json:"facts"`
	Checks []string `json:"checks"`
	Closes []string `json:"closes"`
}

const (
	maxTitle = 72    // what lists of pull requests show
	maxBody  = 60000 // forges refuse a little more
)

// PullText performs git.pr.text.
func PullText(ctx context.Context, call capability.Call) (capability.Result, error) {
	var in account
	if err := decode(call, "git.pr.text", &in); err != nil {
		return capability.Result{}, err
	}
	if ctx.Err() != nil {
		return capability.Result{}, fault.Wrap(fault.Interrupted, context.Cause(ctx), "writing was stopped")
	}
	title := in.title()
	if title == "" {
		return capability.Result{}, fault.New(fault.Invalid, "there is nothing to tell").Remedy("give a goal, a title or tasks")
	}
	res := capability.Result{Dir: ".", Outputs: map[string]json.RawMessage{"title": asJSON(title)}}
	body := in.body()
	if len(body) <= inline {
		res.Outputs["body"] = asJSON(body)
		return res, nil
	}
	ref, err := call.Host.Put(ctx, "body", "markdown", strings.NewReader(body))
	if err == nil {
		res.Artifacts = append(res.Artifacts, ref)
	}
	return res, err
}

func (in account) title() string {
	for _, t := range []string{in.Title, in.Goal} {
		if t = line(t); t != "" {
			return cut(t, maxTitle)
		}
	}
	if len(in.Tasks) == 0 {
		return ""
	}
	if s := line(in.Tasks[0].Title); s != "" {
		return cut(s, maxTitle)
	}
	return cut(line(in.Tasks[0].ID), maxTitle)
}

func (in account) body() string {
	var b strings.Builder
	part := func(head string, lines []string) {
		if len(lines) == 0 {
			return
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "## %s\n\n", head)
		for i, l := range lines {
			if b.Len()+len(l) > maxBody {
				fmt.Fprintf(&b, "- and %d more, which the journal tells\n", len(lines)-i)
				return
			}
			b.WriteString(l + "\n")
		}
	}
	if goal := strings.TrimSpace(in.Goal); goal != "" {
		b.WriteString(cut(goal, maxBody/4) + "\n")
	}
	part("What was done", in.done())
	part("Decisions", in.decided())
	part("Checks", bullets(in.Checks))
	part("Facts", bullets(in.Facts))
	if len(in.Closes) > 0 || in.Plan != "" {
		b.WriteString("\n")
	}
	for _, issue := range in.Closes {
		fmt.Fprintf(&b, "Closes %s\n", line(issue))
	}
	if in.Plan != "" {
		fmt.Fprintf(&b, "Plan: %s\n", line(in.Plan))
	}
	return strings.TrimLeft(b.String(), "\n")
}

func (in account) done() (lines []string) {
	for _, t := range in.Tasks {
		box, status := "[x]", ""
		if t.Status != "" && t.Status != "completed" {
			box, status = "[ ]", " ("+line(t.Status)+")"
		}
		said := line(t.Title)
		if said == "" {
			said = line(t.ID)
		}
		if note := line(t.Note); note != "" {
			said += ": " + note
		}
		lines = append(lines, "- "+box+" "+said+status)
	}
	return lines
}

func (in account) decided() (lines []string) {
	for _, d := range in.Decisions {
		said := "- " + line(d.Gate)
		if d.Verdict != "" {
			said += " " + line(d.Verdict)
		}
		if d.By != "" {
			said += " by " + line(d.By)
		}
		if d.Why != "" {
			said += ": " + line(d.Why)
		}
		lines = append(lines, said)
	}
	return lines
}

func bullets(all []string) (lines []string) {
	for _, s := range all {
		if s = line(s); s != "" {
			lines = append(lines, "- "+s)
		}
	}
	return lines
}

// line is a text on one line, so that it cannot break out of its place in the page.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }

// cut shortens a text at a word.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)[:n-1]
	s = string(r)
	if at := strings.LastIndexByte(s, ' '); at > len(s)/2 {
		s = s[:at]
	}
	return strings.TrimRight(s, " ,;:.") + "…"
}
