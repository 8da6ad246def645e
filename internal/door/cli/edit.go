package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// edited lets a person write the next revision, beginning with the present one.
func (a *app) edited(ctx context.Context, st *lifecycle.State, caps plan.Catalogue) (reading, error) {
	spec, err := st.Plan.Encode()
	if err != nil {
		return reading{}, err
	}
	text, err := plan.Format(st.Name+".json", spec, "yaml")
	if err != nil {
		return reading{}, err
	}
	dir, err := os.MkdirTemp("", "cairn")
	if err != nil {
		return reading{}, fault.Wrap(fault.Failed, err, "make a file to write in")
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, st.Name+".yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return reading{}, fault.Wrap(fault.Failed, err, "write %s", file)
	}
	if err := a.editor(ctx, file); err != nil {
		return reading{}, err
	}
	r, err := readPlan(file, a.io.In, caps)
	r.name = st.Name + ".yaml"
	return r, err
}

// editor opens a file in the person's editor and waits until it is closed.
func (a *app) editor(ctx context.Context, file string) error {
	command := a.env("VISUAL")
	if command == "" {
		command = a.env("EDITOR")
	}
	if command == "" {
		return fault.New(fault.Invalid, "no editor is set").Remedy("set EDITOR, or write the plan into a file and use --file FILE")
	}
	// An editor is set as a command line, with its flags.
	c := exec.CommandContext(ctx, "sh", "-c", command+` "$1"`, "sh", file)
	if runtime.GOOS == "windows" {
		c = exec.CommandContext(ctx, "cmd", "/C", command, file)
	}
	c.Stdin, c.Stdout, c.Stderr = a.io.In, a.io.Out, a.io.Err
	if err := c.Run(); err != nil {
		return fault.Wrap(fault.Failed, err, "the editor %s", command).Remedy("nothing was changed; see what EDITOR is set to")
	}
	return nil
}
