//go:build unix

package assembly_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// frugal makes eight calls and may make six: it waits for a raise before it ends.
const frugal = `
plan: frugal
policy: {workers: 3, budget: {calls: 6, time: 1h}}
env: {CAIRN_TEST_MARK: "MARK"}
tasks:
  - {id: fan, uses: shell, each: "[1,2,3,4]", run: 'echo ${item} >> calls'}
  - {id: flaky, uses: shell, run: 'echo flaky >> calls; test -e flaky || { touch flaky; exit 1; }', retry: {times: 3, backoff: 1ms..4ms}}
  - id: group
    needs: [fan, flaky]
    budget: {calls: 9}
    subplan:
      - {id: read, uses: file.read, with: {path: flaky}}
      - {id: pay, uses: ledger.pay}
  - {id: done, kind: milestone, needs: [group]}
`

// charged is what a run was charged for, and what it may be.
func charged(t *testing.T, dir string) (a lifecycle.Account) {
	t.Helper()
	var n atomic.Int64
	h := home(t, dir, time.Now, &n)
	st, _, err := h.Engine.Load(t.Context(), "frugal")
	if err != nil {
		t.Fatal(err)
	}
	a, _ = st.Account("")
	if made := made(t, dir); int64(made) > a.Spent.Calls+a.Held.Calls || a.Spent.Calls+a.Held.Calls > a.Limit.Calls {
		t.Errorf("%d calls were made and %d charged, of %d", made, a.Spent.Calls+a.Held.Calls, a.Limit.Calls)
	}
	if a.Waiting > 0 {
		c := engine.Command{Name: engine.Raise, Budget: &budget.Amount{Calls: 9}, Why: "a test"}
		if err := h.Engine.Do(t.Context(), "frugal", "person:ann", c); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// made counts the calls that left a trace.
func made(t *testing.T, dir string) (n int) {
	t.Helper()
	for _, name := range []string{"calls", "ledger"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		n += strings.Count(string(raw), "\n")
	}
	return n
}

// A plan with budgets that is killed at any record never makes a call that it was not charged for, is never charged for more than
// it may spend, and raised comes to the same end.
func TestBudgetsKilledAtEveryRecord(t *testing.T) {
	dir := folder(t, frugal)
	life(t, dir, "")
	if a := charged(t, dir); a.Waiting == 0 || a.Spent.Calls != 6 {
		t.Fatalf("undisturbed it stands at %+v", a)
	}
	life(t, dir, "")
	want := judge(t, dir)
	if want.state != "completed" {
		t.Fatalf("undisturbed and raised it is %s", want.state)
	}
	step := 1
	if underRace || testing.Short() {
		step = 5
	}
	for n := 1; n <= want.records; n += step {
		for _, when := range moments() {
			t.Run(fmt.Sprintf("%s-%d", when, n), func(t *testing.T) {
				t.Parallel()
				dir := folder(t, frugal)
				if !life(t, dir, fmt.Sprintf("%s %d", when, n)) {
					charged(t, dir)
				}
				orphans(t, dir)
				for range 4 {
					life(t, dir, "")
					if a := charged(t, dir); a.Waiting == 0 {
						break
					}
				}
				if got := judge(t, dir); got.hash != want.hash {
					t.Errorf("it comes to %s, %s instead of %s", got.state, got.hash, want.hash)
				}
			})
		}
	}
}
