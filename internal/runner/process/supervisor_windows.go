package process

import (
	"fmt"
	"os"
)

var supervisor watchman

// watchman has nothing to do here: the kernel ends a job when the engine's handle closes.
type watchman struct{}

func (watchman) close() {}

// Supervise is not needed on Windows.
func Supervise() int {
	fmt.Fprintln(os.Stderr, "there is nothing to supervise on Windows: job objects do it")
	return 2
}
