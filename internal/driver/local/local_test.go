package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/store/disk"
	"github.com/cairn-plan/cairn/internal/store/sqlite"
)

// bench is a home with capabilities made for a test.
type bench struct {
	t      *testing.T
	dir    string
	engine *engine.Engine
	store  *sqlite.Store
	blobs  *disk.Store
	tools  tools
}

type tool struct {
	class capability.Class
	run   func(ctx context.Context, c capability.Call) (capability.Result, error)
	probe func(c capability.Call) (capability.Result, bool, error)
}

func (t tool) Run(ctx context.Context, c capability.Call) (capability.Result, error) {
	return t.run(ctx, c)
}

type probing struct{ tool }

func (p probing) Probe(_ context.Context, c capability.Call) (capability.Result, bool, error) {
	return p.probe(c)
}

type tools map[string]tool

func (ts tools) Lookup(id string) (capability.Contract, capability.Runner, bool) {
	t, ok := ts[id]
	if !ok {
		return capability.Contract{}, nil, false
	}
	c := capability.Contract{ID: id, Version: "1", Repeat: t.class}
	if t.probe != nil {
		return c, probing{t}, true
	}
	return c, t, true
}

func (ts tools) Check(id string, with json.RawMessage) error {
	if strings.Contains(string(with), "refuse me") {
		return fault.New(fault.Invalid, "%s does not take that", id)
	}
	return nil
}

// echo returns its inputs as outputs.
func echo(_ context.Context, c capability.Call) (capability.Result, error) {
	var out map[string]json.RawMessage
	if len(c.With) > 0 {
		if err := json.Unmarshal(c.With, &out); err != nil {
			return capability.Result{}, err
		}
	}
	return capability.Result{Outputs: out}, nil
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), tools: tools{
		"echo": {class: capability.Repeatable, run: echo},
		"pure": {class: capability.Pure, run: echo},
		"fail": {class: capability.Repeatable, run: func(context.Context, capability.Call) (capability.Result, error) {
			three := 3
			return capability.Result{Exit: &three, Stderr: "it broke"}, errors.New("it broke")
		}},
		"hang": {class: capability.Repeatable, run: func(ctx context.Context, _ capability.Call) (capability.Result, error) {
			<-ctx.Done()
			return capability.Result{}, ctx.Err()
		}},
	}}
	b.reopen()
	t.Cleanup(func() {
		b.store.Close()
		goleak.VerifyNone(t)
	})
	return b
}

// reopen opens the home as a new process would.
func (b *bench) reopen() {
	b.t.Helper()
	if b.store != nil {
		b.store.Close()
	}
	var err error
	if b.store, err = sqlite.Open(context.Background(), b.dir); err != nil {
		b.t.Fatal(err)
	}
	if b.blobs, err = disk.Open(b.dir); err != nil {
		b.t.Fatal(err)
	}
	b.engine = engine.New(engine.Config{Journal: b.store, Holder: b.store, Mailbox: b.store, Artifacts: b.blobs, Capabilities: b.tools,
		Root: b.dir, Version: "test", Host: "here", PID: 1, Now: time.Now,
		Machine: func() map[string]any {
			return map[string]any{"network": map[string]any{"online": true}, "disk": map[string]any{"free": int64(1 << 40)}, "memory": map[string]any{}}
		}})
}

func (b *bench) submit(yaml string) string {
	b.t.Helper()
	p, faults := plan.Read("plan.yaml", []byte(yaml), plan.Options{})
	if err := faults.Err(); err != nil {
		b.t.Fatal(err)
	}
	name, err := b.engine.Submit(context.Background(), p, "plan.yaml", "person:ann")
	if err != nil {
		b.t.Fatal(err)
	}
	return name
}

func (b *bench) drive(name string, d *local.Driver) (*lifecycle.State, error) {
	b.t.Helper()
	return b.driveCtx(context.Background(), name, d)
}

func (b *bench) driveCtx(ctx context.Context, name string, d *local.Driver) (*lifecycle.State, error) {
	b.t.Helper()
	r, err := b.engine.Open(context.Background(), name)
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Close()
	err = d.Drive(ctx, r)
	return r.State, err
}

func (b *bench) run(yaml string) *lifecycle.State {
	b.t.Helper()
	name := b.submit(yaml)
	st, err := b.drive(name, &local.Driver{Poll: time.Millisecond})
	if err != nil {
		b.t.Fatal(err)
	}
	b.sound(name, st)
	return st
}

// sound verifies and replays a plan, and loads it again.
func (b *bench) sound(name string, st *lifecycle.State) {
	b.t.Helper()
	h := audit.Home{Journal: b.store, Artifacts: b.blobs}
	rep, err := audit.VerifyPlan(context.Background(), h, name)
	if err != nil || len(rep.Damage) > 0 {
		b.t.Fatalf("verify: %v %v", err, rep.Damage)
	}
	again, err := audit.Replay(context.Background(), h, name)
	if err != nil || again.Head != rep.Head {
		b.t.Fatalf("replay: %v, head %s instead of %s", err, again.Head, rep.Head)
	}
	if st != nil && (rep.Hash != st.Hash() || again.Hash != st.Hash()) {
		b.t.Fatal("the journal comes to another state than the run")
	}
}

func statuses(st *lifecycle.State) string {
	var out []string
	for t := range st.Tasks() {
		out = append(out, t.ID+":"+string(t.Status))
	}
	return strings.Join(out, " ")
}

func (b *bench) want(st *lifecycle.State, phase lifecycle.PlanState, want string) {
	b.t.Helper()
	if got := statuses(st); got != want || st.State() != phase {
		b.t.Errorf("%s\n got %s\nwant %s, %s", st.State(), got, want, phase)
		for r := range b.engine.Records(context.Background(), st.Name, 0) {
			b.t.Logf("%d %s %s %s", r.Seq, r.Kind, r.Task, r.Body)
		}
	}
}

func TestValuesTravelFromTaskToTask(t *testing.T) {
	b := newBench(t)
	said := func(s string) (capability.Result, error) {
		raw, err := json.Marshal(s)
		return capability.Result{Outputs: map[string]json.RawMessage{"said": raw}}, err
	}
	b.tools["show"] = tool{class: capability.Repeatable, run: func(_ context.Context, c capability.Call) (capability.Result, error) {
		return said(c.Env["N"] + " in " + filepath.Base(c.Dir))
	}}
	b.tools["run"] = tool{class: capability.Repeatable, run: func(_ context.Context, c capability.Call) (capability.Result, error) {
		var in struct{ Run string }
		if err := json.Unmarshal(c.With, &in); err != nil {
			return capability.Result{}, err
		}
		return said(in.Run)
	}}
	st := b.run(`
plan: travel
inputs: {who: Ann}
env: {A: one}
tasks:
  - {id: a, uses: echo, with: {list: [1, {n: x}, "s p"], big: "` + strings.Repeat("y", 5000) + `", name: "${inputs.who}"}}
  - {id: b, uses: pure, needs: [a], with: {first: "${a.list[0]}", text: "n=${a.list[1].n}", big: "${a.big}"}, expect: ["outputs.first == 1", "size(outputs.big) == 5000"]}
  - {id: each, uses: echo, needs: [a], each: "${a.list}", with: {it: "${item}", at: "${index}"}}
  - {id: sum, uses: echo, needs: [each], with: {all: "${each.it}"}, expect: ["size(outputs.all) == 3", "outputs_of.each[2].at == 2"]}
  - {id: cel, uses: echo, needs: [a], each: "outputs_of.a.list.filter(x, x != 1)", when: "size(outputs_of.a.list) > 2", with: {x: "${item}"}}
  - {id: not, uses: echo, needs: [a], when: "outputs_of.a.name == 'Bob'"}
  - {id: reads-not, uses: echo, needs: [not], with: {x: "${not.y}"}}
  - {id: env, uses: show, needs: [a], env: {N: "${a.name}!"}, dir: "${inputs.who}"}
  - {id: passes, uses: echo, needs: [a], outputs: {n: {from: "${a.name}"}}}
  - id: sub
    each: "[7, 8]"
    outputs: {got: {from: "${in.it}"}}
    subplan: [{id: in, uses: echo, with: {it: "${item}"}}, {id: last, uses: run, needs: [in], run: "echo ${item}"}]
  - {id: after, uses: echo, needs: [sub, passes], with: {x: "${sub.got}", n: "${passes.n}"}}
`)
	b.want(st, lifecycle.PlanCompleted, "a:completed b:completed each:completed each-1:completed each-2:completed each-3:completed "+
		"sum:completed cel:completed cel-1:completed cel-2:completed not:skipped reads-not:skipped env:completed passes:completed "+
		"sub:completed sub-1:completed sub-1/in:completed sub-1/last:completed sub-2:completed sub-2/in:completed sub-2/last:completed after:completed")
	for id, want := range map[string]string{"env": `"Ann! in Ann"`, "sub-2/last": `"echo 8"`} {
		if got, _ := st.Task(id); string(got.Result.Outputs["said"]) != want {
			t.Errorf("%s said %s", id, got.Result.Outputs["said"])
		}
	}
	if got, _ := st.Task("after"); string(got.Result.Outputs["x"]) != "[7,8]" || string(got.Result.Outputs["n"]) != `"Ann"` {
		t.Errorf("%s", got.Result.Outputs)
	}
	task, _ := st.Task("sum")
	if got := string(task.Result.Outputs["all"]); got != `[1,{"n":"x"},"s p"]` {
		t.Error(got)
	}
	if big, _ := st.Task("a"); len(big.Result.Artifacts) != 1 || big.Result.Artifacts[0].Size != 5000 {
		t.Error("a large output is not an artifact")
	}
}

func TestRetryRecoveryAndRoutes(t *testing.T) {
	b := newBench(t)
	var tries atomic.Int32
	b.tools["flaky"] = tool{class: capability.Repeatable, run: func(context.Context, capability.Call) (capability.Result, error) {
		if tries.Add(1) < 4 {
			one := 1
			return capability.Result{Exit: &one, Stderr: "timeout"}, errors.New("exit 1")
		}
		return capability.Result{}, nil
	}}
	st := b.run(`
plan: flaky
tasks:
  - id: a
    uses: flaky
    retry: {times: 1, backoff: 1ms..2ms}
    failure: [{name: other, detect: 'exit == 9', recover: never}, {name: slow, detect: 'exit == 1 && stderr.contains("timeout")', recover: fix}]
  - {id: fix, uses: echo}
  - {id: never, uses: echo}
  - {id: b, uses: fail, next: {success: [c], failure: [d]}}
  - {id: c, uses: echo}
  - {id: d, uses: echo}
`)
	b.want(st, lifecycle.PlanCompleted, "a:completed fix:completed never:skipped b:failed c:skipped d:completed")
	if tries.Load() != 4 {
		t.Errorf("%d attempts", tries.Load())
	}
}

func TestFailuresSayWhy(t *testing.T) {
	b := newBench(t)
	st := b.run(`
plan: why
inputs: {name: Ann}
tasks:
  - {id: missing, uses: nowhere}
  - {id: slow, uses: hang, timeout: 5ms}
  - {id: silent, uses: hang, heartbeat: 5ms}
  - {id: pre, uses: echo, pre: ["disk.free < 1MB"]}
  - {id: expect, uses: echo, with: {x: 1}, expect: ["outputs.x == 2"]}
  - {id: broken, uses: echo, expect: ["outputs.y == 2"]}
  - {id: input, uses: echo, with: {x: refuse me}}
  - {id: output, uses: echo, outputs: {report: {type: text}}}
  - {id: list, uses: echo, each: "${inputs.name}"}
`)
	for id, want := range map[string]string{"missing": "capability nowhere is not installed", "slow": "timed out after 5ms",
		"silent": "gave no sign of life for 5ms", "pre": "precondition does not hold: disk.free < 1MB",
		"expect": "expected outputs.x == 2, which does not hold", "broken": "no such key", "input": "does not take that",
		"output": "output report was declared but never produced", "list": "which is no list"} {
		task, _ := st.Task(id)
		if task.Status != lifecycle.FailedTask || !strings.Contains(task.Error, want) {
			t.Errorf("%s is %s: %q", id, task.Status, task.Error)
		}
	}
}

func TestPeopleAnswerThroughTheMailboxWhileAnotherProcessHoldsThePlan(t *testing.T) {
	b := newBench(t)
	name := b.submit(`
plan: people
tasks:
  - {id: sign, title: Read it, outputs: {note: {type: text}}, expect: ["size(outputs.note) > 2"]}
  - {id: gate, kind: gate, needs: [sign], approve: {not: author}}
  - {id: judged, uses: echo, needs: [gate], expect: [{judge: reads well}]}
  - {id: wait, uses: hang}
`)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := b.engine.Open(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		defer r.Close()
		if err := (&local.Driver{Poll: time.Millisecond}).Drive(ctx, r); !fault.Is(err, fault.Interrupted) {
			t.Errorf("the drive ended with %v", err)
		}
	})
	do := func(actor string, c engine.Command) error {
		deadline := time.Now().Add(5 * time.Second)
		for {
			err := b.engine.Do(context.Background(), name, actor, c)
			// Until the other side has come as far, it refuses.
			if !fault.Is(err, fault.Conflict) || time.Now().After(deadline) {
				return err
			}
		}
	}
	note := map[string]json.RawMessage{"note": json.RawMessage(`"fine"`)}
	for _, step := range []struct {
		actor string
		cmd   engine.Command
		want  fault.Code
	}{
		{"person:ann", engine.Command{Name: engine.Complete, Task: "sign"}, fault.Invalid},
		{"person:ann", engine.Command{Name: engine.Complete, Task: "sign", Outputs: map[string]json.RawMessage{"note": json.RawMessage(`"x"`)}}, fault.Invalid},
		{"person:ann", engine.Command{Name: engine.Complete, Task: "nope"}, fault.NotFound},
		{"person:ann", engine.Command{Name: engine.Complete, Task: "sign", Outputs: note}, ""},
		{"person:ann", engine.Command{Name: engine.Approve, Task: "gate", Why: "mine"}, fault.Denied},
		{"person:ann", engine.Command{Name: engine.Approve, Task: "sign"}, fault.Invalid},
		{"person:bob", engine.Command{Name: engine.Approve, Task: "gate", Why: "read"}, ""},
		{"person:bob", engine.Command{Name: engine.Complete, Task: "judged"}, ""},
		{"person:bob", engine.Command{Name: "dance"}, fault.Invalid},
		{"person:bob", engine.Command{Name: engine.Pause}, ""},
		{"person:bob", engine.Command{Name: engine.Resume}, ""},
	} {
		if err := do(step.actor, step.cmd); step.want == "" && err != nil || step.want != "" && !fault.Is(err, step.want) {
			t.Errorf("%s %s by %s: %v, want %q", step.cmd.Name, step.cmd.Task, step.actor, err, step.want)
		}
	}
	cancel()
	wg.Wait()
	st, _, err := b.engine.Load(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	b.want(st, lifecycle.PlanRunning, "sign:completed gate:completed judged:completed wait:running")
	if err := b.engine.Do(context.Background(), name, "person:bob", engine.Command{Name: engine.Cancel, Why: "enough"}); err != nil {
		t.Fatal(err)
	}
	b.sound(name, nil)
	if err := b.engine.Do(context.Background(), name, "person:bob", engine.Command{Name: engine.Pause}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a plan that was given up is paused: %v", err)
	}
}

func TestYesAnswersWhatItMay(t *testing.T) {
	b := newBench(t)
	name := b.submit(`
plan: consent
tasks:
  - {id: read}
  - {id: gate, kind: gate, needs: [read]}
  - {id: judged, uses: echo, needs: [gate], expect: [{judge: fine}]}
  - {id: strict, kind: gate, needs: [judged], approve: {role: lead}}
  - {id: gives, needs: [judged], outputs: {x: {type: text}}}
`)
	st, err := b.drive(name, &local.Driver{Yes: "person:ann"})
	if err != nil {
		t.Fatal(err)
	}
	b.want(st, lifecycle.PlanRunning, "read:completed gate:completed judged:completed strict:waiting gives:waiting")
	if err := b.engine.Do(context.Background(), name, "person:bob", engine.Command{Name: engine.Approve, Task: "strict"}); !fault.Is(err, fault.Denied) {
		t.Error(err)
	}
	if err := b.engine.Do(context.Background(), name, "person:ann", engine.Command{Name: engine.Reject, Task: "strict", Why: "no"}); err != nil {
		t.Error(err)
	}
	if err := b.engine.Do(context.Background(), name, "person:bob", engine.Command{Name: engine.Fail, Task: "gives", Why: "cannot"}); err != nil {
		t.Error(err)
	}
	st, _, _ = b.engine.Load(context.Background(), name)
	b.want(st, lifecycle.PlanFailed, "read:completed gate:completed judged:completed strict:failed gives:failed")
	if err := b.engine.Do(context.Background(), name, "person:bob", engine.Command{Name: engine.Retry}); err != nil {
		t.Error(err)
	}
	b.sound(name, nil)
}

// What is cut off is done again, except what must not happen twice: that is probed, or put to a person.
func TestCutOffWork(t *testing.T) {
	b := newBench(t)
	began, done := make(chan string, 8), map[string]bool{}
	var mu sync.Mutex
	pay := func(ctx context.Context, c capability.Call) (capability.Result, error) {
		mu.Lock()
		again := done[c.Key.String()]
		done[c.Key.String()] = true
		mu.Unlock()
		if again {
			t.Errorf("%s was paid twice", c.Task)
		}
		began <- c.Task
		<-ctx.Done()
		return capability.Result{}, ctx.Err()
	}
	b.tools["pay"] = tool{class: capability.Once, run: pay}
	b.tools["pay.probed"] = tool{class: capability.Once, run: pay, probe: func(c capability.Call) (capability.Result, bool, error) {
		mu.Lock()
		defer mu.Unlock()
		return capability.Result{Outputs: map[string]json.RawMessage{"receipt": json.RawMessage("7")}}, done[c.Key.String()], nil
	}}
	b.tools["pay.unprobed"] = tool{class: capability.Once, run: pay, probe: func(capability.Call) (capability.Result, bool, error) {
		return capability.Result{}, false, errors.New("the bank is closed")
	}}
	b.tools["hang"] = tool{class: capability.Repeatable, run: func(ctx context.Context, c capability.Call) (capability.Result, error) {
		if c.Attempt > 1 {
			return capability.Result{}, nil
		}
		began <- c.Task
		<-ctx.Done()
		return capability.Result{}, ctx.Err()
	}}
	name := b.submit(`
plan: cut
policy: {workers: 4}
tasks:
  - {id: again, uses: hang}
  - {id: paid, uses: pay}
  - {id: probed, uses: pay.probed, outputs: {receipt: {type: number}}}
  - {id: unprobed, uses: pay.unprobed}
`)
	ctx, cancel := context.WithCancel(context.Background())
	hard := make(chan struct{})
	go func() {
		for range 4 {
			<-began
		}
		cancel()
		close(hard)
	}()
	if _, err := b.driveCtx(ctx, name, &local.Driver{Hard: hard}); !fault.Is(err, fault.Interrupted) {
		t.Fatal(err)
	}
	b.reopen()
	st, err := b.drive(name, &local.Driver{})
	if err != nil {
		t.Fatal(err)
	}
	b.want(st, lifecycle.PlanRunning, "again:completed paid:waiting probed:completed unprobed:waiting")
	if err := b.engine.Do(context.Background(), name, "person:ann", engine.Command{Name: engine.Complete, Task: "paid"}); err != nil {
		t.Error(err)
	}
	b.tools["pay.unprobed"] = tool{class: capability.Once, run: echo}
	if err := b.engine.Do(context.Background(), name, "person:ann", engine.Command{Name: engine.Retry, Task: "unprobed"}); err != nil {
		t.Error(err)
	}
	st, err = b.drive(name, &local.Driver{})
	if err != nil {
		t.Fatal(err)
	}
	b.want(st, lifecycle.PlanCompleted, "again:completed paid:completed probed:completed unprobed:completed")
	b.sound(name, st)
}

func TestStopLetsOnceFinish(t *testing.T) {
	b := newBench(t)
	began, finish := make(chan struct{}), make(chan struct{})
	b.tools["pay"] = tool{class: capability.Once, run: func(context.Context, capability.Call) (capability.Result, error) {
		close(began)
		<-finish
		return capability.Result{}, nil
	}}
	name := b.submit("plan: stop\ntasks:\n  - {id: paid, uses: pay}\n  - {id: next, uses: echo, needs: [paid]}\n")
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-began
		cancel()
		close(finish)
	}()
	st, err := b.driveCtx(ctx, name, &local.Driver{})
	if !fault.Is(err, fault.Interrupted) {
		t.Fatal(err)
	}
	b.want(st, lifecycle.PlanRunning, "paid:completed next:running")
	if st, err = b.drive(name, &local.Driver{}); err != nil {
		t.Fatal(err)
	}
	b.want(st, lifecycle.PlanCompleted, "paid:completed next:completed")
}

func TestRunningAFileTwice(t *testing.T) {
	b := newBench(t)
	const one, other = "plan: twice\ntasks: [{id: a, uses: echo}]\n", "plan: twice\ntasks: [{id: b, uses: echo}]\n"
	if name := b.submit(one); name != "twice" {
		t.Error(name)
	}
	if name := b.submit(one); name != "twice" {
		t.Errorf("an identical unfinished plan became %s", name)
	}
	p, _ := plan.Read("x.yaml", []byte(other), plan.Options{})
	if _, err := b.engine.Submit(context.Background(), p, "x.yaml", "person:ann"); !fault.Is(err, fault.Conflict) {
		t.Errorf("a changed unfinished plan: %v", err)
	}
	if _, err := b.drive("twice", &local.Driver{}); err != nil {
		t.Fatal(err)
	}
	if name := b.submit(other); name != "twice-2" {
		t.Error(name)
	}
	if _, err := b.engine.Open(context.Background(), "nope"); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	r, err := b.engine.Open(context.Background(), "twice")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := (&local.Driver{}).Drive(context.Background(), r); !fault.Is(err, fault.Conflict) {
		t.Errorf("a finished plan is driven: %v", err)
	}
}

func TestUntil(t *testing.T) {
	b := newBench(t)
	name := b.submit("plan: until\ntasks:\n  - {id: a, uses: echo}\n  - {id: b, uses: echo, needs: [a]}\n")
	st, err := b.drive(name, &local.Driver{Until: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := st.Task("a"); a.Status != lifecycle.Completed || st.Phase.Over() {
		t.Error(statuses(st))
	}
	if st, err = b.drive(name, &local.Driver{}); err != nil || st.Phase != lifecycle.PlanCompleted {
		t.Error(err, st.Phase)
	}
}

func TestPartialArtifactsCanBeReadBeforeTheTaskEnds(t *testing.T) {
	b := newBench(t)
	put := make(chan capability.Ref)
	b.tools["slow"] = tool{class: capability.Repeatable, run: func(ctx context.Context, c capability.Call) (capability.Result, error) {
		c.Host.Beat()
		ref, err := c.Host.Put(ctx, "log", "text", strings.NewReader("half way"))
		if err != nil {
			return capability.Result{}, err
		}
		put <- ref
		return capability.Result{Artifacts: []capability.Ref{ref}}, c.Host.Spawned(capability.Process{PID: 1})
	}}
	name := b.submit("plan: partial\ntasks: [{id: a, uses: slow}]\n")
	got := make(chan string, 1)
	go func() {
		ref := <-put
		found := "no record"
		for r := range b.engine.Records(context.Background(), name, 0) {
			if r.Kind == lifecycle.ArtifactPut {
				found = string(r.Body)
			}
		}
		if !strings.Contains(found, ref.Hash.String()) {
			t.Error(found)
		}
		raw, err := artifact.ReadAll(context.Background(), b.blobs, ref.Hash, 100)
		if err != nil {
			t.Error(err)
		}
		got <- string(raw)
	}()
	st, err := b.drive(name, &local.Driver{})
	if err != nil || <-got != "half way" {
		t.Error(err)
	}
	b.sound(name, st)
	b.want(st, lifecycle.PlanCompleted, "a:completed")
}

// failing is a journal whose appends fail when told to.
type failing struct {
	journal.Store
	after atomic.Int32
}

var errDisk = fault.New(fault.Invalid, "the disk is full")

func (f *failing) Append(ctx context.Context, es []journal.Entry) error {
	if f.after.Add(-1) < 0 {
		return errDisk
	}
	return f.Store.Append(ctx, es)
}

func TestAFailedWriteLosesNothingThatWasAcknowledged(t *testing.T) {
	b := newBench(t)
	var yaml strings.Builder
	yaml.WriteString("plan: full\npolicy: {workers: 3}\ntasks:\n")
	for i := range 20 {
		fmt.Fprintf(&yaml, "  - {id: t%02d, uses: echo, with: {n: %d}}\n", i, i)
	}
	name := b.submit(yaml.String())
	var told []journal.Entry
	f := &failing{Store: b.store}
	b.engine.Journal = f
	for n := int32(1); ; n++ {
		f.after.Store(n)
		st, err := b.drive(name, &local.Driver{Watch: func(es []journal.Entry) { told = append(told, es...) }})
		if err == nil {
			b.want(st, lifecycle.PlanCompleted, statuses(st))
			break
		}
		if !errors.Is(err, errDisk) {
			t.Fatal(err)
		}
	}
	stored := map[journal.Seq]digest.ID{}
	for e := range b.store.Read(context.Background(), name, 0) {
		stored[e.Seq] = e.Hash
	}
	for _, e := range told {
		if stored[e.Seq] != e.Hash {
			t.Errorf("record %d was told and is not stored", e.Seq)
		}
	}
	b.engine.Journal = b.store
	b.sound(name, nil)
}

func TestTheClockMayGoBackwards(t *testing.T) {
	b := newBench(t)
	now := time.Now()
	b.engine.Now = func() time.Time { now = now.Add(-time.Minute); return now }
	st := b.run("plan: back\ntasks:\n  - {id: a, uses: echo}\n  - {id: b, uses: fail, retry: {times: 1, backoff: 1ms}}\n")
	last := time.Time{}
	for r := range b.engine.Records(context.Background(), st.Name, 0) {
		if r.Time.Before(last) {
			t.Errorf("record %d is before record %d", r.Seq, r.Seq-1)
		}
		last = r.Time
	}
}

func TestTwoProcessesOnOnePlan(t *testing.T) {
	b := newBench(t)
	name := b.submit("plan: two\ntasks: [{id: a, uses: echo}]\n")
	r, err := b.engine.Open(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.engine.Open(context.Background(), name); !fault.Is(err, fault.Conflict) {
		t.Errorf("a plan was opened twice: %v", err)
	}
	r.Close()
}

func TestCommandsOfManyProcessesAreAllTaken(t *testing.T) {
	b := newBench(t)
	var yaml strings.Builder
	yaml.WriteString("plan: many\ntasks:\n")
	for i := range 12 {
		fmt.Fprintf(&yaml, "  - {id: t%d}\n", i)
	}
	name := b.submit(yaml.String())
	if _, err := b.drive(name, &local.Driver{}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			c := engine.Command{Name: engine.Complete, Task: fmt.Sprint("t", i)}
			if err := b.engine.Do(context.Background(), name, "person:ann", c); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	st, _, err := b.engine.Load(context.Background(), name)
	if err != nil || st.Phase != lifecycle.PlanCompleted {
		t.Error(err, statuses(st))
	}
	b.sound(name, st)
}

func TestRetentionDropsWhatNothingElseNames(t *testing.T) {
	b := newBench(t)
	text := func(c string) string { return strings.Repeat(c, 5000) }
	name := b.submit(`
plan: keep
tasks:
  - {id: short, uses: echo, with: {x: "` + text("a") + `"}, outputs: {x: {retention: task}}}
  - {id: shared, uses: echo, with: {x: "` + text("b") + `"}, outputs: {x: {retention: task}}}
  - {id: also, uses: echo, with: {x: "` + text("b") + `"}}
  - {id: brief, uses: echo, with: {x: "` + text("c") + `"}, outputs: {x: {retention: 1h}}}
  - {id: sign}
`)
	if _, err := b.drive(name, &local.Driver{}); err != nil {
		t.Fatal(err)
	}
	expire := func(dry bool) string {
		dropped, err := b.engine.Expire(context.Background(), dry)
		if err != nil {
			t.Fatal(err)
		}
		var tasks []string
		for _, d := range dropped {
			tasks = append(tasks, d.Task)
		}
		return strings.Join(tasks, " ")
	}
	if got := expire(false); got != "" {
		t.Errorf("%s was dropped while the plan ran", got)
	}
	st, err := b.drive(name, &local.Driver{Yes: "person:ann"})
	if err != nil || !st.Phase.Over() {
		t.Fatal(err, st.Phase)
	}
	if got := expire(true); got != "short" {
		t.Error(got)
	}
	if got := expire(false); got != "short" {
		t.Error(got)
	}
	b.engine.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	if got := expire(false); got != "brief" {
		t.Error(got)
	}
	if got := expire(false); got != "" {
		t.Errorf("%s was dropped twice", got)
	}
	b.sound(name, nil)
}

// kept is a capability that changes a value and can put it back.
type kept struct {
	mu    sync.Mutex
	value map[string]string
	fail  bool
}

func (k *kept) Run(_ context.Context, c capability.Call) (capability.Result, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.value[c.Task] = "changed"
	return capability.Result{}, nil
}

func (k *kept) Backup(_ context.Context, c capability.Call) (json.RawMessage, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return json.Marshal(k.value[c.Task])
}

func (k *kept) Restore(_ context.Context, c capability.Call, backup json.RawMessage) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail {
		return errors.New("the disk is gone")
	}
	var v string
	err := json.Unmarshal(backup, &v)
	k.value[c.Task] = v
	return err
}

type withKept struct {
	tools
	kept *kept
}

func (w withKept) Lookup(id string) (capability.Contract, capability.Runner, bool) {
	if id == "change" {
		return capability.Contract{ID: id, Version: "1", Repeat: capability.Repeatable}, w.kept, true
	}
	return w.tools.Lookup(id)
}

func TestRollbackPutsBackWhatWasKeptAndRunsWhatThePlanNames(t *testing.T) {
	b := newBench(t)
	k := &kept{value: map[string]string{"one": "first", "two": "second"}}
	b.engine.Capabilities = withKept{b.tools, k}
	var undone []string
	b.tools["undo"] = tool{class: capability.Repeatable, run: func(_ context.Context, c capability.Call) (capability.Result, error) {
		undone = append(undone, string(c.With))
		return capability.Result{}, nil
	}}
	name := b.submit(`
plan: back
policy: {workers: 1}
tasks:
  - {id: start, uses: echo}
  - {id: one, uses: change, needs: [start]}
  - {id: named, uses: echo, needs: [one], with: {n: 7}, rollback: {uses: undo, with: {was: "${named.n}"}}}
  - {id: two, uses: change, needs: [named]}
  - {id: sign, needs: [two]}
`)
	if _, err := b.drive(name, &local.Driver{}); err != nil {
		t.Fatal(err)
	}
	k.fail = true
	back := func(to string) (*lifecycle.State, error) {
		return b.drive(name, &local.Driver{Begin: func(ctx context.Context, r *engine.Run) ([]engine.Work, error) {
			return r.Rollback(ctx, to, "wrong", "person:ann")
		}})
	}
	if _, err := back("nowhere"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a checkpoint that never was: %v", err)
	}
	all, err := b.engine.Checkpoints(context.Background(), name)
	if err != nil || len(all) != 4 || all[0].Task != "start" {
		t.Fatal(all, err)
	}
	st, err := back(all[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	b.want(st, lifecycle.PlanIsPaused, "start:completed one:completed named:completed two:completed sign:pending")
	k.fail = false
	if st, err = back("start"); err != nil {
		t.Fatal(err)
	}
	b.want(st, lifecycle.PlanIsPaused, "start:completed one:rolled_back named:rolled_back two:rolled_back sign:pending")
	if k.value["one"] != "first" || k.value["two"] != "second" || strings.Join(undone, "") != `{"was":7}` {
		t.Error(k.value, undone)
	}
	if st, err = b.drive(name, &local.Driver{Yes: "person:ann"}); err != nil {
		t.Fatal(err)
	}
	b.want(st, lifecycle.PlanCompleted, "start:completed one:completed named:completed two:completed sign:completed")
	b.sound(name, st)
}
