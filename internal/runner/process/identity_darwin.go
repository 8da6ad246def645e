package process

import "golang.org/x/sys/unix"

const zombie = 5 // SZOMB of sys/proc.h

func epoch() []string {
	boot, _ := unix.Sysctl("kern.bootsessionuuid")
	return []string{boot}
}

// look reads the start time of a process in microseconds, and whether it runs; zero when there is
// none.
func look(pid int) (started uint64, running bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return 0, false
	}
	t := k.Proc.P_starttime
	return uint64(t.Sec)*1e6 + uint64(t.Usec), k.Proc.P_stat != zombie
}

// occupied reports whether anything but the leader is left of its group.
func occupied(pid int) bool {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", pid)
	if err != nil {
		return false
	}
	for _, k := range all {
		if int(k.Proc.P_pid) != pid && k.Proc.P_stat != zombie {
			return true
		}
	}
	return false
}

func signalGroup(pid int, sig unix.Signal) { _ = unix.Kill(-pid, sig) }

// keeper is false: there are none here.
func keeper(int) bool { return false }
