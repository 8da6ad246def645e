package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/store/disk"
	"github.com/cairn-plan/cairn/internal/store/sqlite"
)

// desk is a home with the real stores and the real law, on which runs are written down fact by fact.
type desk struct {
	testing.TB
	dir    string
	store  *sqlite.Store
	blobs  *disk.Store
	sealer *audit.Sealer
	now    time.Time
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	d := &desk{TB: t, dir: t.TempDir(), now: time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)}
	var err error
	if d.store, err = sqlite.Open(context.Background(), d.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.store.Close() })
	if d.blobs, err = disk.Open(d.dir); err != nil {
		t.Fatal(err)
	}
	key, err := audit.LoadKey(audit.KeyPath(d.dir))
	if err != nil {
		t.Fatal(err)
	}
	d.sealer = audit.NewSealer(d.store, key, audit.HeadPath(d.dir), func() time.Time { return d.now })
	return d
}

// home is the desk as whoever proves something sees it.
func (d *desk) home() audit.Home {
	d.Helper()
	v, err := audit.LoadVerifier(audit.KeyPath(d.dir))
	if err != nil {
		d.Fatal(err)
	}
	return audit.Home{Journal: d.store, Artifacts: d.blobs, Ledger: d.store, Verifier: v, HeadCopy: audit.HeadPath(d.dir),
		Sealer: func() (*audit.Sealer, error) { return d.sealer, nil }}
}

func (d *desk) seal() {
	d.Helper()
	if err := d.sealer.Seal(context.Background()); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) rotate(why string) audit.Handover {
	d.Helper()
	h, err := d.sealer.Rotate(context.Background(), why)
	if err != nil {
		d.Fatal(err)
	}
	return h
}

func (d *desk) receipt(name string) []byte {
	d.Helper()
	file, err := audit.Receipt(context.Background(), d.home(), name)
	if err != nil {
		d.Fatal(err)
	}
	return file
}

// run is a plan on the desk.
type run struct {
	*desk
	state *lifecycle.State
	head  journal.Head
	held  []journal.Entry // not written yet
	hold  bool
}

// together writes all that f records at once: waiting for the disk after each of many facts proves nothing.
func (r *run) together(f func()) {
	r.Helper()
	r.hold = true
	f()
	r.hold = false
	if err := r.store.Append(context.Background(), r.held); err != nil {
		r.Fatal(err)
	}
	r.held = nil
}

// file stores the text of a plan.
func (d *desk) file(text string) (*plan.Plan, artifact.Blob) {
	d.Helper()
	p, faults := plan.Read("plan.yaml", []byte(text), plan.Options{})
	if err := faults.Err(); err != nil {
		d.Fatal(err)
	}
	spec, err := p.Encode()
	if err != nil {
		d.Fatal(err)
	}
	blob, err := d.blobs.Put(context.Background(), bytes.NewReader(spec))
	if err != nil {
		d.Fatal(err)
	}
	return p, blob
}

func (d *desk) submit(text string) *run {
	d.Helper()
	p, blob := d.file(text)
	r := &run{desk: d, state: lifecycle.New(p.Name)}
	f := lifecycle.Fact{Kind: lifecycle.PlanSubmitted, Actor: "person:ann", Time: d.now, Body: &lifecycle.Submitted{Spec: blob.ID, Size: blob.Size,
		Title: p.Title, Tasks: len(p.Tasks), Capabilities: map[string]lifecycle.Installed{"shell": {Version: "1.0.0", Repeat: "repeatable"}}}}
	derived, err := r.state.Submit(f, p)
	if err != nil {
		d.Fatal(err)
	}
	r.write(f, derived)
	r.take("", lifecycle.PlanStarted, "", &lifecycle.Session{Epoch: 1})
	return r
}

// take steps a run by a fact of an actor, or of the engine.
func (r *run) take(actor string, kind journal.Kind, task string, body any) {
	r.Helper()
	r.now = r.now.Add(time.Second)
	f := lifecycle.Fact{Kind: kind, Task: task, Time: r.now, Actor: actor, Body: body}
	if actor == "" {
		f.Actor = lifecycle.Engine
	}
	if t, ok := r.state.Task(task); ok && kind == lifecycle.TaskEnded {
		f.Attempt = t.Attempt
	}
	derived, err := r.state.Take(f)
	if err != nil {
		r.Fatal(err)
	}
	r.write(f, derived)
}

func (r *run) write(f lifecycle.Fact, derived []lifecycle.Derived) {
	r.Helper()
	body, err := f.Encode()
	if err != nil {
		r.Fatal(err)
	}
	var entries []journal.Entry
	add := func(rec journal.Record) {
		e := journal.Seal(rec, r.head)
		r.head = e.Head()
		entries = append(entries, e)
	}
	add(journal.Record{Plan: r.state.Name, Rev: r.state.Rev, Kind: f.Kind, Time: f.Time, Actor: f.Actor, Task: f.Task, Attempt: f.Attempt, Body: body})
	cause := r.head.Seq
	for _, d := range derived {
		add(journal.Record{Plan: r.state.Name, Rev: r.state.Rev, Kind: d.Kind, Time: f.Time, Actor: lifecycle.Engine, Cause: cause, Task: d.Task, Attempt: d.Attempt, Body: d.Body})
	}
	if r.hold {
		r.held = append(r.held, entries...)
	} else if err := r.store.Append(context.Background(), entries); err != nil {
		r.Fatal(err)
	}
}

func (r *run) end(task, stdout string) {
	r.Helper()
	out, err := json.Marshal(stdout)
	if err != nil {
		r.Fatal(err)
	}
	r.take("", lifecycle.TaskEnded, task, &lifecycle.Ended{Outcome: lifecycle.Succeeded, Outputs: map[string]json.RawMessage{"stdout": out}})
}

const release = `
plan: release
title: Release <1.0> & more
goal: {objective: "ship it, étape 1"}
tasks:
  - {id: build, uses: shell, run: make}
  - {id: agree, kind: gate, needs: [build]}
  - {id: ship, uses: shell, needs: [agree], run: make ship}
`

// released carries the release out, with another plan's records between.
func released(t testing.TB) *desk {
	t.Helper()
	d := newDesk(t)
	r := d.submit(release)
	other := d.submit("plan: other\ntasks: [{id: a, uses: shell, run: 'true'}]\n")
	r.end("build", "built\n")
	other.end("a", "")
	r.take("person:bob", lifecycle.GateDecided, "agree", &lifecycle.Decided{Approved: true, Why: "the diff is <small>"})
	r.end("ship", "out")
	d.seal()
	return d
}

func wantFault(t testing.TB, err error, code fault.Code, words string) {
	t.Helper()
	if !fault.Is(err, code) || !strings.Contains(err.Error(), words) || fault.HintOf(err) == "" {
		t.Fatalf("got %v (remedy %q), want %s: ... %s ...", err, fault.HintOf(err), code, words)
	}
}

// wantFinding demands that a file is not sound, and that a finding says why.
func wantFinding(t testing.TB, file []byte, trust *audit.Trust, words string) {
	t.Helper()
	c, err := audit.Check(file, trust)
	if err != nil {
		t.Fatal(err)
	}
	if c.Sound() || !strings.Contains(strings.Join(c.Findings, "\n"), words) {
		t.Fatalf("findings %q, want: ... %s ...", c.Findings, words)
	}
}

func wantSound(t testing.TB, file []byte, trust *audit.Trust) *audit.Checked {
	t.Helper()
	c, err := audit.Check(file, trust)
	if err != nil || !c.Sound() {
		t.Fatalf("%v %q", err, c.Findings)
	}
	return c
}

func trusting(t testing.TB, text string) *audit.Trust {
	t.Helper()
	k, err := audit.ParseTrust(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}
