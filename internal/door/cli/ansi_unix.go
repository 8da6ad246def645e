//go:build !windows

package cli

import "os"

// speaksANSI reports whether a terminal understands escape sequences: all do.
func speaksANSI(*os.File) bool { return true }
