package view

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/gate"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// Digest is what somebody who was away has to know: what waits, what is due next, and what was decided meanwhile.
type Digest struct {
	Now     time.Time  `json:"now"`
	Since   time.Time  `json:"since"`
	Asks    []Ask      `json:"asks"`
	Decided []Decision `json:"decided"`
}

// Decision is one thing that people, or their silence, settled.
type Decision struct {
	Plan string    `json:"plan"`
	Task string    `json:"task,omitempty"`
	Time time.Time `json:"time"`
	Who  string    `json:"who,omitempty"`
	Did  string    `json:"did"`
	Why  string    `json:"why,omitempty"`
}

// DecisionOf reads a decision out of a record, if it is one.
func DecisionOf(r journal.Record) (Decision, bool) {
	d := Decision{Plan: r.Plan, Task: r.Task, Time: r.Time, Who: gate.Name(r.Actor)}
	if !lifecycle.IsFact(r.Kind) {
		return d.derived(r)
	}
	if r.Actor == lifecycle.Engine {
		return d, false
	}
	f, err := lifecycle.FactOf(r)
	if err != nil {
		return d, false
	}
	yes := func(ok bool, did, not string) {
		if d.Did = not; ok {
			d.Did = did
		}
	}
	switch b := f.Body.(type) {
	case *lifecycle.Decided:
		d.Why = b.Why
		if yes(b.Approved, "approved", "rejected"); b.Late {
			return d, false
		}
		if b.Back != "" {
			d.Did = "pushed back to " + b.Back
		}
	case *lifecycle.Judged:
		d.Why = b.Why
		yes(b.Accepted, "accepted", "not accepted")
	case *lifecycle.Ended:
		d.Why = b.Error
		yes(b.Outcome == lifecycle.Succeeded, "completed", "failed")
		for _, name := range []string{lifecycle.AnswerOutput, lifecycle.ChoiceOutput} {
			if v, ok := b.Outputs[name]; ok {
				d.Did, d.Why = "answered", words(v)
			}
		}
	case *lifecycle.ReplanVerdict:
		d.Why = b.Why
		yes(b.Accepted, "agreed to what was proposed", "refused what was proposed")
	case *lifecycle.Delegated:
		d.Did, d.Why = "handed on to "+gate.Name(b.To), b.Why
	case *lifecycle.Raised:
		d.Did, d.Why = "budget raised", b.Why
	case *lifecycle.Denied:
		d.Did, d.Why = "budget not raised", b.Why
	case *lifecycle.Reason:
		d.Why = b.Why
		if d.Did = map[journal.Kind]string{lifecycle.PlanCancelled: "cancelled", lifecycle.PlanPaused: "paused"}[r.Kind]; d.Did == "" {
			return d, false
		}
	default:
		return d, false
	}
	return d, true
}

// words is a text, or whatever else stands in its place.
func words(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

// derived tells what followed from people's silence, and how plans ended.
func (d Decision) derived(r journal.Record) (Decision, bool) {
	body, ok := derivedOf(r)
	d.Who = ""
	switch {
	case !ok:
		return d, false
	case r.Kind == lifecycle.PlanEnded:
		d.Did, d.Why = string(body.State), body.Why
	case r.Kind == lifecycle.GateEscalated:
		d.Did = "not decided in time: " + strings.Join(body.To, ", ") + " may decide too"
	default:
		return d, false
	}
	return d, true
}

// Text writes a digest for a mail or a chat.
func (d Digest) Text(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s: %s for people\n", d.Now.Format("2006-01-02 15:04"), waitsFor(len(d.Asks)))
	plans := []string{}
	for _, q := range d.Asks {
		if !slices.Contains(plans, q.Plan) {
			plans = append(plans, q.Plan)
		}
	}
	slices.Sort(plans)
	for _, name := range plans {
		fmt.Fprintf(b, "\n%s\n", plain(name))
		for _, q := range d.Asks {
			if q.Plan == name {
				fmt.Fprintf(b, "  %s: %s\n", plain(q.Task), q.brief(d.Now))
			}
		}
	}
	if q := dueNext(d.Asks); q != nil {
		fmt.Fprintf(b, "\ndue next: %s %s, %s\n", plain(q.Plan), plain(q.Task), clock(q.Due, d.Now))
	}
	if len(d.Decided) > 0 {
		fmt.Fprintf(b, "\nsince %s\n", clock(d.Since, d.Now))
	}
	for _, x := range d.Decided {
		fmt.Fprintf(b, "  %s\n", x.text())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func waitsFor(n int) string {
	switch n {
	case 0:
		return "nothing waits"
	case 1:
		return "1 thing waits"
	}
	return number(n) + " things wait"
}

func (q *Ask) brief(now time.Time) string {
	s := q.stands(now)
	if q.Title != "" {
		return plain(q.Title) + " (" + s + ")"
	}
	if q.Asks != "" {
		return cut(plain(firstLine(q.Asks)), 80) + " (" + s + ")"
	}
	return s
}

// dueNext is what is due first and not overdue.
func dueNext(asks []Ask) *Ask {
	for i := range asks {
		if !asks[i].Due.IsZero() && !asks[i].Overdue {
			return &asks[i]
		}
	}
	return nil
}

func (d Decision) text() string {
	s := plain(d.Plan)
	if d.Task != "" {
		s += " " + plain(d.Task)
	}
	s += ": " + plain(d.Did)
	if d.Who != "" {
		s += " by " + plain(d.Who)
	}
	if d.Why != "" {
		s += ": " + plain(d.Why)
	}
	return s
}
