// Package local drives a run inside this process: one goroutine owns the run and takes facts in the order in
// which they arrive, attempts run beside it, and one committer writes what was recorded.
//
// The owner does not wait for the disk. It goes on deriving, and pure work goes on running, while the committer
// writes everything that has gathered since its last commit; work with effects, and every answer to somebody, waits
// for its own record. A failed write ends the drive at once: nothing that was not written has been told to anybody.
package local

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// Driver drives one run at a time.
type Driver struct {
	Workers int                   // overrides the plan's policy when above zero
	Yes     string                // the actor who answers yes to what may be; empty: nobody
	Until   string                // stop when this task is over
	Hard    <-chan struct{}       // closed when even work that must not run twice is to be cut off
	Watch   func([]journal.Entry) // told of what is durable, in order; optional
	// Begin starts the drive; nil: the run goes on. A rollback begins otherwise.
	Begin func(ctx context.Context, r *engine.Run) ([]engine.Work, error)
	Poll  time.Duration // how often the mailbox is read; 0: every 100 ms
}

var _ engine.Driver = (*Driver)(nil)

// maxAhead is how many records memory may be ahead of the disk before pure work waits too.
const maxAhead = 8192

// message is what reaches the owner.
type message struct {
	fact    lifecycle.Fact
	done    *attempt     // the work that this fact ends, if it does
	stopped bool         // it was stopped before it came to anything
	reply   chan error   // answered when the fact is durable, or refused
	command int64        // id in the mailbox, when it came from there
	early   *engine.Work // a timer that went off before its time by the clock
}

// attempt is a piece of work under way.
type attempt struct {
	work   engine.Work
	ctx    context.Context
	cancel context.CancelCauseFunc
}

type drive struct {
	Driver
	run      *engine.Run
	inbox    chan message
	wrote    chan error
	writing  []journal.Entry // what the committer has now
	durable  journal.Seq
	held     []engine.Work // waits for its record, or for the disk to catch up
	replies  []reply       // wait for their record
	running  map[string]*attempt
	timers   map[string]*time.Timer
	stopping bool
	jobs     chan *attempt
	over     chan struct{}
	wg       sync.WaitGroup
}

type reply struct {
	after   journal.Seq
	to      chan error
	command int64
	says    error // what whoever posted the command is told once it is durable
}

// Drive implements engine.Driver. It returns nil when the plan is over or all that is left needs a person, and
// fault.Interrupted when ctx ended it with its state saved.
func (d *Driver) Drive(ctx context.Context, r *engine.Run) error {
	v := &drive{Driver: *d, run: r, inbox: make(chan message, 256), wrote: make(chan error, 1), over: make(chan struct{}), jobs: make(chan *attempt),
		running: make(map[string]*attempt, r.State.Workers), timers: map[string]*time.Timer{}, durable: r.Head().Seq}
	if v.Poll == 0 {
		v.Poll = 100 * time.Millisecond
	}
	err := v.loop(ctx)
	for _, a := range v.running {
		a.cancel(engine.ErrStopped)
	}
	for _, t := range v.timers {
		t.Stop()
	}
	close(v.over)
	v.wg.Wait()
	return err
}

func (v *drive) loop(ctx context.Context) error {
	begin := v.Begin
	if begin == nil {
		begin = func(ctx context.Context, r *engine.Run) ([]engine.Work, error) { return r.Begin(ctx, v.Workers) }
	}
	work, err := begin(ctx, v.run)
	if err != nil {
		return err
	}
	v.held = append(v.held, work...)
	v.answerAll()
	poll := time.NewTicker(v.Poll)
	defer poll.Stop()
	for {
		if err := v.settle(ctx); err != nil {
			return err
		}
		v.launch()
		v.commit(ctx)
		if v.stopping && len(v.running) == 0 && v.writing == nil && v.run.Pending() == 0 {
			return v.verdict(ctx)
		}
		select {
		case m := <-v.inbox:
			v.take(m)
			v.drain()
		case err := <-v.wrote:
			if err := v.written(ctx, err); err != nil {
				return err
			}
		case <-poll.C:
			if err := v.mail(ctx); err != nil {
				return err
			}
		case <-v.stop(ctx):
			v.stopping = true
			v.cutOff(false)
		case <-v.hard():
			v.cutOff(true)
			v.Hard = nil
		}
	}
}

// settle stops the drive where nothing is left to do, unless a proposal has something tried again. What was called off is
// waited for first: it must not run beside its next attempt.
func (v *drive) settle(ctx context.Context) error {
	st := v.run.State
	switch {
	case v.stopping:
		return nil
	case st.Idle() && !v.reached() && ctx.Err() == nil && len(st.Diverged()) > 0:
		if len(v.running) > 0 {
			return nil
		}
		work, err := v.run.Replan(ctx)
		if err != nil {
			return err
		}
		v.held = append(v.held, work...)
	}
	v.stopping = st.Idle() || v.reached()
	return nil
}

// stop is ctx's end, until it was seen.
func (v *drive) stop(ctx context.Context) <-chan struct{} {
	if v.stopping {
		return nil
	}
	return ctx.Done()
}

func (v *drive) hard() <-chan struct{} {
	if !v.stopping {
		return nil
	}
	return v.Hard
}

// reached reports whether the task to stop at is over.
func (v *drive) reached() bool {
	if v.Until == "" {
		return false
	}
	t, ok := v.run.State.Task(v.Until)
	return ok && t.Status.Terminal()
}

func (v *drive) verdict(ctx context.Context) error {
	if ctx.Err() != nil && !v.run.State.Idle() {
		return fault.New(fault.Interrupted, "plan %s was interrupted; its state is saved", v.run.State.Name).
			Remedy("go on with: cairn resume %s", v.run.State.Name)
	}
	return nil
}

// cutOff stops what is running, except what must not run twice, unless hard.
func (v *drive) cutOff(hard bool) {
	for _, a := range v.running {
		if hard || !v.run.MustFinish(a.work) {
			a.cancel(engine.ErrStopped)
		}
	}
}

// drain takes what has arrived already, so that one commit carries it all.
func (v *drive) drain() {
	for range cap(v.inbox) {
		select {
		case m := <-v.inbox:
			v.take(m)
		default:
			return
		}
	}
}

// take steps the run by one message.
func (v *drive) take(m message) {
	if m.early != nil {
		v.arm(*m.early)
		return
	}
	if m.done != nil {
		if v.running[m.done.work.Task] == m.done {
			delete(v.running, m.done.work.Task)
		}
		m.done.cancel(nil)
		if m.stopped || v.run.State.Phase.Over() {
			return
		}
	}
	work, derived, err := v.run.Step(m.fact)
	if err != nil {
		v.refuse(m, err)
		return
	}
	v.held = append(v.held, work...)
	v.answer(derived)
	if m.reply != nil || m.command != 0 {
		v.replies = append(v.replies, reply{v.run.Head().Seq, m.reply, m.command, v.run.Outcome(m.fact)})
	}
}

func (v *drive) refuse(m message, err error) {
	if m.reply != nil {
		m.reply <- err
	}
	if m.command != 0 {
		v.resolve(m.command, err)
	}
}

func (v *drive) resolve(id int64, err error) {
	// The command is done either way; whoever posted it reads the journal when this cannot be told.
	_ = engine.Answer(context.Background(), v.run.Engine().Mailbox, id, err)
}

// answer says yes where the caller asked for that.
func (v *drive) answer(derived []lifecycle.Derived) {
	if v.Yes == "" {
		return
	}
	var tasks []string
	for _, d := range derived {
		if d.Kind == lifecycle.TaskWaiting || d.Kind == lifecycle.GateOpened {
			tasks = append(tasks, d.Task)
		}
	}
	for _, id := range tasks {
		if f, ok := v.run.Yes(id, v.Yes); ok {
			v.take(message{fact: f})
		}
	}
}

// answerAll says yes to what waits already when the drive begins.
func (v *drive) answerAll() {
	var waiting []lifecycle.Derived
	if v.Yes != "" {
		if _, waits := v.run.State.Goal(); waits {
			waiting = append(waiting, lifecycle.Derived{Kind: lifecycle.TaskWaiting})
		}
		for t := range v.run.State.Tasks() {
			if t.Wait.NeedsPerson() {
				waiting = append(waiting, lifecycle.Derived{Kind: lifecycle.TaskWaiting, Task: t.ID})
			}
		}
	}
	v.answer(waiting)
}

// launch begins the work whose time has come.
func (v *drive) launch() {
	keep := v.held[:0]
	ahead := v.run.Pending() + len(v.writing)
	for _, w := range v.held {
		switch {
		case w.Kind == lifecycle.Arm:
			v.arm(w)
		case w.Kind == lifecycle.Stop:
			if a := v.running[w.Task]; a != nil {
				a.cancel(engine.ErrStopped)
			}
		case v.stopping || v.run.State.Phase.Over():
			// The journal shows it as begun or due; whoever resumes finds it there.
		case w.After > v.durable || ahead > maxAhead:
			keep = append(keep, w)
		default:
			v.begin(w)
		}
	}
	clear(v.held[len(keep):])
	v.held = keep
}

func (v *drive) begin(w engine.Work) {
	a := &attempt{work: w}
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	v.running[w.Task] = a
	select {
	case v.jobs <- a:
	default:
		v.wg.Add(1)
		go v.worker(a)
	}
}

// worker performs one attempt after another. A goroutine that stays has its stack grown already, which for short
// work is most of the cost.
func (v *drive) worker(a *attempt) {
	defer v.wg.Done()
	for {
		f, ok := v.run.Perform(a.ctx, a.work, reporter{v})
		v.send(message{fact: f, done: a, stopped: !ok})
		select {
		case a = <-v.jobs:
		case <-v.over:
			return
		}
	}
}

// send delivers a message, unless nobody takes messages any more.
func (v *drive) send(m message) bool {
	select {
	case v.inbox <- m:
		return true
	case <-v.over:
		return false
	}
}

func (v *drive) arm(w engine.Work) {
	key := w.Task + " " + w.For
	if t := v.timers[key]; t != nil {
		t.Stop()
	}
	wait := time.Until(w.Due)
	if w.For != "" {
		// The clock may be set, and the machine may sleep, while it waits: it looks again now and then.
		wait = min(w.Due.Sub(v.run.Engine().Now()), time.Minute)
	}
	fire := func() {
		if w.For != "" && v.run.Engine().Now().Before(w.Due) {
			v.send(message{early: &w})
			return
		}
		v.send(message{fact: lifecycle.Fact{Kind: lifecycle.TimerFired, Task: w.Task, Attempt: w.Attempt, Body: &lifecycle.Fired{For: w.For}}})
	}
	v.timers[key] = time.AfterFunc(wait, fire)
}

// commit hands the committer what has gathered, when it is free.
func (v *drive) commit(ctx context.Context) {
	if v.writing != nil || v.run.Pending() == 0 {
		return
	}
	v.writing = v.run.TakePending()
	entries, store := v.writing, v.run.Engine().Journal
	v.wg.Add(1)
	go func() {
		defer v.wg.Done()
		// A commit that has begun is finished even when ctx ends meanwhile.
		v.wrote <- store.Append(context.WithoutCancel(ctx), entries)
	}()
}

func (v *drive) written(_ context.Context, err error) error {
	entries := v.writing
	v.writing = nil
	if err != nil {
		for _, r := range v.replies {
			if r.to != nil {
				r.to <- err
			}
		}
		return err
	}
	v.durable = entries[len(entries)-1].Seq
	keep := v.replies[:0]
	for _, r := range v.replies {
		switch {
		case r.after > v.durable:
			keep = append(keep, r)
		case r.to != nil:
			r.to <- nil
		default:
			v.resolve(r.command, r.says)
		}
	}
	v.replies = keep
	if v.Watch != nil {
		v.Watch(entries)
	}
	return nil
}

// mail takes the commands that other processes left for this plan.
func (v *drive) mail(ctx context.Context) error {
	cmds, err := v.run.Engine().Mailbox.Pending(context.WithoutCancel(ctx), v.run.State.Name)
	if err != nil {
		return err
	}
	for _, c := range cmds {
		if v.known(c.ID) {
			continue
		}
		var body engine.Command
		if err := json.Unmarshal(c.Body, &body); err != nil {
			v.resolve(c.ID, fault.Wrap(fault.Invalid, err, "read the command"))
			continue
		}
		f, err := v.run.FactFor(body, c.Actor)
		if err != nil {
			v.resolve(c.ID, err)
			continue
		}
		v.take(message{fact: f, command: c.ID})
	}
	return nil
}

// known reports whether a command was taken and only waits for the disk.
func (v *drive) known(id int64) bool {
	for _, r := range v.replies {
		if r.command == id {
			return true
		}
	}
	return false
}

// reporter carries facts from an attempt to the owner.
type reporter struct{ v *drive }

var errOver = errors.New("the engine is going down")

// Report implements engine.Reporter.
func (r reporter) Report(f lifecycle.Fact) error {
	done := make(chan error, 1)
	if !r.v.send(message{fact: f, reply: done}) {
		return errOver
	}
	select {
	case err := <-done:
		return err
	case <-r.v.over:
		return errOver
	}
}
