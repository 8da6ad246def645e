package process

import (
	"os"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// endGrace is what a group that has lost its engine is given between being asked and being killed.
const endGrace = time.Second

// keeperGrace is what it is given when a keeper leads it, which itself ends what has left the group.
const keeperGrace = 4 * time.Second

// here names where a pid means something: this host, since it was started, in this pid namespace.
// A pid and a start time counted from boot may both come again after a reboot or in another container.
var here = sync.OnceValue(func() string {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	return name + "@" + digest.Parts(epoch()...).String()[:8]
})

// Alive reports whether the process on record still runs. One that has ended and only waits to be
// collected does not.
func Alive(p capability.Process) bool {
	if !sane(p) {
		return false
	}
	started, running := look(p.PID)
	return running && started == p.Started
}

// End ends the group of a process on record, for a resume after a crash. It does nothing unless pid,
// start time and host all fit, so that what has since got the same pid is never hit. It returns
// when the group is gone; ended says whether there was anything to end.
func End(p capability.Process) (ended bool, err error) {
	if !sane(p) {
		return false, nil
	}
	started, running := look(p.PID)
	if started != p.Started || !running && !occupied(p.PID) {
		return false, nil
	}
	gone := func() bool { return !Alive(p) && !occupied(p.PID) }
	grace := endGrace
	if keeper(p.PID) {
		grace = keeperGrace
	}
	terminateGroup(p.PID)
	if poll(grace, gone) {
		return true, nil
	}
	killGroup(p.PID)
	if !poll(stuck, gone) {
		return false, fault.New(fault.Internal, "process %d of an earlier run does not end, not even by force", p.PID).
			Remedy("end it by hand, then resume: kill -9 -- -%d", p.PID)
	}
	return true, nil
}

// sane guards against records that would make a signal reach more than one group: 0 and 1 mean
// "mine" and "everyone" to kill.
func sane(p capability.Process) bool {
	return p.PID > 1 && p.Started != 0 && p.Host == here()
}
