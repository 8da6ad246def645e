//go:build !linux

package sandbox

import "runtime"

// Kept says that a confined child has a keeper. Here it has none: the limits are set, and that is all.
const Kept = false

// Probe tells what this system can hold a task with.
func Probe() []Protection {
	return []Protection{
		{"files", false, "on " + runtime.GOOS + " tasks can read and write whatever you can: run cairn on Linux, or in a container"},
		{"network", false, "tasks can use the network"},
		{"signals", false, "a task could signal your other processes"},
		{"limits", true, "memory, processor time and files are bounded"},
	}
}

func lacking(Policy) []string {
	return []string{"cairn cannot keep tasks from files and networks on " + runtime.GOOS}
}

func readable(string) bool { return true }
