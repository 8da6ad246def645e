package plan

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// chainYAML is a plan as people write it: a chain with a branch at every tenth task.
func chainYAML(n int) []byte {
	var b strings.Builder
	b.WriteString("plan: bench\ntitle: A chain\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - id: task-%d\n    kind: implement\n    uses: noop\n", i)
		if i > 0 {
			fmt.Fprintf(&b, "    needs: [task-%d]\n", i-1)
		}
		if i%10 == 9 {
			fmt.Fprintf(&b, "    with: {value: \"${task-%d.value}\", n: %d}\n", i-1, i)
		}
		b.WriteString("    expect: [exit == 0]\n")
	}
	return []byte(b.String())
}

func chainJSON(tb testing.TB, n int) []byte {
	p, fs := Read("bench.yaml", chainYAML(n), Options{})
	if err := fs.Err(); err != nil {
		tb.Fatal(err)
	}
	b, err := p.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// measure runs f and reports what it costs for each task: time, allocation, and what stays.
func measure(b *testing.B, tasks int, f func() *Plan) {
	b.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		f()
	}
	runtime.ReadMemStats(&after)
	ops := float64(b.N * tasks)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/ops, "ns/task")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/ops, "bytes/task")
	runtime.GC()
	runtime.ReadMemStats(&before)
	p := f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(tasks), "kept/task")
	runtime.KeepAlive(p)
	runtime.KeepAlive(f) // with the source, which would be counted against what stays
}

func benchmarkSizes(b *testing.B, f func(b *testing.B, n int)) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { f(b, n) })
	}
}

func BenchmarkCheckYAML(b *testing.B) {
	benchmarkSizes(b, func(b *testing.B, n int) {
		src := chainYAML(n)
		measure(b, n, func() *Plan { return checked(b, "bench.yaml", src) })
	})
}

func BenchmarkCheckJSON(b *testing.B) {
	benchmarkSizes(b, func(b *testing.B, n int) {
		src := chainJSON(b, n)
		measure(b, n, func() *Plan { return checked(b, "bench.json", src) })
	})
}

func BenchmarkDecode(b *testing.B) {
	benchmarkSizes(b, func(b *testing.B, n int) {
		src := chainJSON(b, n)
		measure(b, n, func() *Plan {
			p, err := Decode(src)
			if err != nil {
				b.Fatal(err)
			}
			return p
		})
	})
}

func BenchmarkEncode(b *testing.B) {
	benchmarkSizes(b, func(b *testing.B, n int) {
		p, err := Decode(chainJSON(b, n))
		if err != nil {
			b.Fatal(err)
		}
		measure(b, n, func() *Plan {
			if _, err := p.Encode(); err != nil {
				b.Fatal(err)
			}
			return p
		})
	})
}

func checked(tb testing.TB, file string, src []byte) *Plan {
	p, fs := Read(file, src, Options{})
	if len(fs) > 0 {
		tb.Fatal(fs[0])
	}
	return p
}
