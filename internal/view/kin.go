package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// kin is a task with those that it has to do with.
type kin struct {
	task     lifecycle.Task
	needs    []string          // what it follows from, full ids, in the order in which they are written
	routers  []string          // what may lead here, with when
	near     map[string]bool   // those whose outcome the story tells
	upstream map[string]bool   // whatever it follows from, by any path
	blocked  map[string]string // which of the tasks wait in vain, and for which
	given    int               // the execution whose inputs were told
}

func kinOf(st *lifecycle.State, task string) (kin, bool) {
	k := kin{near: map[string]bool{}, upstream: map[string]bool{}, blocked: map[string]string{}}
	found := false
	before := map[string][]string{}
	for t := range st.Tasks() {
		if t.ID == task {
			k.task, found = t, true
		}
		if t.Blocked != "" {
			k.blocked[t.ID] = t.Blocked
		}
		before[t.ID] = append(before[t.ID], resolved(st, t, t.Spec.Needs)...)
		if t.Spec.Next != nil && t.Item == 0 {
			for _, to := range beside(st, t, t.Spec.Next.Success) {
				before[to] = append(before[to], t.ID)
			}
		}
	}
	if !found {
		return k, false
	}
	for _, id := range before[task] {
		if k.task.Item == 0 && !slices.Contains(k.needs, id) { // an item's were met before it came to be
			k.needs = append(k.needs, id)
		}
	}
	for _, id := range append(resolved(st, k.task, k.task.Spec.Reads()), k.needs...) {
		k.near[id] = true
	}
	for work := slices.Clone(before[task]); len(work) > 0; {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		if !k.upstream[id] {
			k.upstream[id] = true
			work = append(work, before[id]...)
		}
	}
	if k.task.Dormant {
		k.routers = routers(st, task)
	}
	return k, true
}

// resolved turns the ids that a task names into full ones.
func resolved(st *lifecycle.State, t lifecycle.Task, ids []string) []string {
	var out []string
	for _, id := range ids {
		if to, ok := st.Resolve(t.ID, id); ok {
			out = append(out, to.ID)
		}
	}
	return out
}

// beside turns the ids of routes, which lead to tasks of the same group, into full ones.
func beside(st *lifecycle.State, t lifecycle.Task, ids []string) []string {
	var out []string
	for _, id := range ids {
		if t.Parent != "" {
			id = t.Parent + "/" + id
		}
		if _, ok := st.Task(id); ok {
			out = append(out, id)
		}
	}
	return out
}

// routed reports whether a task failed and that led to another: one of those that wait for its failure was woken.
func routed(st *lifecycle.State, t lifecycle.Task) bool {
	if t.Status != lifecycle.FailedTask || t.Spec == nil || t.Spec.Next == nil {
		return false
	}
	for _, id := range beside(st, t, t.Spec.Next.Failure) {
		if to, ok := st.Task(id); ok && !to.Dormant {
			return true
		}
	}
	return false
}

// routers lists what may lead to a task, and when.
func routers(st *lifecycle.State, task string) []string {
	var out []string
	for t := range st.Tasks() {
		if t.Item > 0 {
			continue
		}
		for _, m := range t.Spec.Failure {
			if slices.Contains(beside(st, t, []string{m.Recover}), task) {
				out = append(out, plain(t.ID)+" fails as "+plain(m.Name))
			}
		}
		if t.Spec.Next != nil && slices.Contains(beside(st, t, t.Spec.Next.Failure), task) {
			out = append(out, plain(t.ID)+" fails")
		}
	}
	return out
}

func oneOf(cases []string) string { return strings.Join(cases, " or ") }

// conclude tells where the task stands, where no record has the last word.
func (t *teller) conclude() {
	now := func(text string) { t.out = append(t.out, Sentence{Text: sentence("", text)}) }
	k := t.task
	switch shown(k) {
	case Blocked:
		now("it cannot run: " + plain(k.Blocked) + " failed; see: cairn why " + quote(t.st.Name) + " " + quote(k.Blocked))
	case lifecycle.Pending:
		now("it has not run: " + t.pending())
	case lifecycle.Ready:
		s := "it is ready and waits for a free worker"
		if len(k.Spec.Locks) > 0 {
			s += " and for " + list(plains(k.Spec.Locks)) + " to be free"
		}
		now(s)
	case lifecycle.Running:
		if !k.Group {
			now("attempt " + strconv.Itoa(k.Attempt) + " is under way")
			return
		}
		now("so far " + t.inside() + " are done")
	case lifecycle.Waiting:
		now(t.waiting())
	case lifecycle.RolledBack:
		if !t.undone {
			now("it was rolled back: it had done nothing that had to be undone")
		}
	case lifecycle.Skipped:
		if !t.over {
			now("it was skipped together with " + plain(k.Parent) + "; see: cairn why " + quote(t.st.Name) + " " + quote(k.Parent))
		}
	}
}

func (t *teller) inside() string {
	done, total := 0, 0
	for c := range t.st.Children(t.task.ID) {
		total++
		if c.Status == lifecycle.Completed || c.Status == lifecycle.Skipped {
			done++
		}
	}
	return number(done) + " of its " + plural(total, "task")
}

// pending says what keeps a task from starting.
func (t *teller) pending() string {
	switch t.st.Phase {
	case lifecycle.PlanPending:
		return "the plan was not started; start it with: cairn resume " + quote(t.st.Name)
	case lifecycle.PlanIsPaused:
		return "the plan is paused; go on with: cairn resume " + quote(t.st.Name)
	}
	if t.task.Dormant {
		return "it runs only if " + oneOf(t.routers)
	}
	var open []string
	for _, id := range t.needs {
		if n, ok := t.st.Task(id); ok && !done(n.Status) {
			n.Blocked = t.blocked[id]
			open = append(open, plain(id)+" ("+stands(n)+")")
		}
	}
	if len(open) == 0 && t.task.Parent != "" {
		if g, ok := t.st.Task(t.task.Parent); ok && g.Status != lifecycle.Running {
			open = append(open, plain(g.ID)+" ("+stands(g)+")")
		}
	}
	if len(open) == 0 {
		return "whether it may is being worked out"
	}
	return "it waits for " + few(open, 6)
}

// stands says where a task stands, in a word or two.
func stands(t lifecycle.Task) string {
	if a := asked(t); a != "" {
		return "waits for " + a
	}
	if t.Status == lifecycle.Pending && t.Spec.Kind == plan.Gate {
		return "a gate that has not opened"
	}
	if shown(t) == Blocked {
		return "blocked by " + plain(t.Blocked)
	}
	return said(t.Status)
}

func (t *teller) waiting() string {
	k := t.task
	switch k.Wait {
	case lifecycle.ForTimer:
		return "retry " + strconv.Itoa(k.Retries) + " is due at " + Time(k.Due)
	case lifecycle.ForRecovery:
		return "it waits for its recovery"
	}
	return "it waits for " + asked(k) + "; answer with: " + answers(t.st.Name, k)[0]
}
