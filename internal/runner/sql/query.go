package sql

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// maxInline is how much of a result is given as a value; the engine stores what is too long for a record.
const maxInline = 1 << 20

var errTimeout = errors.New("the time for the database was over")

// timed bounds a call, and says afterwards whether that was what ended it.
func (in input) timed(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, in.wait, errTimeout)
}

// stopped tells a call whose time was over, or that was called off, from one that failed by itself.
func (in input) stopped(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case err == nil || cause == nil:
		return err
	case errors.Is(cause, errTimeout):
		return fault.Wrap(fault.Failed, cause, "the database %s took longer than %s", clean(in.Database), in.wait).
			Remedy("raise timeout, or see what it waits for: a lock, or a missing index")
	case fault.Is(cause, fault.Failed): // a watchdog's word, which is the task's own failure
		return cause
	}
	return fault.Wrap(fault.Interrupted, cause, "asking the database %s was stopped", clean(in.Database))
}

// Query performs sql.query.
func Query(ctx context.Context, call capability.Call) (capability.Result, error) {
	in, err := parse(call, queryID)
	if err != nil {
		return capability.Result{}, err
	}
	ctx, cancel := in.timed(ctx)
	defer cancel()
	if ctx.Err() != nil {
		return capability.Result{}, in.stopped(ctx, ctx.Err())
	}
	l, err := open(ctx, in, reading)
	if err != nil {
		return capability.Result{}, in.stopped(ctx, err)
	}
	defer l.close()
	if err := l.begin(ctx, reading); err != nil {
		return capability.Result{}, in.stopped(ctx, err)
	}
	got := harvest{limit: *in.MaxRows, host: call.Host}
	res, err := l.run(ctx, in.all[0].text, in.Args, got.take)
	if err != nil {
		return capability.Result{}, in.stopped(ctx, err)
	}
	out := capability.Result{Dir: ".", Outputs: map[string]json.RawMessage{}}
	err = got.give(ctx, call, &out, res.columns)
	return out, err
}

// harvest gathers rows up to a limit.
type harvest struct {
	limit int
	host  capability.Host
	rows  [][]json.RawMessage
	more  bool
}

func (h *harvest) take(row []json.RawMessage) bool {
	if len(h.rows) == h.limit {
		h.more = true
		return false
	}
	h.rows = append(h.rows, row)
	if h.host != nil && len(h.rows)%1000 == 1 {
		h.host.Beat()
	}
	return true
}

// give puts the rows among the outputs, or stores them when they are many.
func (h *harvest) give(ctx context.Context, call capability.Call, out *capability.Result, columns []column) error {
	if columns == nil {
		columns = []column{}
	}
	columns = distinct(columns)
	out.Outputs["columns"] = asJSON(columns)
	out.Outputs["count"] = asJSON(len(h.rows))
	out.Outputs["truncated"] = asJSON(h.more)
	var b bytes.Buffer
	b.WriteByte('[')
	for i, row := range h.rows {
		if i > 0 {
			b.WriteString(",\n")
		}
		writeRow(&b, columns, row)
	}
	b.WriteByte(']')
	if b.Len() <= maxInline {
		out.Outputs["rows"] = b.Bytes()
		return nil
	}
	ref, err := call.Host.Put(ctx, "rows", "json", &b)
	if err == nil {
		out.Artifacts = append(out.Artifacts, ref)
	}
	return err
}

func writeRow(b *bytes.Buffer, columns []column, row []json.RawMessage) {
	b.WriteByte('{')
	for i, v := range row {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(asJSON(columns[i].Name))
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
}

// distinct gives columns of the same name a number, for in a row by name one would hide the other.
func distinct(columns []column) []column {
	seen := map[string]bool{}
	all := make([]column, len(columns))
	for i, c := range columns {
		name := c.Name
		for n := 2; seen[name]; n++ {
			name = c.Name + "_" + strconv.Itoa(n)
		}
		seen[name] = true
		all[i] = column{name, c.Type}
	}
	return all
}

func asJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // text, numbers and lists of them are always JSON
	}
	return raw
}
