package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/planner/experience"
	"github.com/cairn-plan/cairn/internal/planner/score"
)

// prediction is one line of a file of predictions.
type prediction struct {
	ID    string            `json:"id"`
	Steps []predicted       `json:"steps"`
	Links []experience.Link `json:"links"`
}

type predicted struct {
	Capability string `json:"capability"`
}

func predict(id string, d experience.Draft) prediction {
	p := prediction{ID: id, Steps: []predicted{}, Links: append([]experience.Link{}, d.Links...)}
	for _, s := range d.Steps {
		p.Steps = append(p.Steps, predicted{s.Capability})
	}
	return p
}

func (p prediction) shape() score.Shape {
	s := score.Shape{Links: p.Links}
	for _, step := range p.Steps {
		s.Steps = append(s.Steps, step.Capability)
	}
	return s
}

// readInput opens a file, or standard input, and has it read.
func readInput[T any](name string, in io.Reader, read func(name string, r io.Reader) (T, error)) (T, error) {
	var none T
	if name == fromStdin {
		return read("standard input", in)
	}
	f, err := os.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return none, fault.New(fault.NotFound, "there is no file %s", name).Remedy("%s", nearby(name))
	case err != nil:
		return none, fault.Wrap(fault.Invalid, err, "read %s", name).Remedy("name a file that you can read")
	}
	defer f.Close()
	return read(name, f)
}

func writePredictions(name string, all []prediction) error {
	bad := func(err error) error {
		return fault.Wrap(fault.Invalid, err, "write %s", name).Remedy("name a file in a folder that you can write to")
	}
	f, err := os.Create(name)
	if err != nil {
		return bad(err)
	}
	w := bufio.NewWriter(f)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, p := range all {
		if err = e.Encode(p); err != nil {
			break
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return bad(err)
	}
	return nil
}

// writeEvaluation prints a row for each contestant.
func writeEvaluation(out io.Writer, e evaluation) error {
	fmt.Fprint(out, count(e.Planners[0].Cases, "case"))
	switch {
	case !slices.ContainsFunc(e.Planners, func(c *contestant) bool { return isPlanner(c.Name) }):
	case e.Folds > 0:
		fmt.Fprintf(out, ", each answered from the other %d of %d folds", e.Folds-1, e.Folds)
	case e.Past > 0:
		fmt.Fprintf(out, ", answered from %s", count(e.Past, "past case"))
	default:
		fmt.Fprint(out, ", answered from the menu alone")
	}
	fmt.Fprint(out, "\n\n")
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "planner\tnode F1\tlink F1\texact\tinvalid\tp95")
	for _, c := range e.Planners {
		p95 := "-"
		if c.P95 > 0 {
			p95 = fmt.Sprintf("%.1f ms", c.P95)
		}
		fmt.Fprintf(t, "%s\t%.4f\t%.4f\t%.4f\t%.4f\t%s\n", c.Name, c.Node, c.Link, c.Exact, c.Invalid, p95)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if d := e.Compared; d != nil {
		fmt.Fprintf(out, "\n%s against %s: better on %d, worse on %d, the same on %d\n",
			e.Planners[0].Name, e.Planners[1].Name, d.Better, d.Worse, d.Same)
	}
	return nil
}
