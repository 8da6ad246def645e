package local_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// setClock gives the engine a clock that stands still for a number of readings and is far ahead after them.
func (b *bench) setClock(base time.Time, readings int64) {
	var n atomic.Int64
	b.engine.Now = func() time.Time {
		if n.Add(1) <= readings {
			return base
		}
		return base.Add(time.Hour)
	}
}

// A deadline ends what is under way, by the engine's clock: a timer that goes off before that clock says so is set again.
func TestDeadlineByTheClock(t *testing.T) {
	b := newBench(t)
	base := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b.setClock(base, 40)
	name := b.submit("plan: late\ntasks:\n  - {id: a, uses: hang, deadline: " + base.Add(10*time.Millisecond).Format(time.RFC3339Nano) + "}\n")
	r, err := b.engine.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := (&local.Driver{}).Drive(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	a, _ := r.State.Task("a")
	if a.Status != lifecycle.FailedTask || !strings.Contains(a.Error, "missed its deadline") {
		t.Errorf("it is %s: %s", a.Status, a.Error)
	}
	if b.engine.Now().Before(base.Add(time.Hour)) {
		t.Error("it fired before its time")
	}
}

// A deadline that passed while nobody was there is seen before it is decided that all waits for people.
func TestDeadlinePassedMeanwhile(t *testing.T) {
	b := newBench(t)
	base := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b.engine.Now = func() time.Time { return base }
	name := b.submit("plan: late\ntasks:\n  - {id: a, title: by hand, deadline: '" + base.Add(time.Minute).Format(time.RFC3339) + "'}\n")
	drive := func() lifecycle.PlanState {
		r, err := b.engine.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := (&local.Driver{}).Drive(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		return r.State.Phase
	}
	if got := drive(); got != lifecycle.PlanRunning {
		t.Fatalf("before its time it is %s", got)
	}
	base = base.Add(-time.Hour) // set back
	if got := drive(); got != lifecycle.PlanRunning {
		t.Fatalf("with the clock set back it is %s", got)
	}
	base = base.Add(2 * time.Hour)
	if got := drive(); got != lifecycle.PlanFailed {
		t.Errorf("after its time it is %s", got)
	}
}
