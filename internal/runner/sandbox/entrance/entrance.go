// Package entrance makes a program a keeper before the rest of it has begun.
//
// Every confined child starts this binary once more, and most of that start would be the initialisation of
// packages that a keeper never uses: expressions, databases, protocols. This package needs few others, so that
// Go initialises it before those; when the first argument is sandbox.ConfineArg it never returns. A command
// imports it for that alone. It is the one place in the house where importing does something.
package entrance

import (
	"os"

	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

func init() { //nolint:gochecknoinits // main comes after the initialisation that is to be spared
	if len(os.Args) > 1 && os.Args[1] == sandbox.ConfineArg {
		os.Exit(sandbox.Confine()) //nolint:forbidigo // this is the main of a keeper
	}
}
