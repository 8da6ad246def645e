package rehearsal

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/cairn-plan/cairn/internal/plan"
)

// Report is what a plan came to, over all of its rehearsals. Shares are of all rehearsals, from 0 to 1; times are means
// over all of them, unless they say otherwise.
type Report struct {
	Plan       string    `json:"plan"`
	Times      int       `json:"times"`
	Seed       uint64    `json:"seed"`
	Start      string    `json:"start,omitempty"` // RFC 3339
	Completed  float64   `json:"completed"`
	Failed     float64   `json:"failed,omitempty"`
	Unfinished float64   `json:"unfinished,omitempty"` // it waited for something that no rehearsal gives
	Finish     *Finish   `json:"finish,omitempty"`     // of those that were completed
	Cost       []Cost    `json:"cost,omitempty"`       // of all
	Short      float64   `json:"short,omitempty"`      // somebody was asked to raise a budget
	InTime     *float64  `json:"inTime,omitempty"`     // completed by the deadline of the goal
	Workers    Workers   `json:"workers"`
	Path       []string  `json:"path"`              // tasks that were on the critical path, the longest on it first
	Holds      []Hold    `json:"holds,omitempty"`   // tasks that waited for people, the longest on the critical path first
	People     []Person  `json:"people,omitempty"`  // who answered, likewise
	Failing    []string  `json:"failing,omitempty"` // tasks that failed for good, the most frequent first
	Stuck      []string  `json:"stuck,omitempty"`   // tasks that unfinished rehearsals waited for
	Tasks      []Task    `json:"tasks"`             // in the order of the plan
	Assumed    []Assumed `json:"assumed,omitempty"` // what was neither written nor learned
}

// Finish is how long after its start a plan is completed.
type Finish struct {
	P50     plan.Duration `json:"p50"`
	P90     plan.Duration `json:"p90"`
	Worst   plan.Duration `json:"worst"`
	P50At   string        `json:"p50At,omitempty"` // RFC 3339, where the start is a date
	P90At   string        `json:"p90At,omitempty"`
	WorstAt string        `json:"worstAt,omitempty"`
}

// Cost is what all attempts cost together.
type Cost struct {
	P50   plan.Money `json:"p50"`
	P90   plan.Money `json:"p90"`
	Worst plan.Money `json:"worst"`
}

// Workers is how many there are and how much of their time they were busy.
type Workers struct {
	Count int     `json:"count"`
	Busy  float64 `json:"busy"`
}

// Hold is a task that waited for people.
type Hold struct {
	Task   string        `json:"task"`
	Who    []string      `json:"who"`
	Path   plan.Duration `json:"path"`   // as part of the critical path
	Waited plan.Duration `json:"waited"` // in all
}

// Person is somebody who was asked.
type Person struct {
	Who     string        `json:"who"`
	Answers float64       `json:"answers"` // a rehearsal
	Path    plan.Duration `json:"path"`
}

// Task is what was seen of one task.
type Task struct {
	Task     string        `json:"task"`
	Basis    Basis         `json:"basis,omitempty"` // absent: it takes no time of its own
	Known    int           `json:"known,omitempty"` // past attempts that the duration was learned from
	Median   plan.Duration `json:"median,omitzero"`
	Fault    float64       `json:"fault,omitempty"`  // likelihood that an attempt fails
	OnPath   float64       `json:"onPath"`           // share of rehearsals in which it was on the critical path
	Path     plan.Duration `json:"path,omitzero"`    // its part of the critical path
	Attempts float64       `json:"attempts"`         // a rehearsal
	Bad      float64       `json:"bad,omitempty"`    // share of its attempts that failed
	Failed   float64       `json:"failed,omitempty"` // share of rehearsals in which it failed for good
}

// Assumed is one thing that was taken for granted, and for which tasks.
type Assumed struct {
	Says  string   `json:"says"`
	Tasks []string `json:"tasks"`
}

func (t *tally) report(dated bool) *Report {
	r := &Report{Plan: t.plan.Name, Times: t.times, Seed: t.Seed, Completed: t.share(len(t.finished)), Failed: t.share(t.failed),
		Unfinished: t.share(t.unfinished), Short: t.share(t.short), Path: []string{}}
	if dated {
		r.Start = t.Start.Format(time.RFC3339)
	}
	if t.hasDue && dated {
		share := t.share(t.inTime)
		r.InTime = &share
	}
	r.Finish = t.finish(dated)
	for c, name := range t.currency {
		slices.Sort(t.cost[c])
		of := func(q float64) plan.Money { return plan.Money{Micro: quantile(t.cost[c], q), Currency: name} }
		r.Cost = append(r.Cost, Cost{of(0.5), of(0.9), of(1)})
	}
	r.Workers.Count = t.workers
	if t.elapsed > 0 {
		r.Workers.Busy = round(float64(t.busy/t.elapsed) / float64(t.workers))
	}
	t.tasks(r)
	for _, says := range assumptions {
		if len(t.assumed[says]) > 0 {
			r.Assumed = append(r.Assumed, Assumed{says, t.assumed[says]})
		}
	}
	return r
}

func (t *tally) finish(dated bool) *Finish {
	if len(t.finished) == 0 {
		return nil
	}
	slices.Sort(t.finished)
	of := func(q float64) time.Duration { return quantile(t.finished, q) }
	f := &Finish{P50: short(of(0.5)), P90: short(of(0.9)), Worst: short(of(1))}
	if dated {
		at := func(q float64) string { return t.Start.Add(of(q)).Format(time.RFC3339) }
		f.P50At, f.P90At, f.WorstAt = at(0.5), at(0.9), at(1)
	}
	return f
}

func (t *tally) tasks(r *Report) {
	for i, p := range t.script.parts {
		s := &t.parts[i]
		v := Task{Task: p.id, Basis: p.basis, Median: short(p.takes.median), Fault: round(p.fails), OnPath: t.share(s.onPath),
			Path: t.mean(s.path), Attempts: round(float64(s.attempts) / float64(t.times)), Failed: t.share(s.failed)}
		if s.attempts > 0 {
			v.Bad = round(float64(s.bad) / float64(s.attempts))
		}
		if known := t.History.task(p.id, p.spec.Uses); p.basis == Learned {
			v.Known = len(known.took)
		}
		r.Tasks = append(r.Tasks, v)
		if s.stuck > 0 {
			r.Stuck = append(r.Stuck, p.id)
		}
		if s.waited > 0 {
			r.Holds = append(r.Holds, Hold{p.id, t.whom(p), t.mean(s.held), t.mean(s.waited)})
		}
	}
	for i, who := range t.script.people {
		if s := t.people[i]; s.answers > 0 {
			r.People = append(r.People, Person{who, round(float64(s.answers) / float64(t.times)), t.mean(s.held)})
		}
	}
	by := slices.Clone(r.Tasks)
	slices.SortStableFunc(by, func(a, b Task) int { return cmp.Compare(b.Path, a.Path) })
	for _, v := range by {
		if v.OnPath > 0 {
			r.Path = append(r.Path, v.Task)
		}
	}
	slices.SortStableFunc(by, func(a, b Task) int { return cmp.Compare(b.Failed, a.Failed) })
	for _, v := range by {
		if v.Failed > 0 {
			r.Failing = append(r.Failing, v.Task)
		}
	}
	slices.SortStableFunc(r.Holds, func(a, b Hold) int { return cmp.Or(cmp.Compare(b.Path, a.Path), cmp.Compare(b.Waited, a.Waited)) })
	slices.SortStableFunc(r.People, func(a, b Person) int { return cmp.Compare(b.Path, a.Path) })
}

// whom a task waits for: those who may let it go on, else those who do or judge it.
func (t *tally) whom(p *part) (names []string) {
	crews := []*crew{}
	for _, d := range p.demands {
		for _, role := range d.Roles {
			crews = append(crews, t.crew(role, d.Quorum))
		}
	}
	if len(crews) == 0 {
		crews = append(crews, p.owner)
	}
	for _, c := range crews {
		for _, i := range c.who {
			if !slices.Contains(names, t.script.people[i]) {
				names = append(names, t.script.people[i])
			}
		}
	}
	return names
}

func (t *tally) share(n int) float64 { return round(float64(n) / float64(t.times)) }

func (t *tally) mean(of sum) plan.Duration { return short(time.Duration(of / sum(t.times))) }

// short leaves out what nobody would believe: below a millisecond, and from a minute on below a second.
func short(d time.Duration) plan.Duration {
	if d >= time.Minute {
		return plan.Duration(d.Round(time.Second))
	}
	return plan.Duration(d.Round(time.Millisecond))
}

// round keeps four decimals.
func round(f float64) float64 { return math.Round(f*10_000) / 10_000 }

// quantile is the smallest value that a share q of all does not exceed.
func quantile[V any](sorted []V, q float64) V {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// due is when the goal has to be reached, on the virtual clock. A date is meant until its end.
func (sc *script) due() (span, bool) {
	if sc.plan.Goal == nil || sc.plan.Goal.Deadline == "" {
		return 0, false
	}
	if at, err := time.Parse(time.RFC3339, sc.plan.Goal.Deadline); err == nil {
		return span(at.Sub(sc.midnight)), true
	}
	at, err := time.ParseInLocation(time.DateOnly, sc.plan.Goal.Deadline, sc.Start.Location())
	return span(at.AddDate(0, 0, 1).Sub(sc.midnight)), err == nil
}
