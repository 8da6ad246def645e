//go:build unix

package sandbox

import (
	"time"

	"golang.org/x/sys/unix"
)

// limit is one resource limit.
type limit struct {
	resource int
	value    uint64
}

// limits are those that the kernel holds for each process.
func (p Policy) limits() []limit {
	all := []limit{{unix.RLIMIT_CORE, 0}}
	add := func(resource int, n int64) {
		if n > 0 {
			all = append(all, limit{resource, uint64(n)})
		}
	}
	add(unix.RLIMIT_CPU, int64((p.CPU+time.Second-1)/time.Second))
	add(unix.RLIMIT_DATA, p.Memory)
	add(unix.RLIMIT_FSIZE, p.FileSize)
	add(unix.RLIMIT_NOFILE, int64(p.OpenFiles))
	return all
}
