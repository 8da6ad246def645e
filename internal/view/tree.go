package view

import (
	"time"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// TreeOptions say how a tree is drawn.
type TreeOptions struct {
	Width  int       // of a line, in cells; 0: no limit
	Height int       // of all lines; 0: no limit
	Color  bool      // with ANSI colours
	ASCII  bool      // for a terminal that is not UTF-8
	Now    time.Time // what elapsed is counted to; zero: elapsed is left out for what still runs
	Frame  int       // of the spinner
	Times  *Times    // when tasks began and ended; nil: unknown
}

// TreeLines draws the tasks of a run, one a line, and a last line that sums them up.
func TreeLines(st *lifecycle.State, o TreeOptions) []string { return nil }
