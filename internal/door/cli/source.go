package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/plan/source"
	"github.com/cairn-plan/cairn/internal/risk"
	"github.com/cairn-plan/cairn/internal/view"
)

// fromStdin is the name that stands for standard input.
const fromStdin = "-"

// planEndings are those by which an argument that is no file yet can only have meant one.
var planEndings = []string{".yaml", ".yml", ".json", ".plan"}

// readFile reads a file that somebody named. Whatever can be wrong with it has its own message.
func readFile(name string, in io.Reader) ([]byte, error) {
	if name == fromStdin {
		return readAtMost(name, in)
	}
	f, err := os.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.NotFound, "there is no file %s", name).Remedy("%s", nearby(name))
	case err != nil:
		return nil, fault.Wrap(fault.Invalid, err, "read %s", name).Remedy("name a file that you can read")
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fault.Wrap(fault.Invalid, err, "read %s", name).Remedy("name a file that you can read")
	case info.IsDir():
		return nil, fault.New(fault.Invalid, "%s is a folder, not a plan file", name).Remedy("%s", inside(name))
	case info.Size() > source.MaxBytes:
		return nil, tooLarge(name, info.Size())
	}
	return readAtMost(name, f)
}

// readAtMost reads a stream whose size is not known beforehand.
func readAtMost(name string, r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, source.MaxBytes+1))
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "read %s", name).Remedy("name a file that you can read")
	}
	if len(b) > source.MaxBytes {
		return nil, tooLarge(name, int64(len(b)))
	}
	return b, nil
}

func tooLarge(name string, size int64) error {
	return fault.New(fault.Invalid, "%s has %d bytes or more, and a plan file has %d at most", name, size, source.MaxBytes).
		Remedy("split it: a task's subplan can name a file of its own")
}

// nearby names the plan file that was probably meant.
func nearby(name string) string {
	dir := filepath.Dir(name)
	var files []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Sprintf("there is no folder %s either", dir)
	}
	for _, e := range entries {
		if slices.Contains(planEndings, filepath.Ext(e.Name())) {
			files = append(files, e.Name())
		}
	}
	if near := nearest(filepath.Base(name), files); near != "" {
		return fmt.Sprintf("did you mean %s?", filepath.Join(dir, near))
	}
	return "see what is there with: ls " + dir
}

// inside names a plan file of a folder that was given in its place.
func inside(dir string) string {
	entries, err := os.ReadDir(dir)
	if err == nil {
		for _, e := range entries {
			if !e.IsDir() && slices.Contains(planEndings, filepath.Ext(e.Name())) {
				return fmt.Sprintf("name a file in it, such as %s", filepath.Join(dir, e.Name()))
			}
		}
	}
	return "name a plan file"
}

// reading is a plan file that was read and checked.
type reading struct {
	name   string
	src    []byte
	plan   *plan.Plan
	faults plan.Faults
}

// readPlan reads a plan file and checks it against what is installed; caps may be nil.
func readPlan(name string, in io.Reader, caps plan.Catalogue) (reading, error) {
	src, err := readFile(name, in)
	if err != nil {
		return reading{}, err
	}
	shown := filepath.ToSlash(name)
	p, faults := plan.Read(shown, src, plan.Options{Capabilities: caps, Programs: risk.Programs, ReadFile: func(path string) ([]byte, error) {
		return readFile(filepath.FromSlash(path), strings.NewReader(""))
	}})
	return reading{name: name, src: src, plan: p, faults: faults}, nil
}

// tell prints what is wrong, with the lines it is wrong in.
func (r reading) tell(w io.Writer, color bool) error {
	return view.Faults(w, r.faults, color, map[string][]byte{filepath.ToSlash(r.name): r.src})
}

// err is nil when the plan may run.
func (r reading) err() error {
	errs := r.faults.Errors()
	if len(errs) == 0 {
		return nil
	}
	return rejected{fault.New(fault.Invalid, "%s has %s", r.name, count(len(errs), "error")).
		Remedy("mend what is listed, then see: cairn check %s", r.name), r.faults}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
