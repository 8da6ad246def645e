package sandbox

import (
	"golang.org/x/sys/unix"
)

// kept are the capabilities that a task run by root keeps: those over files and users that Landlock
// does not let reach further than the policy. All others are over the machine.
const keptCaps uint32 = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID |
	1<<unix.CAP_KILL | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID | 1<<unix.CAP_NET_BIND_SERVICE

// bind puts on the calling thread all that its children inherit. It cannot be undone: the thread must be
// locked, and never be used for anything but forking the child.
func bind(p Policy, veiled, user bool) error {
	for c := 0; c <= unix.CAP_LAST_CAP; c++ {
		if user || keptCaps&(1<<c) == 0 || c > 31 {
			// Without CAP_SETPCAP this fails; then there is nothing to gain either, as no new privileges are.
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	abi := landlockABI()
	if abi > 0 {
		rules, err := newRuleset(p, abi, veiled)
		if err == nil {
			err = rules.enforce()
		}
		if err != nil {
			return err
		}
	}
	if err := dropCaps(user); err != nil {
		return err
	}
	if f := newFilter(p, abi > 0); f != nil && seccompWorks() {
		if err := f.install(); err != nil {
			return err
		}
	}
	return nil
}

// dropCaps leaves the thread the kept capabilities, or none when they are those of a user namespace.
func dropCaps(user bool) error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var now [2]unix.CapUserData
	if err := unix.Capget(&head, &now[0]); err != nil {
		return err
	}
	mask := keptCaps
	if user {
		mask = 0
	}
	var next [2]unix.CapUserData
	next[0].Permitted = now[0].Permitted & mask
	next[0].Effective = now[0].Effective & mask
	return unix.Capset(&head, &next[0])
}
