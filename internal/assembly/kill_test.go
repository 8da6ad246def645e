//go:build unix

package assembly_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/runner/process"
	_ "github.com/cairn-plan/cairn/internal/runner/sandbox/entrance" // this binary keeps confined commands too
)

// The tests re-execute this binary: as the supervisor of children, and as an engine that a test kills.
func TestMain(m *testing.M) {
	// Under the race detector every process would sleep a second before it ends.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	if len(os.Args) > 1 && os.Args[1] == process.SupervisorArg {
		os.Exit(process.Supervise())
	}
	if dir := os.Getenv("CAIRN_TEST_ENGINE"); dir != "" {
		if err := carryOut(dir, os.Getenv("CAIRN_TEST_KILL")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv("CAIRN_TEST_REPLAY"); dir != "" {
		if err := replayDenied(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if binaries != "" {
		os.RemoveAll(binaries)
	}
	os.Exit(code)
}

// binaries is where a test binary without the race detector is kept.
var binaries string

// engineBinary is this test binary; under the race detector, which makes hundreds of short lives long, it is built again
// without. What runs at once inside one engine is raced by the tests of the driver.
var engineBinary = sync.OnceValues(func() (string, error) {
	if !underRace {
		return os.Args[0], nil
	}
	var err error
	if binaries, err = os.MkdirTemp("", "cairn-engine-"); err != nil {
		return "", err
	}
	path := filepath.Join(binaries, "engine.test")
	if out, err := exec.Command("go", "test", "-c", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

func engineCommand(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	path, err := engineBinary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path)
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// carryOut is the whole life of an engine: submit the plan of a folder, or find it there, and drive it to its end.
func carryOut(dir, kill string) error {
	if os.Getenv("CAIRN_TEST_CONSENT") != "" {
		return agreeing(dir, kill)
	}
	if os.Getenv("CAIRN_TEST_REVISE") != "" {
		return revising(dir, kill)
	}
	return carryOutFile(dir, "plan.yaml", kill)
}

func carryOutFile(dir, file, kill string) error {
	ctx := context.Background()
	h, err := assembly.Open(ctx, options(dir, kill))
	if err != nil {
		return err
	}
	h.Engine.Agreed = os.Getenv("CAIRN_TEST_AGREED") != ""
	src, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return err
	}
	p, faults := plan.Read(file, src, plan.Options{Capabilities: h.Capabilities})
	if err := faults.Err(); err != nil {
		return err
	}
	if _, _, err := h.Engine.Load(ctx, p.Name); err != nil {
		if _, err := h.Engine.Submit(ctx, p, file, "person:ann"); err != nil {
			return err
		}
	}
	r, err := h.Engine.Open(ctx, p.Name)
	if err != nil {
		return err
	}
	if back := os.Getenv("CAIRN_TEST_ROLLBACK"); back != "" && r.State.Phase != "abandoned" {
		err = (&local.Driver{Begin: func(ctx context.Context, r *engine.Run) ([]engine.Work, error) {
			return r.Rollback(ctx, "", "a test", "person:ann")
		}}).Drive(ctx, r)
	} else if !r.State.Phase.Over() {
		sealing, stop := context.WithCancel(ctx)
		var wg sync.WaitGroup
		wg.Go(func() { _ = h.Sealing(sealing) })
		err = (&local.Driver{Yes: "person:ann", Poll: 5 * time.Millisecond}).Drive(ctx, r)
		stop()
		wg.Wait()
	}
	r.Close()
	return errors.Join(err, h.Close())
}

func options(dir, kill string) assembly.Options {
	return assembly.Options{Home: filepath.Join(dir, ".cairn"), Root: dir, Version: "test", Extend: ledger(dir), Models: testModels(),
		Journal: func(s journal.Store) journal.Store {
			when, at, ok := strings.Cut(kill, " ")
			if !ok {
				return s
			}
			n, err := strconv.Atoi(at)
			if err != nil {
				panic(err)
			}
			return &killer{s, when, journal.Seq(n)}
		}}
}

// killer ends the process, as kill -9 would, just before or just after a record becomes durable.
type killer struct {
	journal.Store
	when string
	at   journal.Seq
}

func (k *killer) Append(ctx context.Context, es []journal.Entry) error {
	here := es[0].Seq <= k.at && k.at <= es[len(es)-1].Seq
	if here && k.when == "before" {
		die()
	}
	err := k.Store.Append(ctx, es)
	if here {
		die()
	}
	return err
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// ledger adds a capability that must not run twice: it writes a line, and can tell whether the line is there.
func ledger(dir string) func(*capability.Registry) error {
	return func(r *capability.Registry) error {
		c := capability.Contract{ID: "ledger.pay", Version: "1", Summary: "Write a line, once", Repeat: capability.Once,
			Inputs: json.RawMessage(`{"type":"object"}`), Outputs: json.RawMessage(`{"type":"object"}`)}
		return r.Add(c, book{filepath.Join(dir, "ledger")})
	}
}

type book struct{ path string }

func (b book) Run(_ context.Context, c capability.Call) (capability.Result, error) {
	f, err := os.OpenFile(b.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return capability.Result{}, err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, c.Task, c.Key)
	return receipt(c), err
}

func (b book) Probe(_ context.Context, c capability.Call) (capability.Result, bool, error) {
	raw, err := os.ReadFile(b.path)
	if err != nil && !os.IsNotExist(err) {
		return capability.Result{}, false, err
	}
	return receipt(c), strings.Contains(string(raw), c.Key.String()), nil
}

func receipt(c capability.Call) capability.Result {
	return capability.Result{Outputs: map[string]json.RawMessage{"receipt": json.RawMessage(strconv.Quote(c.Key.Short()))}}
}

// everything is a plan with every feature that leaves a record.
const everything = `
plan: everything
policy: {workers: 4}
env: {CAIRN_TEST_MARK: "MARK"}
inputs: {greeting: hello}
tasks:
  - {id: list, uses: shell, run: 'printf "[1,2,3]"', outputs: {n: {type: list, from: stdout}}}
  - {id: fan, uses: shell, needs: [list], each: "${list.n}", run: 'echo item ${item} ${inputs.greeting}'}
  - {id: sum, uses: noop, needs: [fan], with: {outputs: {all: "${fan.stdout}"}}, expect: ["size(outputs.all) == 3"]}
  - {id: big, uses: shell, run: 'head -c 9000 /dev/zero | tr "\0" x'}
  - {id: file, uses: file.write, with: {path: out/note.txt, text: "hello\n"}}
  - {id: back, uses: file.read, needs: [file], with: {path: out/note.txt}}
  - {id: flaky, uses: shell, run: 'test -e flaky || { touch flaky; exit 1; }', retry: {times: 3, backoff: 1ms..4ms}}
  - id: broken
    uses: shell
    run: 'test -e fixed || { echo no such thing >&2; exit 4; }'
    failure: [{name: unfixed, detect: 'exit == 4 && stderr.contains("no such")', recover: fix}]
  - {id: fix, uses: shell, run: touch fixed}
  - {id: spare, uses: shell, run: "false"}
  - {id: routed, uses: shell, run: exit 3, next: {success: [spare], failure: [detour]}}
  - {id: detour, uses: shell, run: echo detour}
  - {id: unless, uses: shell, when: 'outputs_of.list.n[0] == 7', needs: [list], run: "false"}
  - {id: reader, uses: shell, needs: [unless], run: 'echo ${unless.stdout}'}
  - id: sub
    needs: [file]
    subplan:
      - {id: one, uses: shell, run: sleep 0.02, locks: [db]}
      - {id: two, uses: ledger.pay, needs: [one]}
  - {id: pay, uses: ledger.pay, locks: [db]}
  - {id: pays, uses: ledger.pay, each: "[1,2]", expect: ['outputs.receipt != ""']}
  - {id: piped, needs: [file], run: 'file.read(path="out/note.txt") -> text; noop(outputs=text) -> y'}
  - {id: read, title: A person reads it, needs: [back]}
  - {id: gate, kind: gate, needs: [read], checks: ['outputs_of.back.text == "hello\n"', looks right]}
  - {id: good, uses: shell, needs: [gate], run: echo good, expect: [{judge: it is good}]}
  - {id: done, kind: milestone, needs: [good, sum, sub, pay, pays, broken, flaky, big, detour, piped]}
`

// life runs an engine on a folder, to its end or to its death.
func life(t *testing.T, dir, kill string, env ...string) (killed bool) {
	t.Helper()
	cmd := engineCommand(t, append([]string{"CAIRN_TEST_ENGINE=" + dir, "CAIRN_TEST_KILL=" + kill}, env...)...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

func folder(t *testing.T, text string) string {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "k")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(strings.ReplaceAll(text, "MARK", filepath.Base(filepath.Dir(dir))+filepath.Base(dir))), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// outcome is what a run came to, with the proof that it is sound.
type outcome struct {
	hash    string
	records int
	state   string
}

func judge(t *testing.T, dir string) outcome {
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
	names, err := h.Store.Plans(ctx)
	if err != nil || len(names) != 1 {
		t.Fatalf("plans %v: %v", names, err)
	}
	home := proof(t, h)
	rep, err := audit.Verify(ctx, home)
	if err != nil || !rep.Sound() {
		t.Fatalf("verify: %v\n%+v", err, rep)
	}
	again, err := audit.Replay(ctx, home, names[0])
	if err != nil || again.Head != rep.Plans[0].Head {
		t.Fatalf("replay: %v", err)
	}
	once(t, dir)
	return outcome{again.Hash.String(), again.Facts + again.Derived, string(again.State)}
}

// once checks that nothing that must not happen twice did.
func once(t *testing.T, dir string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "ledger"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, line := range strings.Fields(strings.ReplaceAll(string(raw), " ", "_")) {
		if seen[line] {
			t.Errorf("%s happened twice", line)
		}
		seen[line] = true
	}
}

// orphans finds processes that belong to a folder's plan and waits for them to end.
func orphans(t *testing.T, dir string) {
	t.Helper()
	mark := []byte("CAIRN_TEST_MARK=" + filepath.Base(filepath.Dir(dir)) + filepath.Base(dir))
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		left := ""
		files, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if env, err := os.ReadFile(f); err == nil && strings.Contains(string(env), string(mark)) {
				left = f
			}
		}
		if left == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s outlived its engine", left)
		}
	}
}

// moments are when a process is killed: on either side of each record. Under the race detector, which makes every
// process several times slower, one side has to do: before a record is after the one before it.
func moments() []string {
	if underRace {
		return []string{"after"}
	}
	return []string{"before", "after"}
}

func TestKilledAtEveryRecord(t *testing.T) {
	dir := folder(t, everything)
	if life(t, dir, "") {
		t.Fatal("it was killed")
	}
	want := judge(t, dir)
	if want.state != "completed" {
		t.Fatalf("undisturbed it is %s", want.state)
	}
	t.Logf("%d records", want.records)
	for n := 1; n <= want.records; n++ {
		for _, when := range moments() {
			t.Run(fmt.Sprintf("%s-%d", when, n), func(t *testing.T) {
				t.Parallel()
				dir := folder(t, everything)
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

// undoable is a plan whose every task can be taken back.
const undoable = `
plan: undoable
policy: {workers: 2, allow: {write: [., SWITCH]}}
env: {CAIRN_TEST_MARK: "MARK"}
tasks:
  - {id: edit, uses: shell, run: 'echo more >> kept.txt'}
  - {id: made, uses: file.write, needs: [edit], with: {path: made/new.txt, text: "new\n"}}
  - {id: gone, uses: shell, needs: [edit], run: mv gone.txt moved.txt}
  - {id: named, uses: shell, needs: [made], run: 'echo on >> SWITCH/is', writes: false, rollback: {run: 'echo off >> SWITCH/is'}}
  - {id: last, uses: noop, needs: [named, gone]}
`

// A rollback that is killed at any record goes on where it was, and leaves the files as they were before the plan.
func TestRollbackKilledAtEveryRecord(t *testing.T) {
	prepare := func(t *testing.T) string {
		dir := folder(t, strings.ReplaceAll(undoable, "SWITCH", t.TempDir()))
		for name, text := range map[string]string{"kept.txt": "one\n", "gone.txt": "two\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	dir := prepare(t)
	before := fingerprint(t, dir)
	life(t, dir, "")
	ran := judge(t, dir)
	if ran.state != "completed" || fingerprint(t, dir) == before {
		t.Fatalf("it is %s", ran.state)
	}
	life(t, dir, "", "CAIRN_TEST_ROLLBACK=all")
	want := judge(t, dir)
	if want.state != "abandoned" || fingerprint(t, dir) != before {
		t.Fatalf("rolled back it is %s, and its files are\n%s", want.state, fingerprint(t, dir))
	}
	for n := ran.records + 1; n <= want.records; n++ {
		for _, when := range moments() {
			t.Run(fmt.Sprintf("%s-%d", when, n), func(t *testing.T) {
				t.Parallel()
				dir := prepare(t)
				before := fingerprint(t, dir)
				life(t, dir, "")
				life(t, dir, fmt.Sprintf("%s %d", when, n), "CAIRN_TEST_ROLLBACK=all")
				orphans(t, dir)
				life(t, dir, "", "CAIRN_TEST_ROLLBACK=all")
				if got := judge(t, dir); got.hash != want.hash || fingerprint(t, dir) != before {
					t.Errorf("it comes to %s and the files\n%s", got.state, fingerprint(t, dir))
				}
			})
		}
	}
}

func threeHundred() string {
	var b strings.Builder
	b.WriteString("plan: many\npolicy: {workers: 8}\nenv: {CAIRN_TEST_MARK: \"MARK\"}\ntasks:\n")
	for i := range 300 {
		uses := "uses: noop"
		switch {
		case i%10 == 3:
			uses = "uses: ledger.pay"
		case i%15 == 7:
			uses = "uses: shell, run: 'echo " + strconv.Itoa(i) + "'"
		}
		needs := ""
		if i >= 20 {
			needs = fmt.Sprintf(", needs: [t%03d, t%03d]", i-20, i-1-i%7)
		}
		fmt.Fprintf(&b, "  - {id: t%03d, %s%s}\n", i, uses, needs)
	}
	return b.String()
}

func TestKilledAtRandomTimes(t *testing.T) {
	dir := folder(t, threeHundred())
	began := time.Now()
	life(t, dir, "")
	took := time.Since(began)
	want := judge(t, dir)
	if want.state != "completed" {
		t.Fatalf("undisturbed it is %s", want.state)
	}
	kills := 200
	switch {
	case testing.Short():
		kills = 20
	case underRace: // which also slows the proof that each of them is sound
		kills = 60
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range kills {
		after := time.Duration(rnd.Int64N(int64(took)))
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			dir := folder(t, threeHundred())
			cmd := engineCommand(t, "CAIRN_TEST_ENGINE="+dir)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			timer.Stop()
			orphans(t, dir)
			life(t, dir, "")
			if got := judge(t, dir); got.hash != want.hash {
				t.Errorf("killed after %s it comes to %s, %s instead of %s", after, got.state, got.hash, want.hash)
			}
		})
	}
}
