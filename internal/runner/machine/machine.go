// Package machine tells what preconditions may ask of the machine a plan runs on: is there a network, how much
// disk and memory is free. It looks and never touches; what cannot be found out is left out, so that an
// expression that asks for it fails with a reason instead of being guessed at.
package machine

import (
	"bufio"
	"net"
	"os"
	"strconv"
	"strings"
)

// Facts are the variables network, disk and memory; dir is where free disk is measured.
func Facts(dir string) map[string]any {
	disk, memory := map[string]any{}, map[string]any{}
	if free, err := diskFree(dir); err == nil {
		disk["free"] = free
	}
	if free, err := memoryFree("/proc/meminfo"); err == nil {
		memory["free"], memory["has_space"] = free, free
	}
	return map[string]any{"network": map[string]any{"online": online()}, "disk": disk, "memory": memory}
}

// online reports whether an interface that leads off this machine is up and has an address. Nobody is called.
func online() bool {
	ifs, err := net.Interfaces()
	if err != nil {
		return false
	}
	for _, i := range ifs {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		if addrs, err := i.Addrs(); err == nil && len(addrs) > 0 {
			return true
		}
	}
	return false
}

// memoryFree reads how much memory programs can still have, where the kernel tells it in a file.
func memoryFree(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if v, ok := strings.CutPrefix(sc.Text(), "MemAvailable:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(v), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, os.ErrNotExist
}
