//go:build unix

package assembly_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// consent is a plan with every sort of decision.
const consent = `
plan: consent
env: {CAIRN_TEST_MARK: "MARK"}
inputs: {limit: 1}
policy: {rules: [{name: pays, when: 'task.uses == "ledger.pay"', gate: owner}]}
tasks:
  - {id: draft, uses: shell, run: 'echo limit ${inputs.limit} > draft.txt; echo limit=${inputs.limit} >> "$CAIRN_OUTPUT"', outputs: {limit: number}}
  - {id: agree, kind: gate, needs: [draft], approve: {role: lead, quorum: 2, not: author, evidence: [diff], back: draft, form: {limit: number}}}
  - {id: tested, kind: gate, needs: [draft], uses: shell, run: test -s draft.txt, approve: true}
  - id: checked
    kind: gate
    needs: [draft]
    checks: ['outputs_of.draft.limit == 5']
    failure: [{name: low, recover: mend}]
    approve: {role: owner}
  - {id: mend, uses: shell, run: echo nothing to mend}
  - {id: lent, kind: gate, needs: [draft], approve: {role: owner}}
  - {id: pay, needs: [agree, tested, checked, lent], uses: ledger.pay}
`

// crew is who is who in the tests.
type crew struct{}

func (crew) Roles(actor string) []string {
	return map[string][]string{"person:bob": {"lead"}, "person:kim": {"lead"}, "person:eve": {"owner"}}[actor]
}

func (crew) Trusts() bool { return false }

// agreeing carries a plan out and answers, as people would, whatever it waits for: again and again until it is over. What
// was answered before a death is in the journal, so each answer follows from where the plan stands.
func agreeing(dir, kill string) error {
	ctx := context.Background()
	o := options(dir, kill)
	o.People = crew{}
	h, err := assembly.Open(ctx, o)
	if err != nil {
		return err
	}
	src, err := os.ReadFile(filepath.Join(dir, "plan.yaml"))
	if err != nil {
		return err
	}
	p, faults := plan.Read("plan.yaml", src, plan.Options{Capabilities: h.Capabilities})
	if err := faults.Err(); err != nil {
		return err
	}
	if _, _, err := h.Engine.Load(ctx, p.Name); err != nil {
		if _, err := h.Engine.Submit(ctx, p, "plan.yaml", "person:ann"); err != nil {
			return err
		}
	}
	for {
		r, err := h.Engine.Open(ctx, p.Name)
		if err != nil {
			return err
		}
		if !r.State.Phase.Over() {
			err = (&local.Driver{Poll: 5 * time.Millisecond}).Drive(ctx, r)
		}
		over := r.State.Phase.Over()
		r.Close()
		if err != nil || over {
			return errors.Join(err, h.Close())
		}
		if err := answer(ctx, h.Engine, p.Name); err != nil {
			return err
		}
	}
}

// answer gives the next answer that a plan waits for.
func answer(ctx context.Context, e *engine.Engine, name string) error {
	st, _, err := e.Load(ctx, name)
	if err != nil {
		return err
	}
	waits := func(id string) bool { t, ok := st.Task(id); return ok && t.Wait == lifecycle.ForDecision }
	yes := func(id, by string) error {
		g, _ := st.Gate(id)
		return e.Do(ctx, name, "person:"+by, engine.Command{Name: engine.Approve, Task: id, Why: "fine", Seen: g.Subject.String(), Override: true})
	}
	switch {
	case waits("agree") && st.Answers() == nil:
		return e.Do(ctx, name, "person:bob", engine.Command{Name: engine.Reject, Task: "agree", Why: "more", Back: "draft", Answers: map[string]string{"limit": "4"}})
	case waits("agree"):
		if g, _ := st.Gate("agree"); len(g.Votes) > 0 {
			return yes("agree", "kim")
		}
		return yes("agree", "bob")
	case waits("tested"):
		return yes("tested", "ann")
	case waits("checked"):
		return yes("checked", "eve")
	case waits("lent"):
		if g, _ := st.Gate("lent"); g.Lent == nil {
			return e.Do(ctx, name, "person:eve", engine.Command{Name: engine.Delegate, Task: "lent", To: "person:zoe", Why: "away"})
		}
		return yes("lent", "zoe")
	case waits("pay"):
		return yes("pay", "eve")
	}
	return fmt.Errorf("nobody knows what %s waits for", name)
}

// Decisions survive a death at any record, and nobody is asked twice for the same.
func TestDecisionsKilledAtEveryRecord(t *testing.T) {
	const env = "CAIRN_TEST_CONSENT=1"
	dir := folder(t, consent)
	if life(t, dir, "", env) {
		t.Fatal("it was killed")
	}
	want := judge(t, dir)
	if want.state != "completed" {
		t.Fatalf("undisturbed it is %s", want.state)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "draft.txt")); err != nil || string(b) != "limit 4\n" {
		t.Fatalf("%s, %v", b, err)
	}
	t.Logf("%d records", want.records)
	step := 1
	if underRace {
		step = 3 // the law's part of it is tried in every order by its own tests
	}
	for n := 1; n <= want.records; n += step {
		for _, when := range moments() {
			t.Run(fmt.Sprintf("%s-%d", when, n), func(t *testing.T) {
				t.Parallel()
				dir := folder(t, consent)
				if !life(t, dir, fmt.Sprintf("%s %d", when, n), env) {
					return
				}
				orphans(t, dir)
				life(t, dir, "", env)
				if got := judge(t, dir); got.hash != want.hash {
					t.Errorf("it comes to %s, %s instead of %s", got.state, got.hash, want.hash)
				}
			})
		}
	}
}

// opened brings a plan to where it waits for people.
func opened(t *testing.T, text string) (*assembly.House, string) {
	t.Helper()
	dir := folder(t, text)
	o := options(dir, "")
	o.People = crew{}
	h, err := assembly.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	p, faults := plan.Read("plan.yaml", []byte(text), plan.Options{Capabilities: h.Capabilities})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	name, err := h.Engine.Submit(t.Context(), p, "plan.yaml", "person:ann")
	if err != nil {
		t.Fatal(err)
	}
	carryOn(t, h, name)
	return h, name
}

func carryOn(t *testing.T, h *assembly.House, name string) {
	t.Helper()
	r, err := h.Engine.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := (&local.Driver{Poll: 5 * time.Millisecond}).Drive(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// Of two who decide at once one wins, the other is told so, and both are on record.
func TestTwoApprovalsRace(t *testing.T) {
	h, name := opened(t, "plan: race\ntasks: [{id: g, kind: gate, approve: {role: lead}}, {id: other, kind: gate}, {id: a, uses: noop, needs: [g]}, {id: b, uses: noop, needs: [other]}]")
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i, by := range []string{"bob", "kim"} {
		wg.Go(func() {
			errs[i] = h.Engine.Do(context.Background(), name, "person:"+by, engine.Command{Name: engine.Approve, Task: "g", Why: by})
		})
	}
	wg.Wait()
	lost := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if lost < 0 || errs[1-lost] != nil || !fault.Is(errs[lost], fault.Conflict) || !strings.Contains(errs[lost].Error(), "approved by person:") {
		t.Fatalf("%v", errs)
	}
	decisions := 0
	for r, err := range h.Engine.Records(t.Context(), name, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == lifecycle.GateDecided {
			decisions++
		}
	}
	if decisions != 2 {
		t.Errorf("%d decisions are on record", decisions)
	}
	carryOn(t, h, name)
	st, _, err := h.Engine.Load(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := st.Task("a")
	b, _ := st.Task("b")
	if a.Status != lifecycle.Completed || b.Status != lifecycle.Pending {
		t.Errorf("a is %s, b is %s", a.Status, b.Status)
	}
}

// The author cannot let their own plan through, whichever way they try.
func TestSeparationOfDuties(t *testing.T) {
	h, name := opened(t, "plan: duties\ntasks: [{id: g, kind: gate, approve: {not: author}}, {id: a, uses: noop, needs: [g]}]")
	do := func(actor string, c engine.Command) error {
		c.Task, c.Why = "g", "me"
		return h.Engine.Do(t.Context(), name, actor, c)
	}
	for way, c := range map[string]struct {
		actor string
		engine.Command
		code fault.Code
	}{
		"approve":            {"person:ann", engine.Command{Name: engine.Approve}, fault.Denied},
		"under another name": {"person:bob by person:ann", engine.Command{Name: engine.Approve}, fault.Denied},
		"named by another":   {"person:ann by person:bob", engine.Command{Name: engine.Approve}, fault.Denied},
		"override":           {"person:ann", engine.Command{Name: engine.Approve, Override: true}, fault.Denied},
		"handed on to them":  {"person:bob", engine.Command{Name: engine.Delegate, To: "person:ann"}, fault.Denied},
		"handed on by them":  {"person:ann", engine.Command{Name: engine.Delegate, To: "person:zoe"}, fault.Denied},
		"complete":           {"person:ann", engine.Command{Name: engine.Complete}, fault.Conflict},
		"retry":              {"person:ann", engine.Command{Name: engine.Retry}, fault.Conflict},
	} {
		if err := do(c.actor, c.Command); !fault.Is(err, c.code) {
			t.Errorf("%s: %v", way, err)
		}
	}
	r, err := h.Engine.Open(t.Context(), name) // while somebody holds the plan, commands come by mail
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := r.Yes("g", "person:ann"); ok {
		t.Errorf("--yes decides: %+v", f)
	}
	if _, err := r.FactFor(engine.Command{Name: engine.Approve, Task: "g"}, "person:ann"); !fault.Is(err, fault.Denied) {
		t.Errorf("by mail: %v", err)
	}
	r.Close()
	if err := do("person:zoe", engine.Command{Name: engine.Approve}); err != nil {
		t.Error("anybody else may:", err)
	}
}
