package local_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/store/disk"
	"github.com/cairn-plan/cairn/internal/store/sqlite"
)

// bare is a registry with nothing but noop.
type bare struct{}

func (bare) Lookup(id string) (capability.Contract, capability.Runner, bool) {
	run := capability.RunnerFunc(func(context.Context, capability.Call) (capability.Result, error) { return capability.Result{}, nil })
	return capability.Contract{ID: "noop", Version: "1", Repeat: capability.Pure}, run, id == "noop"
}

func (bare) Check(string, json.RawMessage) error { return nil }

func open(tb testing.TB, dir string) (*engine.Engine, *sqlite.Store) {
	tb.Helper()
	store, err := sqlite.Open(context.Background(), dir)
	if err != nil {
		tb.Fatal(err)
	}
	blobs, err := disk.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return engine.New(engine.Config{Journal: store, Holder: store, Mailbox: store, Artifacts: blobs, Capabilities: bare{}, Root: dir, Now: time.Now}), store
}

func noop(id string, needs ...string) plan.Task { return plan.Task{ID: id, Uses: "noop", Needs: needs} }

var shapes = map[string]func() *plan.Plan{
	"chain-1000": func() *plan.Plan { return chains(1, 1000, 4) },
	"fanout-1000": func() *plan.Plan {
		p := &plan.Plan{Name: "p", Policy: &plan.Policy{Workers: 256}}
		for i := range 1000 {
			p.Tasks = append(p.Tasks, noop(fmt.Sprintf("t%04d", i)))
		}
		return p
	},
	"chains-200x20": func() *plan.Plan { return chains(200, 20, 256) },
}

func chains(n, length, workers int) *plan.Plan {
	p := &plan.Plan{Name: "p", Policy: &plan.Policy{Workers: workers}}
	for c := range n {
		for i := range length {
			t := noop(fmt.Sprintf("c%03d-%04d", c, i))
			if i > 0 {
				t.Needs = []string{fmt.Sprintf("c%03d-%04d", c, i-1)}
			}
			p.Tasks = append(p.Tasks, t)
		}
	}
	return p
}

// BenchmarkDurable prints, for each shape, how fast the engine is beside a loop that writes the same rows and does nothing
// else: one commit a row for the chain, groups of 256 for the others. Both are SQLite with WAL and synchronous=FULL.
func BenchmarkDurable(b *testing.B) {
	for _, shape := range []struct {
		name  string
		group int
	}{{"chain-1000", 1}, {"fanout-1000", 256}, {"chains-200x20", 256}} {
		b.Run(shape.name, func(b *testing.B) {
			best, raw := 0.0, 0.0
			for range b.N {
				steps, entries := carryOut(b, shapes[shape.name]())
				best = max(best, steps)
				raw = max(raw, rawRate(b, entries, shape.group))
			}
			b.ReportMetric(best, "steps/s")
			b.ReportMetric(raw, "raw/s")
			b.ReportMetric(best/raw, "ratio")
		})
	}
}

func carryOut(b *testing.B, p *plan.Plan) (rate float64, entries []journal.Entry) {
	b.Helper()
	ctx := context.Background()
	e, store := open(b, b.TempDir())
	defer store.Close()
	name, err := e.Submit(ctx, p, "", "person:bench")
	if err != nil {
		b.Fatal(err)
	}
	r, err := e.Open(ctx, name)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	began := time.Now()
	if err := (&local.Driver{}).Drive(ctx, r); err != nil {
		b.Fatal(err)
	}
	took := time.Since(began)
	if r.State.Phase != "completed" {
		b.Fatalf("it ended %s", r.State.Phase)
	}
	for entry, err := range store.Read(ctx, name, 0) {
		if err != nil {
			b.Fatal(err)
		}
		entries = append(entries, entry)
	}
	return float64(len(p.Tasks)) / took.Seconds(), entries
}

// rawRate writes entries into a table of the same shape, group by group.
func rawRate(b *testing.B, entries []journal.Entry, group int) float64 {
	b.Helper()
	db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "raw.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	_, err = db.Exec(`CREATE TABLE record (pos INTEGER PRIMARY KEY, plan INTEGER NOT NULL, seq INTEGER NOT NULL, bytes BLOB NOT NULL, hash BLOB NOT NULL, UNIQUE (plan, seq))`)
	must(err)
	began := time.Now()
	for at := 0; at < len(entries); at += group {
		tx, err := db.Begin()
		must(err)
		stmt, err := tx.Prepare(`INSERT INTO record (pos, plan, seq, bytes, hash) VALUES (?, 1, ?, ?, ?)`)
		must(err)
		for i := at; i < min(at+group, len(entries)); i++ {
			_, err := stmt.Exec(i+1, int64(entries[i].Seq), entries[i].Bytes, entries[i].Hash[:])
			must(err)
		}
		must(tx.Commit())
	}
	return float64(len(entries)) / time.Since(began).Seconds()
}

func TestMain(m *testing.M) { os.Exit(m.Run()) }
