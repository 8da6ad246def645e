package assembly_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/plan"
)

const small, large = 1_000, 100_000

// written is a plan of n tasks in layers of ten, as YAML or JSON.
func written(n int, json bool) []byte {
	var b bytes.Buffer
	if json {
		b.WriteString(`{"plan":"grown","policy":{"workers":64},"tasks":[`)
	} else {
		b.WriteString("plan: grown\npolicy: {workers: 64}\ntasks:\n")
	}
	for i := range n {
		needs := ""
		if i >= 10 {
			needs = fmt.Sprintf("t%06d", i-10)
		}
		if !json {
			fmt.Fprintf(&b, "  - id: t%06d\n    title: Task number %d\n    uses: noop\n    needs: [%s]\n", i, i, needs)
			continue
		}
		if i > 0 {
			b.WriteByte(',')
		}
		if needs != "" {
			needs = `"` + needs + `"`
		}
		fmt.Fprintf(&b, `{"id":"t%06d","title":"Task number %d","uses":"noop","needs":[%s]}`, i, i, needs)
	}
	if json {
		b.WriteString("]}")
	}
	return b.Bytes()
}

// BenchmarkGrowth prints what a task costs in a plan of 1,000 and in one of 100,000, and the ratio of the two.
func BenchmarkGrowth(b *testing.B) {
	caps, err := assembly.Capabilities(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	read := func(file string, src []byte) *plan.Plan {
		p, faults := plan.Read(file, src, plan.Options{Capabilities: caps})
		if err := faults.Err(); err != nil {
			b.Fatal(err)
		}
		return p
	}
	measure := func(name string, cost func(n int) time.Duration) {
		b.Run(name, func(b *testing.B) {
			few, many := time.Hour, time.Hour
			for range b.N {
				// As many tasks in a hundred plans as in one, so that both pay for what they leave to be collected.
				runtime.GC()
				var all time.Duration
				for range large / small {
					all += cost(small)
				}
				few = min(few, all*small/large)
				runtime.GC()
				many = min(many, cost(large))
			}
			b.ReportMetric(many.Seconds(), "s/100k")
			b.ReportMetric(few.Seconds()*1e6/small, "µs/task@1k")
			b.ReportMetric(many.Seconds()*1e6/large, "µs/task@100k")
			b.ReportMetric(many.Seconds()/large/(few.Seconds()/small), "ratio")
		})
	}
	for _, form := range []string{"yaml", "json"} {
		src := map[int][]byte{small: written(small, form == "json"), large: written(large, form == "json")}
		measure("check-"+form, func(n int) time.Duration {
			began := time.Now()
			read("p."+form, src[n])
			return time.Since(began)
		})
	}
	plans := map[int]*plan.Plan{small: read("p.json", written(small, true)), large: read("p.json", written(large, true))}
	measure("run", func(n int) time.Duration {
		_, took := grown(b, plans[n])
		return took
	})
	measure("resume", func(n int) time.Duration {
		dir, _ := grown(b, plans[n])
		h := house(b, dir)
		defer h.Close()
		began := time.Now()
		r, err := h.Engine.Open(context.Background(), "grown")
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		return time.Since(began)
	})
	b.Run("memory", func(b *testing.B) {
		dir, _ := grown(b, plans[large])
		h := house(b, dir)
		defer h.Close()
		before := heap()
		r, err := h.Engine.Open(context.Background(), "grown")
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		b.ReportMetric(float64(heap()-before)/large, "B/task")
		runtime.KeepAlive(r)
		for range b.N {
		}
	})
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func house(b *testing.B, dir string) *assembly.House {
	b.Helper()
	h, err := assembly.Open(context.Background(), assembly.Options{Home: filepath.Join(dir, ".cairn"), Root: dir, Version: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	return h
}

// grown carries a plan out in a new home and tells how long that took, submission included.
func grown(b *testing.B, p *plan.Plan) (dir string, took time.Duration) {
	b.Helper()
	ctx := context.Background()
	dir = b.TempDir()
	h := house(b, dir)
	defer h.Close()
	began := time.Now()
	name, err := h.Engine.Submit(ctx, p, "", "person:bench")
	if err != nil {
		b.Fatal(err)
	}
	r, err := h.Engine.Open(ctx, name)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	if err := (&local.Driver{}).Drive(ctx, r); err != nil {
		b.Fatal(err)
	}
	if r.State.Phase != "completed" {
		b.Fatalf("it ended %s", r.State.Phase)
	}
	return dir, time.Since(began)
}

// BenchmarkStart prints how much longer `cairn version` takes than a Go program that does nothing.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	empty := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(empty, []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	build := func(name, from string) string {
		out := filepath.Join(dir, name)
		if text, err := exec.Command("go", "build", "-o", out, from).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, text)
		}
		return out
	}
	ours, nothing := build("cairn", "github.com/cairn-plan/cairn/cmd/cairn"), build("nothing", empty)
	once := func(bin string, args ...string) time.Duration {
		began := time.Now()
		if err := exec.Command(bin, args...).Run(); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	most, least := time.Hour, time.Hour
	for range b.N {
		for range 20 {
			most, least = min(most, once(ours, "version")), min(least, once(nothing))
		}
	}
	b.ReportMetric(float64(most.Microseconds())/1000, "ms/cairn")
	b.ReportMetric(float64(least.Microseconds())/1000, "ms/empty")
	b.ReportMetric(float64((most-least).Microseconds())/1000, "ms-above")
}
