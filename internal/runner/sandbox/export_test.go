//go:build linux

package sandbox

import (
	"os"
	"strings"
	"testing"
)

const withoutVar = "CAIRN_TEST_WITHOUT"

// Without makes this process, and the keepers it starts, believe that the system lacks protections.
func Without(t *testing.T, protections ...string) {
	env, abi, none, calls := keeperEnv, landlockABI, noSpaces.Load(), seccompWorks
	t.Cleanup(func() {
		keeperEnv, landlockABI, seccompWorks = env, abi, calls
		noSpaces.Store(none)
	})
	list := strings.Join(protections, ",")
	keeperEnv = append(append([]string{}, env...), withoutVar+"="+list)
	lose(list)
}

// Lose is for a keeper's TestMain.
func Lose() { lose(os.Getenv(withoutVar)) }

func lose(list string) {
	for p := range strings.SplitSeq(list, ",") {
		switch p {
		case "landlock":
			landlockABI = func() int { return 0 }
		case "namespaces":
			noSpaces.Store(true)
		case "seccomp":
			seccompWorks = func() bool { return false }
		}
	}
}

// LandlockABI is what this kernel has.
var LandlockABI = func() int { return landlockABI() }
