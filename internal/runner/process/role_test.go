//go:build unix

package process

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"syscall"

	"github.com/cairn-plan/cairn/internal/capability"
)

const engineRole = "CAIRN_TEST_ENGINE"

// engine is the test binary as an engine: it runs one child and dies by SIGKILL at the step that
// its role names.
func engine() int {
	die := func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }
	step := os.Getenv(engineRole)
	at = func(s string) {
		if s == step {
			die()
		}
	}
	tell := func(p capability.Process) error {
		_ = json.NewEncoder(os.Stdout).Encode(p)
		if step == "spawning" {
			die()
		}
		return nil
	}
	p := sh(os.Args[1], os.Args[2:]...)
	p.Stdout = onReady(func() {
		if step == "running" {
			die()
		}
		fmt.Println("ready")
	})
	if _, err := Run(context.Background(), &desk{spawned: tell}, p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
