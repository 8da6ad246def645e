package view

import (
	"strings"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// counts sums tasks up. Groups are not counted: what they hold is.
type counts struct {
	st *lifecycle.State

	total, completed, skipped, failed, routed, running, people, waiting, ready, pending, blocked, abandoned, undone int
}

func (c *counts) add(t lifecycle.Task) {
	c.total++
	switch shown(t) {
	case lifecycle.Completed:
		c.completed++
	case lifecycle.Skipped:
		c.skipped++
	case lifecycle.FailedTask:
		if routed(c.st, t) {
			c.routed++
		} else {
			c.failed++
		}
	case lifecycle.Running:
		c.running++
	case lifecycle.Waiting:
		if t.Wait.NeedsPerson() {
			c.people++
		} else {
			c.waiting++
		}
	case lifecycle.Ready:
		c.ready++
	case Blocked:
		c.blocked++
	case lifecycle.Abandoned:
		c.abandoned++
	case lifecycle.RolledBack:
		c.undone++
	default:
		c.pending++
	}
}

func (c *counts) done() int { return c.completed + c.skipped }

// words lists what there is of each sort; what is done only when it is asked for.
func (c *counts) words(withDone bool) string {
	var out []string
	add := func(n int, word string) {
		if n > 0 {
			out = append(out, number(n)+" "+word)
		}
	}
	if withDone {
		add(c.completed, "done")
	}
	add(c.skipped, "skipped")
	add(c.running, "running")
	add(c.failed, "failed")
	add(c.routed, "failed and routed")
	if c.people == 1 {
		out = append(out, "1 waits for a person")
	} else {
		add(c.people, "wait for people")
	}
	add(c.waiting, "to be tried again")
	add(c.blocked, "blocked")
	add(c.ready, "ready")
	add(c.pending, "to come")
	add(c.abandoned, "given up")
	add(c.undone, "rolled back")
	return strings.Join(out, ", ")
}

// text is the line under a tree.
func (c *counts) text(st *lifecycle.State, o TreeOptions) string {
	s := string(st.State()) + ": " + number(c.done()) + " of " + number(c.total) + " done"
	if more := c.words(false); more != "" {
		s += ", " + more
	}
	if o.Times == nil || o.Times.Began.IsZero() {
		return s
	}
	end := o.Now
	if end.IsZero() || st.Phase.Over() {
		end = o.Times.Last
	}
	return s + ", " + Duration(seconds(end.Sub(o.Times.Began)))
}
