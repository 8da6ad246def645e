package audit

import (
	"context"
	"encoding/json"
	"io"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Home is what verification reads.
type Home struct {
	Journal   journal.Store
	Artifacts artifact.Store
	Ledger    Ledger
	Verifier  *Verifier
	HeadCopy  string // path of the newest head's copy
	// Sealer signs. Only receipts and handovers need it.
	Sealer func() (*Sealer, error)
}

// Damage is something wrong with a plan's records. Seq is the record it concerns.
type Damage struct {
	Plan string      `json:"plan"`
	Seq  journal.Seq `json:"seq"`
	Text string      `json:"text"`
}

// PlanReport is what verifying one plan found out.
type PlanReport struct {
	Plan    string              `json:"plan"`
	Records int                 `json:"records"`
	Facts   int                 `json:"facts"`
	Blobs   int                 `json:"artifacts"`
	State   lifecycle.PlanState `json:"state"`
	Head    digest.ID           `json:"head"`
	Hash    digest.ID           `json:"hash"` // of the state
	Damage  []Damage            `json:"damage,omitempty"`
}

// VerifyPlan recomputes every hash of a plan's chain, derives its state again from its facts, and reads every artifact
// that its records name. It lists all that is wrong; an error means that it could not look.
func VerifyPlan(ctx context.Context, h Home, name string) (PlanReport, error) {
	v := &planCheck{home: h, seen: map[digest.ID]bool{}, report: PlanReport{Plan: name}}
	st := lifecycle.New(name)
	v.fold = &lifecycle.Fold{State: st, Spec: func(b *lifecycle.Submitted) (*plan.Plan, error) { return readSpec(ctx, h.Artifacts, b) }}
	for e, err := range h.Journal.Read(ctx, name, 0) {
		if err != nil {
			return v.report, err
		}
		v.entry(ctx, e)
	}
	if v.head.Seq == 0 {
		return v.report, fault.New(fault.NotFound, "there is no plan %s here", name).Remedy("see the plans with: cairn list")
	}
	if v.fold != nil {
		if err := v.fold.Done(); err != nil {
			v.damage(v.head.Seq+1, "%s", err)
		}
	}
	v.report.Head, v.report.State, v.report.Hash = v.head.Hash, st.Phase, st.Hash()
	return v.report, nil
}

func readSpec(ctx context.Context, blobs artifact.Store, b *lifecycle.Submitted) (*plan.Plan, error) {
	raw, err := artifact.ReadAll(ctx, blobs, b.Spec, 1<<30)
	if err != nil {
		return nil, err
	}
	return plan.Decode(raw)
}

type planCheck struct {
	home   Home
	fold   *lifecycle.Fold // nil after the first record that cannot be folded: nothing derived from it would mean anything
	head   journal.Head
	seen   map[digest.ID]bool
	report PlanReport
}

func (v *planCheck) damage(seq journal.Seq, format string, args ...any) {
	f := fault.New(fault.Tampered, format, args...)
	v.report.Damage = append(v.report.Damage, Damage{v.report.Plan, seq, f.Msg})
}

func (v *planCheck) entry(ctx context.Context, e journal.Entry) {
	v.report.Records++
	before := len(v.report.Damage)
	if e.Seq != v.head.Seq+1 {
		v.damage(v.head.Seq+1, "record %d is missing: record %d follows record %d", v.head.Seq+1, e.Seq, v.head.Seq)
	}
	if digest.Sum(e.Bytes) != e.Hash {
		v.damage(e.Seq, "record %d was altered: its content does not fit its hash", e.Seq)
	}
	r, err := journal.Decode(e)
	switch {
	case err != nil:
		v.damage(e.Seq, "record %d cannot be read: it is not in the journal's format", e.Seq)
	case r.Seq != e.Seq || r.Plan != v.report.Plan:
		v.damage(e.Seq, "record %d stands in the wrong place: it says that it is %s#%d", e.Seq, r.Plan, r.Seq)
	case r.Prev != v.head.Hash:
		v.damage(e.Seq, "record %d does not continue record %d", e.Seq, v.head.Seq)
	}
	v.head = e.Head()
	if len(v.report.Damage) > before {
		v.fold = nil
		return
	}
	if lifecycle.IsFact(r.Kind) {
		v.report.Facts++
	}
	if v.fold != nil {
		if err := v.fold.Take(r); err != nil {
			v.damage(e.Seq, "%s", err)
			v.fold = nil
			return
		}
	}
	v.blobs(ctx, r)
}

// blobs reads every artifact that a record names.
func (v *planCheck) blobs(ctx context.Context, r journal.Record) {
	for _, id := range Named(r) {
		if v.seen[id] {
			continue
		}
		v.seen[id] = true
		v.report.Blobs++
		switch err := readThrough(ctx, v.home.Artifacts, id); {
		case err == nil:
		case fault.Is(err, fault.NotFound) && v.fold != nil && v.expiredLater(ctx, id):
		case fault.Is(err, fault.NotFound):
			v.damage(r.Seq, "record %d names artifact %s, which is missing", r.Seq, id.Short())
		case fault.Is(err, fault.Tampered):
			v.damage(r.Seq, "record %d names artifact %s, whose content was altered", r.Seq, id.Short())
		default:
			v.damage(r.Seq, "record %d names artifact %s, which cannot be read: %s", r.Seq, id.Short(), err)
		}
	}
}

// expiredLater reports whether a record excuses a missing blob.
func (v *planCheck) expiredLater(ctx context.Context, id digest.ID) bool {
	for e, err := range v.home.Journal.Read(ctx, v.report.Plan, 0) {
		if err != nil {
			return false
		}
		r, err := journal.Decode(e)
		if err != nil || r.Kind != lifecycle.ArtifactExpired {
			continue
		}
		var b lifecycle.Expired
		if json.Unmarshal(r.Body, &b) == nil && b.Hash == id {
			return true
		}
	}
	return false
}

func readThrough(ctx context.Context, s artifact.Store, id digest.ID) error {
	r, err := s.Open(ctx, id)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err
}

// Named lists the artifacts that a record names.
func Named(r journal.Record) (ids []digest.ID) {
	f, err := lifecycle.FactOf(r)
	if err != nil {
		return nil
	}
	switch b := f.Body.(type) {
	case *lifecycle.Submitted:
		ids = append(ids, b.Spec)
	case *lifecycle.Revised:
		ids = append(ids, b.Spec)
	case *lifecycle.Archived:
		for _, a := range b.Artifacts {
			ids = append(ids, a.Hash)
		}
	case *lifecycle.Carried:
		if !b.Items.IsZero() {
			ids = append(ids, b.Items)
		}
		for _, a := range b.Artifacts {
			ids = append(ids, a.Hash)
		}
	case *lifecycle.Assessed:
		if !b.Items.IsZero() {
			ids = append(ids, b.Items)
		}
	case *lifecycle.Ended:
		for _, a := range b.Artifacts {
			ids = append(ids, a.Hash)
		}
	case *lifecycle.Stored:
		ids = append(ids, b.Hash)
	case *lifecycle.Decided:
		for _, a := range b.Evidence {
			ids = append(ids, a.Hash)
		}
	}
	return ids
}

// Report is what verifying a home found out.
type Report struct {
	Plans []PlanReport `json:"plans"`
	Tree  TreeReport   `json:"tree"`
}

// Sound reports whether nothing is wrong.
func (r Report) Sound() bool {
	for _, p := range r.Plans {
		if len(p.Damage) > 0 {
			return false
		}
	}
	return len(r.Tree.Findings) == 0
}

// Verify verifies the given plans, or all of them, and the tree over the whole home.
func Verify(ctx context.Context, h Home, names ...string) (Report, error) {
	var r Report
	if len(names) == 0 {
		var err error
		if names, err = h.Journal.Plans(ctx); err != nil {
			return r, err
		}
	}
	for _, name := range names {
		p, err := VerifyPlan(ctx, h, name)
		if err != nil {
			return r, err
		}
		r.Plans = append(r.Plans, p)
	}
	var err error
	r.Tree, err = VerifyTree(ctx, h.Ledger, h.Verifier, h.HeadCopy)
	return r, err
}
