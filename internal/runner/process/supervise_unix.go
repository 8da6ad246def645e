//go:build unix

package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Supervise is the supervisor's whole life: it notes which groups run, and when the engine's pipe ends
// it ends those still noted. It returns the exit status. Signals meant for the engine do not
// touch it: it has to be the last to go.
func Supervise() int {
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE)
	if os.Getenv(marker) == "" {
		fmt.Fprintf(os.Stderr, "%s is for cairn itself: it supervises the processes of a run\n", SupervisorArg)
		return 2
	}
	fmt.Fprintln(os.Stdout, readyLine)
	shut(os.Stdout)
	endAll(heed(os.Stdin))
	return 0
}

// heed reads orders to their end and returns the groups that are still listed.
func heed(orders io.Reader) map[int]uint64 {
	groups := map[int]uint64{}
	for lines := bufio.NewScanner(orders); lines.Scan(); {
		var (
			sign    rune
			pid     int
			started uint64
		)
		n, _ := fmt.Sscanf(lines.Text(), "%c%d %d", &sign, &pid, &started)
		switch {
		case n == 3 && sign == '+' && pid > 1:
			groups[pid] = started
		case n >= 2 && sign == '-':
			delete(groups, pid)
		}
	}
	return groups
}

// endAll asks the groups to end, and kills those that do not.
func endAll(groups map[int]uint64) {
	left := func() bool {
		for pid, started := range groups {
			if !ours(pid, started) {
				delete(groups, pid)
			}
		}
		return len(groups) == 0
	}
	if left() {
		return
	}
	grace := endGrace
	for pid := range groups {
		if keeper(pid) {
			grace = keeperGrace
		}
		terminateGroup(pid)
	}
	if poll(grace, left) {
		return
	}
	poll(stuck, func() bool {
		for pid := range groups {
			killGroup(pid)
		}
		return left()
	})
}

// ours reports whether anything of a listed group is left. The leader may be gone, as when it wrote to
// the engine's closed pipe, and others of its group not: no other process can have got its number
// then, for a number is not given out while a group has it, and the engine takes a group off
// the list before it gives the number back.
func ours(pid int, started uint64) bool {
	now, running := look(pid)
	if now != 0 && now != started {
		return false
	}
	return running || occupied(pid)
}
