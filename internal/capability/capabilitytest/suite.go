package capabilitytest

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
)

// patience is how long a runner that was told to stop may take. It is generous because the machine
// may be busy; what it catches is a runner that does not listen at all.
const patience = 20 * time.Second

// World is what a contract's examples need around them. Every field is optional.
type World struct {
	Prepare func(t *testing.T, dir string)             // fills the working directory of each call
	Example func(with json.RawMessage) json.RawMessage // points an example at something that is there
	Slow    func(t *testing.T) (with json.RawMessage)  // a call that does not end by itself
	Ready   func(ctx context.Context) error            // returns once the slow call is under way
	Env     map[string]string
}

// Run tries a capability of a registry: its contract is sound, its examples run and give what is
// promised, it refuses what it cannot read, stops when it is told to and leaves nothing running.
func Run(t *testing.T, reg *capability.Registry, c capability.Contract, w World) {
	t.Helper()
	_, runner, ok := reg.Lookup(c.ID)
	if !ok {
		t.Fatalf("%s is not in the registry", c.ID)
	}
	s := suite{reg: reg, contract: c, runner: runner, world: w}
	t.Run("contract", s.sound)
	t.Run("examples", s.examples)
	t.Run("refuses", s.refuses)
	t.Run("stopped before", s.stoppedBefore)
	if w.Slow != nil {
		t.Run("stopped while running", s.stoppedWhileRunning)
	}
}

type suite struct {
	reg      *capability.Registry
	contract capability.Contract
	runner   capability.Runner
	world    World
}

func (s suite) call(t *testing.T, with json.RawMessage) (capability.Call, *Host) {
	t.Helper()
	h := &Host{}
	dir := t.TempDir()
	if s.world.Prepare != nil {
		s.world.Prepare(t, dir)
	}
	return capability.Call{Plan: "p", Task: "t", Execution: 1, Attempt: 1, Key: digest.Sum([]byte("key")), With: with, Env: s.world.Env, Dir: dir, Host: h}, h
}

func (s suite) sound(t *testing.T) {
	if err := s.contract.Validate(); err != nil {
		t.Error(err)
	}
	if len(s.contract.Examples) == 0 {
		t.Errorf("%s shows no example", s.contract.ID)
	}
}

func (s suite) with(e capability.Example) json.RawMessage {
	if s.world.Example != nil {
		return s.world.Example(e.With)
	}
	return e.With
}

func (s suite) examples(t *testing.T) {
	for _, e := range s.contract.Examples {
		t.Run(e.Says, func(t *testing.T) {
			leak := goleak.IgnoreCurrent()
			with := s.with(e)
			if err := s.reg.Check(s.contract.ID, with); err != nil {
				t.Fatal(err)
			}
			call, host := s.call(t, with)
			res, err := s.runner.Run(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.reg.Snapshot().CheckOutputs(s.contract.ID, whole(res, host)); err != nil {
				t.Error(err)
			}
			if s.contract.Repeat == capability.Pure {
				again, err := s.runner.Run(t.Context(), call)
				if err != nil || !reflect.DeepEqual(again.Outputs, res.Outputs) {
					t.Errorf("pure, but gave %s and then %s, %v", res.Outputs, again.Outputs, err)
				}
			}
			goleak.VerifyNone(t, leak)
		})
	}
}

// whole puts artifacts back among the outputs, as text: where a value is kept is not the contract's
// business.
func whole(res capability.Result, host *Host) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for k, v := range res.Outputs {
		all[k] = v
	}
	for _, a := range res.Artifacts {
		if b, ok := host.Content(a.Name); ok {
			all[a.Name], _ = json.Marshal(string(b))
		}
	}
	return all
}

// refuses hands over what is no object; whether an object fits is judged before a runner sees it.
func (s suite) refuses(t *testing.T) {
	for _, with := range []string{``, `[]`, `"text"`, `{`} {
		call, _ := s.call(t, json.RawMessage(with))
		if s.reg.Check(s.contract.ID, call.With) == nil {
			continue // it fits, so it may run; what it does then is the runner's business
		}
		if _, err := s.runner.Run(t.Context(), call); err == nil {
			t.Errorf("%q does not fit, and was run", with)
		}
	}
}

func (s suite) stoppedBefore(t *testing.T) {
	leak := goleak.IgnoreCurrent()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, e := range s.contract.Examples {
		call, _ := s.call(t, s.with(e))
		promptly(t, func() { _, _ = s.runner.Run(ctx, call) })
	}
	goleak.VerifyNone(t, leak)
}

func (s suite) stoppedWhileRunning(t *testing.T) {
	with := s.world.Slow(t)
	leak := goleak.IgnoreCurrent()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	call, _ := s.call(t, with)
	ended := make(chan error, 1)
	go func() {
		_, err := s.runner.Run(ctx, call)
		ended <- err
	}()
	if s.world.Ready != nil {
		if err := s.world.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	promptly(t, func() {
		if err := <-ended; err == nil {
			t.Error("a call that was stopped claims to have succeeded")
		}
	})
	goleak.VerifyNone(t, leak)
}

func promptly(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("it did not return within %s of being stopped", patience)
	}
}
