//go:build unix

package assembly_test

import (
	"fmt"
	"testing"
)

// passing is a plan that fails by something that passes, and then in a way that a person foresaw.
const passing = `
plan: passing
policy: {workers: 2, replan: auto}
env: {CAIRN_TEST_MARK: "MARK"}
tasks:
  - {id: call, uses: shell, run: 'test -e called || { touch called; echo connection refused >&2; exit 1; }'}
  - id: build
    needs: [call]
    uses: shell
    run: test -e room
    failure: [{name: full, detect: there is no room on the disk, recover: tidy}]
  - {id: tidy, uses: shell, run: touch room}
  - {id: pay, uses: ledger.pay, needs: [build]}
`

// A run that tries again by itself is killed at any record, those of its proposals among them, and comes to the same: a
// failure is never durable without what was proposed because of it.
func TestReplanningKilledAtEveryRecord(t *testing.T) {
	dir := folder(t, passing)
	life(t, dir, "")
	want := judge(t, dir)
	if want.state != "completed" {
		t.Fatalf("undisturbed it is %s", want.state)
	}
	step := 1
	if underRace || testing.Short() {
		step = 5
	}
	for n := 1; n <= want.records; n += step {
		for _, when := range moments() {
			t.Run(fmt.Sprintf("%s-%d", when, n), func(t *testing.T) {
				t.Parallel()
				dir := folder(t, passing)
				if !life(t, dir, fmt.Sprintf("%s %d", when, n)) {
					return // this run had fewer records
				}
				orphans(t, dir)
				life(t, dir, "")
				if got := judge(t, dir); got.hash != want.hash {
					t.Errorf("it comes to %s, %s instead of %s", got.state, got.hash, want.hash)
				}
			})
		}
	}
}
