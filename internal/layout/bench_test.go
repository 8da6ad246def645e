package layout_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/layout"
)

// BenchmarkBesideDot draws a thousand tasks, in turns with Graphviz so that both meet the same machine. dot is
// measured as a process, and then without what starting it takes. More than twice its time is a failure.
func BenchmarkBesideDot(b *testing.B) {
	if _, err := exec.LookPath("dot"); err != nil {
		b.Skip("dot is not installed")
	}
	for _, c := range []struct {
		name string
		g    layout.Graph
	}{{"layered", layered(1000, 28, 7)}, {"narrow", layered(1000, 10, 7)}, {"tree", tree(1000)}, {"pipelines", pipelines(25, 40)}} {
		b.Run(c.name, func(b *testing.B) {
			ours, theirs, starting := time.Hour, time.Hour, time.Hour
			for b.Loop() {
				start := time.Now()
				draw(c.g)
				ours = min(ours, time.Since(start))
				_, took := dot(b, c.g)
				theirs = min(theirs, took)
				_, took = dot(b, layout.Graph{})
				starting = min(starting, took)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ours.Seconds()*1000, "ms")
			b.ReportMetric(theirs.Seconds()*1000, "dot-ms")
			b.ReportMetric((theirs-starting).Seconds()*1000, "dot-alone-ms")
			if ours > 2*(theirs-starting) {
				b.Errorf("%v, dot %v", ours, theirs-starting)
			}
		})
	}
}
