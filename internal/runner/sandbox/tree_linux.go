package sandbox

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const ticks = 100 // of the clock in /proc a second, on every architecture

// usage is what a task takes at a moment.
type usage struct {
	processes int
	memory    int64
	cpu       time.Duration
	written   int64
}

// descendants lists the processes below this one. A process that ends meanwhile may hide its children
// for one look: they have come to us by the next.
func descendants() (pids []int) {
	todo := children(os.Getpid())
	for len(todo) > 0 {
		pid := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], children(pid)...)
		pids = append(pids, pid)
	}
	return pids
}

// children lists those of all threads of a process.
func children(pid int) (pids []int) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, t := range threads {
		b, err := os.ReadFile(dir + "/" + t.Name() + "/children")
		if err != nil {
			continue
		}
		for _, f := range bytes.Fields(b) {
			if n, err := strconv.Atoi(string(f)); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids
}

// measure sums up what the descendants take, those that have ended included where that adds up.
func measure(disk bool) (u usage) {
	page := int64(os.Getpagesize())
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &ru) == nil {
		u.cpu = time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	}
	if disk {
		u.written = written(os.Getpid())
	}
	for _, pid := range descendants() {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			continue
		}
		// After the name in parentheses: the state is field 3, the four times 14 to 17, pages in memory 24.
		f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		if len(f) < 22 {
			continue
		}
		u.processes++
		for _, t := range f[11:15] {
			u.cpu += time.Duration(number(t)) * time.Second / ticks
		}
		u.memory += number(f[21]) * page
		if disk {
			u.written += written(pid)
		}
	}
	return u
}

// written is what a process, and the children it has collected, made the disks take.
func written(pid int) int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/io")
	if err != nil {
		return 0
	}
	value := func(name string) int64 {
		_, rest, ok := bytes.Cut(b, []byte("\n"+name+": "))
		if !ok {
			return 0
		}
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		return number(line)
	}
	return value("write_bytes") - value("cancelled_write_bytes")
}

func number(b []byte) int64 {
	n, _ := strconv.ParseInt(string(b), 10, 64)
	return n
}

// freeFiles counts the files that the disks of the paths have room for.
func freeFiles(paths []string) (n int64) {
	seen := map[unix.Fsid]bool{}
	for _, path := range paths {
		var st unix.Statfs_t
		if unix.Statfs(path, &st) == nil && !seen[st.Fsid] {
			seen[st.Fsid] = true
			n += int64(st.Ffree)
		}
	}
	return n
}
