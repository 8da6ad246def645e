package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/journal"
)

// chain makes n entries of a plan after head, as large as those of an ordinary run.
func chain(plan string, head journal.Head, n int) []journal.Entry {
	out := make([]journal.Entry, n)
	for i := range out {
		out[i] = journal.Seal(journal.Record{
			Plan: plan, Rev: 1, Kind: "task.started", Time: time.Unix(1800000000, int64(i)), Actor: "engine",
			Cause: head.Seq, Task: fmt.Sprint("task-", i), Attempt: 1,
			Body: []byte(`{"capability":"noop@1","inputs":"4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865"}`),
		}, head)
		head = out[i].Head()
	}
	return out
}

// raw is the yardstick: the same rows and bytes through database/sql, with a prepared statement, as
// plainly as SQLite can be used durably.
type raw struct {
	db     *sql.DB
	insert *sql.Stmt
	rows   int
	plans  map[string]int
}

func newRaw(b *testing.B) *raw {
	b.Helper()
	s := open(b, b.TempDir()) // for the schema
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	db, err := sql.Open("sqlite", uri(s.path)+"?_pragma=synchronous(2)&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	insert, err := db.Prepare(insertOne)
	if err != nil {
		b.Fatal(err)
	}
	return &raw{db: db, insert: insert, plans: map[string]int{}}
}

// write commits entries in groups.
func (r *raw) write(b *testing.B, entries []journal.Entry, group int) {
	for i := 0; i < len(entries); i += group {
		tx, err := r.db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		row := tx.Stmt(r.insert)
		for j := i; j < min(i+group, len(entries)); j++ {
			e := &entries[j]
			r.rows++
			if _, err := row.Exec(r.rows, r.plans[e.Plan], int64(e.Seq), e.Hash[:], e.Bytes); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend takes turns with the raw loop, so that both have the same weather, and reports
// both rates and their ratio. An operation is one row.
func BenchmarkAppend(b *testing.B) {
	for _, bc := range []struct {
		callers, batch int
		group          int // rows a commit of the raw loop: the most that the callers can fill
	}{{1, 1, 1}, {64, 1, 64}, {1, 256, 256}, {4, 64, 256}} {
		b.Run(fmt.Sprintf("callers=%d/batch=%d", bc.callers, bc.batch), func(b *testing.B) {
			turn := max(8*bc.callers*bc.batch, 256) // rows of one turn
			turns := (b.N + turn - 1) / turn
			chains := make([][]journal.Entry, bc.callers)
			s, r := open(b, b.TempDir()), newRaw(b)
			for i := range chains {
				name := fmt.Sprint("plan-", i)
				r.plans[name] = i + 1
				chains[i] = chain(name, journal.Head{}, turns*turn/bc.callers)
			}
			var ours, theirs time.Duration
			b.ResetTimer()
			for n := range turns {
				own := turn / bc.callers
				start := time.Now()
				var wg sync.WaitGroup
				for _, entries := range chains {
					wg.Go(func() { appendInBatches(b, s, entries[n*own:(n+1)*own], bc.batch) })
				}
				wg.Wait()
				ours += time.Since(start)
				b.StopTimer()
				rows := make([]journal.Entry, 0, turn)
				for i := 0; i < own; i += bc.batch { // in the order in which the callers come
					for _, entries := range chains {
						rows = append(rows, entries[n*own+i:n*own+i+bc.batch]...)
					}
				}
				start = time.Now()
				r.write(b, rows, bc.group)
				theirs += time.Since(start)
				b.StartTimer()
			}
			rows := float64(turns * turn)
			b.ReportMetric(rows/ours.Seconds(), "rows/s")
			b.ReportMetric(rows/theirs.Seconds(), "raw-rows/s")
			b.ReportMetric(theirs.Seconds()/ours.Seconds(), "ratio")
		})
	}
}

func appendInBatches(b *testing.B, s *Store, entries []journal.Entry, batch int) {
	for i := 0; i < len(entries); i += batch {
		if err := s.Append(context.Background(), entries[i:i+batch]); err != nil {
			b.Error(err)
			return
		}
	}
}

func BenchmarkRead(b *testing.B) {
	s := open(b, b.TempDir())
	const n = 200_000
	if err := s.Append(context.Background(), chain("plan", journal.Head{}, n)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		count := 0
		for _, err := range s.Read(context.Background(), "plan", 0) {
			if err != nil {
				b.Fatal(err)
			}
			count++
		}
		if count != n {
			b.Fatal(count)
		}
	}
}
