package sql

import (
	"context"
	"encoding/json"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// Exec performs sql.exec. The plan's check tells whether a transaction that was cut off was committed.
type Exec struct{}

var (
	_ capability.Runner    = Exec{}
	_ capability.Prober    = Exec{}
	_ capability.Previewer = Exec{}
	_ capability.Keeper    = Exec{}
)

// begun is a call with its connection and its transaction.
type begun struct {
	input
	link
}

// begin parses a call, connects and opens the transaction. The caller closes both.
func begin(ctx context.Context, call capability.Call, m mode) (begun, context.Context, func(), error) {
	in, err := parse(call, execID)
	if err != nil {
		return begun{}, ctx, nil, err
	}
	ctx, cancel := in.timed(ctx)
	fail := func(err error) (begun, context.Context, func(), error) {
		cancel()
		return begun{}, ctx, nil, err
	}
	if ctx.Err() != nil {
		return fail(in.stopped(ctx, ctx.Err()))
	}
	if m == writing && in.Create {
		m = creating
	}
	l, err := open(ctx, in, m)
	if err != nil {
		return fail(in.stopped(ctx, err))
	}
	if err := l.begin(ctx, m); err != nil {
		err = in.stopped(ctx, err)
		l.close()
		return fail(err)
	}
	return begun{in, l}, ctx, func() { l.close(); cancel() }, nil
}

// runAll runs the statements of a call; the rows of the last are gathered.
func (b begun) runAll(ctx context.Context, call capability.Call, out *capability.Result) (affected int64, err error) {
	for i, st := range b.all {
		got := harvest{limit: *b.MaxRows, host: call.Host}
		res, err := b.run(ctx, st.text, b.Args, func(row []json.RawMessage) bool {
			got.take(row)
			return true // a statement that changes something is seen to its end
		})
		if err != nil {
			if len(b.all) > 1 && !fault.Is(err, fault.Interrupted) {
				return affected, fault.Wrap(fault.CodeOf(err), err, "statement %d of %d", i+1, len(b.all)).Remedy("%s", fault.HintOf(err))
			}
			return affected, err
		}
		affected += res.affected
		if i == len(b.all)-1 && len(res.columns) > 0 && out != nil {
			if err := got.give(ctx, call, out, res.columns); err != nil {
				return affected, err
			}
		}
	}
	return affected, nil
}

// Run implements capability.Runner.
func (Exec) Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	b, ctx, done, err := begin(ctx, call, writing)
	if err != nil {
		return capability.Result{}, err
	}
	defer done()
	out := capability.Result{Dir: ".", Outputs: map[string]json.RawMessage{"statements": asJSON(len(b.all))}}
	affected, err := b.runAll(ctx, call, &out)
	if err != nil {
		return capability.Result{}, b.stopped(ctx, err)
	}
	if err := b.end(ctx, true); err != nil {
		return capability.Result{}, b.stopped(ctx, err)
	}
	out.Outputs["affected"] = asJSON(affected)
	return out, nil
}

// Probe implements capability.Prober.
func (Exec) Probe(ctx context.Context, call capability.Call) (capability.Result, bool, error) {
	in, err := parse(call, execID)
	if err != nil {
		return capability.Result{}, false, err
	}
	if in.Check == "" {
		return capability.Result{}, false, fault.New(fault.NotFound, "the plan gives no check that could tell whether it took effect").
			Remedy("give one: check: SELECT ...")
	}
	all, err := statements(in.Check, in.postgres())
	if err != nil {
		return capability.Result{}, false, err
	}
	if len(all) > 1 {
		return capability.Result{}, false, fault.New(fault.Invalid, "the check is %d statements, and must be one", len(all))
	}
	b, ctx, done, err := begin(ctx, call, reading)
	if err != nil {
		return capability.Result{}, false, err
	}
	defer done()
	got := harvest{limit: 1}
	if _, err := b.run(ctx, all[0].text, in.CheckArgs, got.take); err != nil {
		return capability.Result{}, false, b.stopped(ctx, err)
	}
	if len(got.rows) == 0 || !holds(got.rows[0]) {
		return capability.Result{}, false, nil
	}
	return capability.Result{Dir: ".", Outputs: map[string]json.RawMessage{"statements": asJSON(len(in.all))}}, true, nil
}

// holds reports whether the first value of a row is a yes.
func holds(row []json.RawMessage) bool {
	if len(row) == 0 {
		return false
	}
	switch string(row[0]) {
	case "null", "false", "0", `""`, `"0"`, `"f"`, `"false"`:
		return false
	}
	return true
}
