package workspace_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/workspace"
)

// BenchmarkTasks measures what a workspace adds to 300 shell tasks of 8 workers on a repository of 5,000 files: the
// whole time, less that of the same tasks without it. Trees of the pool are made within that time.
func BenchmarkTasks(b *testing.B) {
	const tasks, workers, files = 300, 8, 5000
	for _, kind := range []string{"here", "branch"} {
		b.Run(kind, func(b *testing.B) {
			var bare, kept, opening, busy time.Duration
			for range b.N {
				b.StopTimer()
				p := bigRepo(b, files)
				bare += run(b, tasks, workers, func(i int) { shell(b, p.root, i) })
				begun := time.Now()
				w := openKind(b, p, kind)
				opening += time.Since(begun)
				b.StartTimer()
				busy -= processorTime()
				kept += run(b, tasks, workers, func(i int) {
					if _, err := try(b.Context(), w, fmt.Sprintf("feat(plan): task %d", i), func(dir string) { shell(b, dir, i) }); err != nil {
						b.Error(err)
					}
				})
				busy += processorTime()
			}
			per := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(tasks*b.N) }
			b.ReportMetric(per(kept-bare), "ms/task")
			b.ReportMetric(per(busy), "cpu-ms/task") // tells more than the clock where others use the machine
			b.ReportMetric(per(bare), "bare-ms/task")
			b.ReportMetric(opening.Seconds()*1000/float64(b.N), "ms/open")
		})
	}
}

func openKind(t testing.TB, p *project, kind string) engine.Workspace {
	t.Helper()
	if kind == "here" {
		return p.here(workspace.Options{})
	}
	return p.branch(workspace.Options{})
}

// run hands numbers out to workers, as a driver does.
func run(t testing.TB, tasks, workers int, task func(int)) time.Duration {
	begun := time.Now()
	numbers := make(chan int)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range numbers {
				task(i)
			}
		})
	}
	for i := range tasks {
		numbers <- i
	}
	close(numbers)
	group.Wait()
	return time.Since(begun)
}

func shell(t testing.TB, dir string, i int) {
	cmd := exec.Command("sh", "-c", fmt.Sprintf("echo $$ > d%d/e/made%d.txt; echo more >> d%d/e/f%d.txt", i%50, i, i%50, i/50))
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func bigRepo(t testing.TB, files int) *project {
	p := newProject(t)
	p.git("init", "-q", "-b", "main")
	p.git("config", "user.name", "Ada")
	p.git("config", "user.email", "ada@example.org")
	for i := range files {
		dir := filepath.Join(p.root, fmt.Sprintf("d%d", i%50), "e")
		if i < 50 {
			must(t, os.MkdirAll(dir, 0o755))
		}
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", i/50)), fmt.Appendf(nil, "file %d\nwith some lines\nof text\n", i), 0o644))
	}
	p.write(".gitignore", ".cairn/\n")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "many files")
	return p
}
