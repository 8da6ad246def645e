package sandbox

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/cairn-plan/cairn/internal/fault"
)

const (
	controlFD = 3
	reportFD  = 4
)

// Start makes cmd the process that will become the child, and starts it.
func (c *Cell) Start(cmd *exec.Cmd) (started *exec.Cmd, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "cannot find this program to start it again")
	}
	cmd.Path, cmd.Args, cmd.Dir, cmd.Env = self, []string{"cairn", ConfineArg}, "/", nil
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, cmd.Start()
}

// Confine sets the limits, waits for the gate and becomes the program. It returns only when it cannot.
func Confine() int {
	control, out := os.NewFile(controlFD, "control"), os.NewFile(reportFD, "report")
	from := bufio.NewReader(control)
	o, err := readOrder(from)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s is for cairn itself: it keeps a process to its policy\n", ConfineArg)
		return 2
	}
	unix.CloseOnExec(controlFD)
	unix.CloseOnExec(reportFD)
	if word, err := from.ReadString('\n'); err != nil || word != Go {
		return 125
	}
	err = become(o)
	_ = json.NewEncoder(out).Encode(Report{Exit: 126, Error: err.Error()})
	return 126
}

func become(o order) error {
	for _, l := range o.Policy.limits() {
		var now unix.Rlimit
		if unix.Getrlimit(l.resource, &now) == nil {
			value := min(l.value, now.Max)
			_ = unix.Setrlimit(l.resource, &unix.Rlimit{Cur: value, Max: value})
		}
	}
	if o.Policy.Umask != 0 {
		unix.Umask(o.Policy.Umask)
	}
	if err := os.Chdir(o.Dir); o.Dir != "" && err != nil {
		return err
	}
	return unix.Exec("/bin/sh", append([]string{"sh", "-c", `exec "$@"`, "sh"}, o.Argv...), o.Env)
}
