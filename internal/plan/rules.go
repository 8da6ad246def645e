package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan/source"
)

// Words that some keys are limited to.
var (
	repeats       = []string{"pure", "repeatable", "keyed", "once"}
	criticalities = []string{"safe", "moderate", "critical", "dangerous"}
	workspaces    = []string{"here", "branch"}
	unjudgeds     = []string{"block", "accept"}
	sandboxes     = []string{"on", "require", "off"}
	retentions    = []string{"task", "plan", "forever"}
	statuses      = []string{"pending", "ready", "running", "waiting", "blocked", "completed", "failed", "skipped", "abandoned", "rolled_back"}
	states        = []string{"draft", "pending", "running", "paused", "blocked", "completed", "failed", "abandoned", "archived"}
)

// rules checks each task of a scope by itself, and collects what it reads of others.
func (c *checker) rules(s *scope, asked map[*scope][]query) {
	for i := range s.tasks {
		t := &s.tasks[i]
		c.enum(s, i, "repeat", t.Repeat, repeats)
		c.enum(s, i, "criticality", t.Criticality, criticalities)
		if t.Status != "" {
			c.claimed(s.node(i, "status"), t.Status, statuses)
		}
		if t.Deadline != "" {
			c.moment(s.node(i, "deadline"), t.Deadline)
		}
		c.expressions(s, i)
		c.consent(s, i)
		r := reader{checker: c, scope: s, at: i, asked: asked}
		r.task(t)
		c.products(s, i)
		c.work(s, i)
		if t.IsGroup() && (t.Uses != "" || t.Run != "") {
			c.fault(s.node(i, "subplan"), CodeType, "move the work into a task of the subplan", "%s holds a subplan and work of its own", t.ID)
		}
	}
}

func (c *checker) enum(s *scope, i int, key, value string, words []string) {
	if value != "" && !slices.Contains(words, value) {
		c.notOneOf(s.node(i, key), key, value, words)
	}
}

func (c *checker) notOneOf(n source.Node, key, value string, words []string) {
	remedy := "write one of " + strings.Join(words, ", ")
	if near := nearest(value, slices.Values(words)); near != "" {
		remedy = fmt.Sprintf("did you mean %s?", near)
	}
	c.fault(n, CodeEnum, remedy, "%s is %q", key, value)
}

// claimed looks at a status in the file. The engine alone moves status, so a wrong one only warns.
func (c *checker) claimed(n source.Node, value string, words []string) {
	first, _, open := strings.Cut(value, "|")
	switch {
	case !slices.Contains(words, first):
		c.warn(n, WarnStatus, "leave it out: the journal tells", "%q is no status", value)
	case open:
		c.warn(n, WarnOpen, "leave it out: the journal tells", "the status is left open (%s)", value)
	}
}

func (c *checker) moment(n source.Node, s string) {
	if _, ok := Moment(s); ok {
		return
	}
	c.fault(n, CodeTime, "write a date such as 2026-12-01, or a time such as 2026-12-01T17:00:00Z", "the deadline %q is neither a date nor a time", s)
}

// expressions checks what of a task must be CEL, or may be.
func (c *checker) expressions(s *scope, i int) {
	t := &s.tasks[i]
	if t.When != "" {
		if err := expr.Check(t.When, expr.Scope{Vars: expr.Before}); err != nil {
			c.fault(s.node(i, "when"), CodeCEL, noProse(err, `outputs_of.options.pick == "A"`), "%s", err)
		}
	}
	if t.Each != "" && !soleRef(t.Each) {
		if err := expr.Check(t.Each, expr.Scope{Gives: expr.List, Vars: expr.Before}); err != nil {
			c.fault(s.node(i, "each"), CodeCEL, noProse(err, "${TASK.OUTPUT}"), "%s", err)
		}
	}
	for j, p := range t.Pre {
		n := s.item(i, "pre", j)
		if bad := badSize(p); bad != "" {
			c.fault(n, CodeSize, "write a size such as 50MB or 4KiB, or a duration such as 90s", "%q is no size", bad)
		} else if !c.isCEL(n, p) {
			c.warn(n, WarnProse, "write an expression, such as disk.free >= 50MB, to have it looked at",
				"nobody looks at the precondition of %s: %s", t.ID, p)
		}
	}
	for j, m := range t.Failure {
		n := s.item(i, "failure", j)
		if v, ok := n.Get("detect"); ok {
			n = v
		}
		if m.Detect != "" && !c.isCEL(n, m.Detect) {
			c.warn(n, WarnProse, `write an expression, such as exit == 1 && stderr.contains("timeout"), to have it detected`,
				"how to detect %s is left to a person: %s", m.Name, m.Detect)
		}
		if m.Name == "" {
			c.fault(n, CodeEmpty, "give it a name", "a failure mode of %s has no name", t.ID)
		}
	}
}

// noProse is the remedy for a place that takes no prose.
func noProse(err error, example string) string {
	if hint := fault.HintOf(err); !strings.Contains(hint, "judge") {
		return hint
	}
	return "write an expression, such as " + example
}

func soleRef(s string) bool {
	refs := expr.Refs(s)
	return len(refs) == 1 && refs[0].Text == s
}

// badSize finds a number in a comparison that has a unit which is none, as in disk.free >= 50mb.
func badSize(pre string) string {
	f := strings.Fields(pre)
	if len(f) < 3 || !slices.Contains([]string{"<", "<=", ">", ">=", "==", "!="}, f[1]) || !strings.Contains(f[0], ".") {
		return ""
	}
	value := strings.Join(f[2:], "")
	unit := strings.TrimLeft(value, "0123456789.")
	if len(unit) == len(value) || unit == "" || len(f) > 4 || strings.Trim(unit, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return ""
	}
	if _, err := ParseSize(value); err == nil {
		return ""
	}
	if _, err := ParseDuration(value); err == nil {
		return ""
	}
	return value
}

// products checks the declared outputs and artifacts of a task.
func (c *checker) products(s *scope, i int) {
	t := &s.tasks[i]
	for j, o := range t.Outputs {
		n := s.node(i, "outputs")
		if v, ok := n.Get(o.Name); ok {
			n = v
		}
		if !validID(o.Name) {
			c.badID(n, "the name of an output", o.Name)
		}
		if j > 0 && t.Outputs[j-1].Name == o.Name {
			c.fault(n, CodeDuplicate, "give one of them another name", "%s has two outputs %q", t.ID, o.Name)
		}
		c.retention(n, o.Retention)
	}
	for j, a := range t.Artifacts {
		n := s.item(i, "artifacts", j)
		if a.Name == "" {
			c.fault(n, CodeEmpty, "give it a name", "an artifact of %s has no name", t.ID)
		}
		c.retention(n, a.Retention)
	}
}

func (c *checker) retention(n source.Node, value string) {
	if value == "" || slices.Contains(retentions, value) {
		return
	}
	if v, ok := n.Get("retention"); ok {
		n = v
	}
	if _, err := ParseDuration(value); err != nil {
		c.fault(n, CodeDuration, "write task, plan, forever, or a duration such as 30d", "the retention is %q", value)
	}
}
