//go:build unix

package assembly_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// editions are the revisions of a plan: work that changes, a fan-out that is kept, one that ranges anew, tasks that go and
// come, something that must not run twice, and a failure that the second revision mends.
var editions = []string{`
plan: revised
policy: {workers: 2}
env: {CAIRN_TEST_MARK: "MARK"}
inputs: {word: one}
tasks:
  - {id: list, uses: shell, run: 'printf "[1,2]"', outputs: {n: {type: list, from: stdout}}}
  - {id: fan, uses: shell, needs: [list], each: "${list.n}", run: 'echo item ${item}'}
  - {id: sum, uses: noop, needs: [fan], with: {outputs: {all: "${fan.stdout}"}}}
  - {id: pay, uses: ledger.pay, needs: [list]}
  - {id: say, uses: shell, needs: [sum], run: 'echo ${inputs.word} >> said'}
  - {id: broken, uses: shell, needs: [sum], run: exit 3}
  - {id: gone, uses: shell, run: echo gone}
`, `
plan: revised
policy: {workers: 2}
env: {CAIRN_TEST_MARK: "MARK"}
inputs: {word: one}
tasks:
  - {id: list, title: Words only, uses: shell, run: 'printf "[1,2]"', outputs: {n: {type: list, from: stdout}}}
  - {id: fan, uses: shell, needs: [list], each: "${list.n}", run: 'echo item ${item}'}
  - {id: sum, uses: noop, needs: [fan], with: {outputs: {all: "${fan.stdout}", more: 1}}}
  - {id: pay, uses: ledger.pay, needs: [list]}
  - {id: say, uses: shell, needs: [sum], run: 'echo ${inputs.word} again >> said'}
  - {id: broken, uses: shell, needs: [sum], run: exit 0}
  - {id: more, needs: [broken], subplan: [{id: a, uses: shell, run: echo a}, {id: b, needs: [a], uses: ledger.pay}]}
`, `
plan: revised
policy: {workers: 3}
env: {CAIRN_TEST_MARK: "MARK"}
inputs: {word: two}
tasks:
  - {id: list, uses: shell, run: 'printf "[1,2,3]"', outputs: {n: {type: list, from: stdout}}}
  - {id: fan, uses: shell, needs: [list], each: "${list.n}", run: 'echo item ${item}'}
  - {id: sum, uses: noop, needs: [fan], with: {outputs: {all: "${fan.stdout}", more: 1}}}
  - {id: pay, uses: ledger.pay, needs: [list]}
  - {id: say, uses: shell, needs: [sum], run: 'echo ${inputs.word} again >> said'}
  - {id: broken, uses: shell, needs: [sum], run: exit 0}
  - {id: more, needs: [broken], subplan: [{id: a, uses: shell, run: echo a}, {id: b, uses: ledger.pay}]}
`}

// revising is the life of an engine that carries a plan out, revises it twice, and carries out a fork of it too.
func revising(dir, kill string) error {
	ctx := context.Background()
	o := options(dir, "")
	o.Journal = func(s journal.Store) journal.Store { return aimed(s, kill) }
	h, err := assembly.Open(ctx, o)
	if err != nil {
		return err
	}
	if err := revised(ctx, h, dir); err != nil {
		return errors.Join(err, h.Close())
	}
	name := "revised-fork"
	if _, _, err := h.Engine.Load(ctx, name); err != nil {
		if _, err := h.Engine.Fork(ctx, engine.Split{Plan: "revised", At: "pay", Inputs: map[string]json.RawMessage{"word": []byte(`"three"`)}}, "person:ann"); err != nil {
			return errors.Join(err, h.Close())
		}
	}
	return errors.Join(toEnd(ctx, h, name), h.Close())
}

func revised(ctx context.Context, h *assembly.House, dir string) error {
	for rev := 1; rev <= len(editions); rev++ {
		p, err := edition(dir, rev)
		if err != nil {
			return err
		}
		st, _, err := h.Engine.Load(ctx, p.Name)
		switch {
		case err != nil:
			if _, err := h.Engine.Submit(ctx, p, "plan.yaml", "person:ann"); err != nil {
				return err
			}
		case st.Rev > rev:
			continue
		case st.Rev < rev:
			f, err := h.Engine.Foresee(ctx, p.Name, p, lifecycle.ByFile, "")
			if err != nil {
				return err
			}
			if err := h.Engine.Revise(ctx, p.Name, "person:ann", f, "a test"); err != nil {
				return err
			}
		}
		if err := toEnd(ctx, h, p.Name); err != nil {
			return err
		}
	}
	return nil
}

func edition(dir string, rev int) (*plan.Plan, error) {
	p, faults := plan.Read("plan.yaml", []byte(strings.ReplaceAll(editions[rev-1], "MARK", filepath.Base(filepath.Dir(dir))+filepath.Base(dir))), plan.Options{})
	return p, faults.Err()
}

func toEnd(ctx context.Context, h *assembly.House, name string) error {
	r, err := h.Engine.Open(ctx, name)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.State.Phase.Over() {
		return nil
	}
	for {
		if err := (&local.Driver{Yes: "person:ann", Poll: 5 * time.Millisecond}).Drive(ctx, r); err != nil || r.State.Phase.Over() {
			return err
		}
		if err := again(ctx, r); err != nil {
			return err
		}
	}
}

// again agrees to doing once more what must not be done twice unasked.
func again(ctx context.Context, r *engine.Run) error {
	for t := range r.State.Tasks() {
		if !t.Twice || t.Wait != lifecycle.ForPerson {
			continue
		}
		f, err := r.FactFor(engine.Command{Name: engine.Retry, Task: t.ID, Why: "its inputs changed"}, "person:ann")
		if err != nil {
			return err
		}
		if _, _, err := r.Step(f); err != nil {
			return err
		}
		return r.Engine().Journal.Append(ctx, r.TakePending())
	}
	return errors.New("it waits, and nobody knows for what")
}

// aimed kills at a record of one plan: "before 12 of PLAN".
func aimed(s journal.Store, kill string) journal.Store {
	var when, name string
	var n int
	if _, err := fmt.Sscanf(kill, "%s %d of %s", &when, &n, &name); err != nil {
		return s
	}
	return &aim{killer{s, when, journal.Seq(n)}, name}
}

type aim struct {
	killer
	plan string
}

func (a *aim) Append(ctx context.Context, es []journal.Entry) error {
	if r, err := journal.Decode(es[0]); err == nil && r.Plan != a.plan {
		return a.Store.Append(ctx, es)
	}
	return a.killer.Append(ctx, es)
}

// both is what the two plans came to, with the proof that they are sound.
func both(t *testing.T, dir string) map[string]outcome {
	t.Helper()
	ctx := context.Background()
	h, err := assembly.Open(ctx, options(dir, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.Seal(ctx); err != nil {
		t.Fatal(err)
	}
	home := proof(t, h)
	if rep, err := audit.Verify(ctx, home); err != nil || !rep.Sound() {
		t.Fatalf("verify: %v\n%+v", err, rep)
	}
	out := map[string]outcome{}
	for _, name := range []string{"revised", "revised-fork"} {
		again, err := audit.Replay(ctx, home, name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = outcome{again.Hash.String(), again.Facts + again.Derived, string(again.State)}
	}
	once(t, dir)
	return out
}

// A run that is revised twice and forked, killed at any record of either plan, goes on and comes to the same.
func TestRevisedAndForkedKilledAtEveryRecord(t *testing.T) {
	const env = "CAIRN_TEST_REVISE=1"
	dir := folder(t, editions[0])
	life(t, dir, "", env)
	want := both(t, dir)
	if want["revised"].state != "completed" || want["revised-fork"].state != "completed" {
		t.Fatalf("undisturbed they are %v", want)
	}
	said, err := os.ReadFile(filepath.Join(dir, "said"))
	if err != nil || string(said) != "one\none again\ntwo again\nthree again\n" {
		t.Fatalf("it said %q: %v", said, err)
	}
	step := 1
	if underRace || testing.Short() {
		step = 7
	}
	for name, o := range want {
		for n := 1; n <= o.records; n += step {
			for _, when := range moments() {
				t.Run(fmt.Sprintf("%s-%s-%d", name, when, n), func(t *testing.T) {
					t.Parallel()
					dir := folder(t, editions[0])
					if !life(t, dir, fmt.Sprintf("%s %d of %s", when, n, name), env) {
						return // this run had fewer records
					}
					orphans(t, dir)
					life(t, dir, "", env)
					got := both(t, dir)
					for k := range want {
						if got[k].hash != want[k].hash {
							t.Errorf("%s comes to %s, %s instead of %s", k, got[k].state, got[k].hash, want[k].hash)
						}
					}
				})
			}
		}
	}
}
