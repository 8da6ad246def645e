package view

import (
	"io"

	"github.com/cairn-plan/cairn/internal/plan"
)

// Faults writes what is wrong with plan files, each with its place, what to do, and the line itself where its source
// is given by file name.
func Faults(w io.Writer, fs plan.Faults, color bool, sources map[string][]byte) error { return nil }
