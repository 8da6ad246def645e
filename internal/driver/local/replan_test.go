package local_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/policy"
)

// scripted proposes what a test wants, and keeps what it was told.
type scripted struct {
	told    []engine.Divergence
	propose func(engine.Divergence) (engine.Proposal, error)
}

func (s *scripted) Propose(_ context.Context, d engine.Divergence) (engine.Proposal, error) {
	s.told = append(s.told, d)
	return s.propose(d)
}

func (b *bench) agree(name, command string) error {
	return b.engine.Do(context.Background(), name, "person:ann", engine.Command{Name: command, Task: lifecycle.ReplanTask, Why: "a test"})
}

func TestProposedRevisionIsCarriedOutOnceSomebodyAgrees(t *testing.T) {
	b := newBench(t)
	s := &scripted{propose: func(d engine.Divergence) (engine.Proposal, error) {
		next := *d.Spec
		next.Tasks = append([]plan.Task(nil), d.Spec.Tasks...)
		next.Tasks[0].Uses = "echo"
		return engine.Proposal{Kind: lifecycle.ProposeRevision, By: "planner", Why: "echo does not break", Plan: &next}, nil
	}}
	b.engine.Replanner = s
	st := b.run("plan: p\npolicy: {replan: auto}\ntasks:\n  - {id: a, uses: fail}\n  - {id: b, uses: echo, needs: [a]}\n")
	b.want(st, lifecycle.PlanFailed, "a:failed b:pending")
	p := st.Proposal()
	if p == nil || p.Kind != lifecycle.ProposeRevision || p.By != "planner" || p.Auto {
		t.Fatalf("%+v", p)
	}
	if d := s.told[0]; len(s.told) != 1 || d.Task.ID != "a" || d.Attempts != 1 || d.Error == "" || d.State != lifecycle.PlanFailed || d.Statuses["b"] != lifecycle.Pending {
		t.Errorf("%+v", s.told)
	}
	if err := b.agree("p", engine.Approve); err != nil {
		t.Fatal(err)
	}
	st, err := b.drive("p", &local.Driver{Poll: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	b.want(st, lifecycle.PlanCompleted, "a:completed b:completed")
	if v := st.Revisions[len(st.Revisions)-1]; v.Rev != 2 || v.How != lifecycle.ByRule || v.Author != "person:ann" || v.Why != "a test" {
		t.Errorf("%+v", v)
	}
	b.sound("p", st)
	if err := b.agree("p", engine.Approve); !fault.Is(err, fault.Conflict) {
		t.Errorf("it is agreed to twice: %v", err)
	}
}

// What cannot be is not proposed: a person is asked instead, and told why.
func TestProposalsThatCannotBeBecomeAQuestion(t *testing.T) {
	broken := &plan.Plan{Name: "p", Tasks: []plan.Task{{ID: "a", Uses: "echo", Needs: []string{"nobody"}}}}
	for says, p := range map[string]engine.Proposal{
		"no revision of plan p": {Kind: lifecycle.ProposeRevision, Plan: &plan.Plan{Name: "q"}},
		"nobody":                {Kind: lifecycle.ProposeRevision, Plan: broken},
		"cannot recover":        {Kind: lifecycle.ProposeRecover, Mode: "m"},
		"is no proposal":        {Kind: "pray"},
		"no idea":               {},
	} {
		b := newBench(t)
		b.engine.Replanner = &scripted{propose: func(engine.Divergence) (engine.Proposal, error) {
			if p.Kind == "" {
				return p, errors.New("no idea")
			}
			return p, nil
		}}
		st := b.run("plan: p\ntasks:\n  - {id: a, uses: fail}\n")
		if got := st.Proposal(); got == nil || got.Kind != lifecycle.ProposeQuestion || !strings.Contains(got.Why, says) {
			t.Errorf("%s: %+v", says, got)
		}
	}
}

func TestUnmetExpectationIsTold(t *testing.T) {
	b := newBench(t)
	s := &scripted{propose: func(engine.Divergence) (engine.Proposal, error) {
		return engine.Proposal{Kind: lifecycle.ProposeRetry}, nil
	}}
	b.engine.Replanner = s
	b.run("plan: p\npolicy: {replan: auto}\ntasks:\n  - {id: a, uses: echo, with: {n: 1}, expect: ['outputs.n == 2', 'outputs.n == 1']}\n")
	if len(s.told) != 4 || len(s.told[0].Unmet) != 1 || s.told[0].Unmet[0] != "outputs.n == 2" {
		t.Errorf("%+v", s.told)
	}
}

// A task that failed is tried again while others wait for people, in the process that carries the plan out.
func TestBlockedPlanGoesOnByItself(t *testing.T) {
	b := newBench(t)
	calls := 0
	b.tools["flaky"] = tool{class: capability.Repeatable, run: func(context.Context, capability.Call) (capability.Result, error) {
		if calls++; calls < 3 {
			return capability.Result{}, errors.New("dial: connection refused")
		}
		return capability.Result{}, nil
	}}
	st := b.run("plan: p\npolicy: {replan: auto}\ntasks:\n  - {id: a, uses: flaky}\n  - {id: b, title: by hand}\n  - {id: c, uses: echo, needs: [a]}\n")
	b.want(st, lifecycle.PlanRunning, "a:completed b:waiting c:completed")
}

// Two failed, and only one of them is something that passes: that one is not held up by the question about the other.
func TestWhatPassesIsNotHeldUpByAQuestion(t *testing.T) {
	b := newBench(t)
	calls := 0
	b.tools["flaky"] = tool{class: capability.Repeatable, run: func(context.Context, capability.Call) (capability.Result, error) {
		if calls++; calls < 2 {
			return capability.Result{}, errors.New("HTTP 503")
		}
		return capability.Result{}, nil
	}}
	st := b.run("plan: p\npolicy: {replan: auto}\ntasks:\n  - {id: a, uses: fail}\n  - {id: b, uses: flaky}\n")
	b.want(st, lifecycle.PlanFailed, "a:failed b:completed")
	if p := st.Proposal(); p == nil || p.Task != "a" || p.Kind != lifecycle.ProposeQuestion {
		t.Errorf("%+v", p)
	}
	if err := b.agree("p", engine.Reject); err != nil {
		t.Error(err)
	}
}

// crew gives people roles.
type crew map[string][]string

func (c crew) Roles(actor string) []string { return c[actor] }
func (c crew) Trusts() bool                { return false }

// The project and the home let less happen than the plan wants, and name who else has to be asked.
func TestStricterPolicyHolds(t *testing.T) {
	flaky := "plan: NAME\npolicy: {replan: auto, approve: {replan: [lead]}}\ntasks:\n  - {id: a, uses: flaky}\n"
	for _, c := range []struct {
		name, home string
		proposed   string // nothing: none is open
		calls      int
	}{{"silent", "", lifecycle.ProposeRetry, 4}, {"asks", plan.ReplanAsk, lifecycle.ProposeRetry, 1}, {"off", plan.ReplanOff, "", 1}} {
		b := newBench(t)
		calls := 0
		b.tools["flaky"] = tool{class: capability.Repeatable, run: func(context.Context, capability.Call) (capability.Result, error) {
			calls++
			return capability.Result{}, errors.New("timed out")
		}}
		b.engine.People = crew{"person:ann": {"lead"}, "person:bob": {"lead", "owner"}}
		b.engine.Policies = func() ([]policy.Source, error) {
			return []policy.Source{{Name: "the home", Policy: &plan.Policy{Replan: c.home, Approve: map[string][]string{plan.Replans: {"owner"}}}}}, nil
		}
		st := b.run(strings.ReplaceAll(flaky, "NAME", c.name))
		got := ""
		if p := st.Proposal(); p != nil {
			got = p.Kind
		}
		if calls != c.calls || got != c.proposed {
			t.Errorf("%s: called %d times, then proposed %q", c.name, calls, got)
		}
		if c.home != plan.ReplanAsk {
			continue
		}
		if err := b.agree(c.name, engine.Approve); !fault.Is(err, fault.Denied) {
			t.Errorf("somebody who is no owner may agree: %v", err)
		}
		if err := b.engine.Do(context.Background(), c.name, "person:bob", engine.Command{Name: engine.Approve, Task: lifecycle.ReplanTask, Why: "x"}); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatMustNotRunTwiceIsAskedAbout(t *testing.T) {
	b := newBench(t)
	b.engine.Replanner = &scripted{propose: func(d engine.Divergence) (engine.Proposal, error) {
		if !d.Once {
			t.Error("it is not told that it must not run twice")
		}
		return engine.Proposal{Kind: lifecycle.ProposeRetry, Why: "I would try again"}, nil
	}}
	st := b.run("plan: p\npolicy: {replan: auto}\ntasks:\n  - {id: a, uses: fail, repeat: once}\n")
	if p := st.Proposal(); p == nil || p.Auto || p.Kind != lifecycle.ProposeRetry {
		t.Fatalf("%+v", p)
	}
	b.engine.Replanner = nil
	if err := b.agree("p", engine.Approve); err != nil {
		t.Fatal(err)
	}
	st, err := b.drive("p", &local.Driver{Poll: time.Millisecond})
	if p := st.Proposal(); err != nil || p == nil || p.Kind != lifecycle.ProposeQuestion || !strings.Contains(p.Why, "must not run twice") {
		t.Errorf("%+v %v", p, err)
	}
}
