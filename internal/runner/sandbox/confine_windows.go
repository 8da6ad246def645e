package sandbox

import (
	"fmt"
	"os"
	"time"
)

// Bounds are the limits that a job object can hold; zero is none.
type Bounds struct {
	Memory    uintptr
	Processes uint32
	CPU       time.Duration
}

// Bounds of the policy.
func (c *Cell) Bounds() Bounds {
	p := c.policy
	return Bounds{uintptr(max(0, p.Memory)), uint32(max(0, p.Processes)), p.CPU}
}

// Confine is not needed on Windows.
func Confine() int {
	fmt.Fprintln(os.Stderr, "there is no keeper on Windows: job objects hold the limits")
	return 2
}
