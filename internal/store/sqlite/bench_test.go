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

// rawLoop is the yardstick: the same rows and bytes through database/sql, as plainly as SQLite can
// be used durably. It answers rows a second.
func rawLoop(b *testing.B, entries []journal.Entry, group int) float64 {
	b.Helper()
	s := open(b, b.TempDir()) // for the schema
	path := s.path
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	db, err := sql.Open("sqlite", uri(path)+"?_pragma=synchronous(2)&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	insert, err := db.Prepare(insertOne)
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	for i := 0; i < len(entries); i += group {
		tx, err := db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		row := tx.Stmt(insert)
		for j := i; j < min(i+group, len(entries)); j++ {
			e := &entries[j]
			if _, err := row.Exec(j+1, 1, int64(e.Seq), e.Hash[:], e.Bytes); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	return float64(len(entries)) / time.Since(start).Seconds()
}

// BenchmarkAppend reports the store's rate beside the raw loop's, measured in the same run, and
// their ratio.
func BenchmarkAppend(b *testing.B) {
	for _, bc := range []struct {
		callers, batch int
		raw            int // rows a commit of the raw loop
	}{{1, 1, 1}, {64, 1, 256}, {1, 256, 256}, {4, 64, 256}} {
		b.Run(fmt.Sprintf("callers=%d/batch=%d", bc.callers, bc.batch), func(b *testing.B) {
			rows := max(b.N, bc.callers*bc.batch)
			chains := make([][]journal.Entry, bc.callers)
			for i := range chains {
				chains[i] = chain(fmt.Sprint("plan-", i), journal.Head{}, (rows/bc.callers+bc.batch-1)/bc.batch*bc.batch)
			}
			s := open(b, b.TempDir())
			b.ResetTimer()
			start := time.Now()
			var wg sync.WaitGroup
			for _, entries := range chains {
				wg.Go(func() {
					for i := 0; i < len(entries); i += bc.batch {
						if err := s.Append(context.Background(), entries[i:i+bc.batch]); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			rate := float64(len(chains)*len(chains[0])) / time.Since(start).Seconds()
			raw := rawLoop(b, chain("plan", journal.Head{}, rows), bc.raw)
			b.ReportMetric(rate, "rows/s")
			b.ReportMetric(raw, "raw-rows/s")
			b.ReportMetric(rate/raw, "ratio")
		})
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
