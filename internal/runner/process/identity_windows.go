package process

import "golang.org/x/sys/windows"

const stillActive = 259 // STILL_ACTIVE

// epoch is empty: start times are wall time here, so that none comes again.
func epoch() []string { return nil }

// look reads the start time of a process in 100 ns, and whether it runs; zero when there is none.
func look(pid int) (started uint64, running bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return 0, false
	}
	defer closeHandle(h)
	var born, died, kernel, user windows.Filetime
	var code uint32
	if windows.GetProcessTimes(h, &born, &died, &kernel, &user) != nil || windows.GetExitCodeProcess(h, &code) != nil {
		return 0, false
	}
	return uint64(born.HighDateTime)<<32 | uint64(born.LowDateTime), code == stillActive
}

// occupied is false: what was in the job went with it.
func occupied(int) bool { return false }

// terminateGroup asks a console group to end; a program without a console does not hear it.
func terminateGroup(pid int) {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(pid))
}

func killGroup(pid int) {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return
	}
	defer closeHandle(h)
	_ = windows.TerminateProcess(h, 1)
}

func closeHandle(h windows.Handle) { _ = windows.CloseHandle(h) }

// keeper is false: there are none here.
func keeper(int) bool { return false }
