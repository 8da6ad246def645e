package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Summary is what a receipt says of a plan. All of it follows from the records and the plan's text, so whoever checks a
// receipt derives it again and compares. The members of version 1 are fixed; what is new in a decision is new in Says.
type Summary struct {
	Plan      string              `json:"plan"`
	Title     string              `json:"title,omitempty"`
	Goal      json.RawMessage     `json:"goal,omitempty"` // as the plan has it
	Spec      digest.ID           `json:"spec"`
	Submitted Act                 `json:"submitted"`
	Revisions []Act               `json:"revisions,omitempty"`
	State     lifecycle.PlanState `json:"state"`
	Hash      digest.ID           `json:"hash"` // of the state
	Records   Range               `json:"records"`
	Decisions []Act               `json:"decisions"`
	Tasks     []TaskLine          `json:"tasks"`
}

// Act is something that somebody did, and the record that tells of it.
type Act struct {
	Record journal.Seq     `json:"record"`
	Kind   journal.Kind    `json:"kind"`
	Task   string          `json:"task,omitempty"`
	By     string          `json:"by"`
	At     time.Time       `json:"at"`
	Says   json.RawMessage `json:"says"` // the record's body
}

// Range is the records that a receipt holds: all there were under its head.
type Range struct {
	First journal.Seq `json:"first"`
	Last  journal.Seq `json:"last"`
	Facts int         `json:"facts"`
	Head  digest.ID   `json:"head"` // hash of the last
}

// TaskLine is where a task stands, and what it left.
type TaskLine struct {
	ID        string           `json:"id"`
	Kind      string           `json:"kind,omitempty"`
	Uses      string           `json:"uses,omitempty"`
	Status    lifecycle.Status `json:"status"`
	Error     string           `json:"error,omitempty"`
	Outputs   digest.ID        `json:"outputs,omitzero"`
	Artifacts []capability.Ref `json:"artifacts,omitempty"`
}

// decides reports whether a record tells of a decision: all that people say at gates, and how they judge criteria.
func decides(k journal.Kind) bool {
	return lifecycle.IsFact(k) && strings.HasPrefix(string(k), "gate.") || k == lifecycle.TaskJudged
}

// history is a plan's records, folded.
type history struct {
	state   *lifecycle.State
	records []journal.Record
	texts   []string // of the plan's revisions, in the order in which the fold wanted them
	head    journal.Head
}

// foldAll derives a plan's state from its records alone. text finds the text of a revision by its hash.
func foldAll(name string, entries []journal.Entry, text func(digest.ID) ([]byte, error)) (*history, error) {
	h := &history{state: lifecycle.New(name)}
	f := &lifecycle.Fold{State: h.state, Spec: func(b *lifecycle.Submitted) (*plan.Plan, error) {
		raw, err := text(b.Spec)
		if err != nil {
			return nil, err
		}
		h.texts = append(h.texts, string(raw))
		return plan.Decode(raw)
	}}
	for _, e := range entries {
		r, err := f.Next(e)
		if err != nil {
			return nil, err
		}
		h.records = append(h.records, r)
	}
	h.head = f.Head
	return h, f.Done()
}

// summarize tells what the records come to.
func (h *history) summarize() (Summary, error) {
	st := h.state
	s := Summary{Plan: st.Name, Spec: st.Spec, State: st.Phase, Hash: st.Hash(), Decisions: []Act{}, Tasks: make([]TaskLine, 0, st.Len())}
	if st.Plan == nil || len(h.records) == 0 {
		return s, fault.New(fault.Tampered, "the records do not begin with a plan")
	}
	var shown struct {
		Goal json.RawMessage `json:"goal"`
	}
	for _, t := range h.texts {
		if digest.Sum([]byte(t)) == st.Spec {
			if err := json.Unmarshal([]byte(t), &shown); err != nil {
				return s, fault.Wrap(fault.Tampered, err, "read the plan's text")
			}
		}
	}
	s.Title, s.Goal = st.Plan.Title, shown.Goal
	s.Submitted = actOf(h.records[0])
	s.Records = Range{First: 1, Last: h.head.Seq, Head: h.head.Hash}
	for _, r := range h.records {
		if lifecycle.IsFact(r.Kind) {
			s.Records.Facts++
		}
		switch {
		case decides(r.Kind):
			s.Decisions = append(s.Decisions, actOf(r))
		case r.Kind == lifecycle.PlanRevised:
			s.Revisions = append(s.Revisions, actOf(r))
		}
	}
	for t := range st.Tasks() {
		line := TaskLine{ID: t.ID, Kind: string(t.Spec.Kind), Uses: t.Spec.Uses, Status: t.Status, Error: t.Error}
		if t.Result != nil {
			line.Outputs, line.Artifacts = t.Result.Hash, t.Result.Artifacts
		}
		s.Tasks = append(s.Tasks, line)
	}
	return s, nil
}

func actOf(r journal.Record) Act {
	says := json.RawMessage("{}")
	if len(r.Body) > 0 {
		says = r.Body
	}
	return Act{Record: r.Seq, Kind: r.Kind, Task: r.Task, By: r.Actor, At: r.Time.UTC(), Says: says}
}

// lines is the summary as a receipt shows it: indented JSON.
func (s Summary) lines() ([]string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "write a summary")
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n"), nil
}

// covered reads the entries of a plan that stand under a head of some size.
func covered(ctx context.Context, h Home, name string, size uint64) (entries []journal.Entry, beyond int, err error) {
	for e, err := range h.Journal.Read(ctx, name, 0) {
		if err != nil {
			return nil, 0, err
		}
		if e.Pos > size {
			beyond++
			continue
		}
		entries = append(entries, e)
	}
	if len(entries)+beyond == 0 {
		return nil, 0, fault.New(fault.NotFound, "there is no plan %s here", name).Remedy("see the plans with: cairn list")
	}
	return entries, beyond, nil
}
