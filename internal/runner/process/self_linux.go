package process

import (
	"math"
	"sync"

	"golang.org/x/sys/unix"
)

// executablePath is this binary even when its file was replaced or removed meanwhile, as an
// upgrade or `go run` does.
func executablePath() (string, error) { return "/proc/self/exe", nil }

// keepFiles keeps open files that the engine itself was started with from its children: Go does so
// only for those that it opened. A kernel without the call (before 5.11) leaves them as they are.
var keepFiles = sync.OnceFunc(func() {
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
})
