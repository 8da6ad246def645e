package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/door/cli"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/machine"
	"github.com/cairn-plan/cairn/internal/view"
)

// examine looks at what this machine and this home offer. It changes nothing: a home that is not there is not made.
func examine(ctx context.Context, s cli.Site) []cli.Finding {
	home, root := s.Home, s.Root
	out := []cli.Finding{
		{What: "version", OK: true, Says: strings.TrimPrefix(version().String(), "cairn ")},
		{What: "project", OK: true, Says: root},
		writable(home),
		git(ctx),
	}
	out = append(out, tries(ctx, root)...)
	out = append(out, protections()...)
	out = append(out, secrets(s))
	if _, err := os.Stat(filepath.Join(home, "cairn.db")); err == nil {
		out = append(out, keeps(ctx, s)...)
	}
	return append(out, disk(root))
}

// writable finds out whether a home can be written, or made where it is to be.
func writable(home string) cli.Finding {
	f := cli.Finding{What: "home", OK: true, Says: home}
	dir := home
	for {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return cli.Finding{What: "home", Says: dir + " is no folder", Remedy: "move it away, or choose another home with --home"}
		}
		if err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	if dir != home {
		f.Says += " (not made yet)"
	}
	probe, err := os.CreateTemp(dir, ".cairn-doctor-*")
	if err != nil {
		return cli.Finding{What: "home", Says: fmt.Sprintf("%s cannot be written: %v", dir, err), Remedy: "make it writable, or choose another home with --home"}
	}
	probe.Close()
	os.Remove(probe.Name())
	return f
}

// tries runs a command as a task would, which takes the shell and the supervisor.
func tries(ctx context.Context, root string) []cli.Finding {
	caps, err := assembly.Capabilities("")
	if err != nil {
		return []cli.Finding{{What: "capabilities", Says: err.Error()}}
	}
	_, shell, ok := caps.Lookup("shell")
	if !ok {
		return []cli.Finding{{What: "shell", Says: "not installed"}}
	}
	spawned := &witness{}
	res, err := shell.Run(ctx, capability.Call{Plan: "doctor", Task: "doctor", With: []byte(`{"run":"echo ready"}`), Dir: root, Host: spawned})
	f := cli.Finding{What: "shell", OK: err == nil && strings.TrimSpace(res.Stdout) == "ready", Says: "runs commands"}
	s := cli.Finding{What: "supervisor", OK: spawned.seen, Says: "ends children with their engine"}
	if !f.OK {
		f.Says, f.Remedy = fmt.Sprintf("cannot run a command: %v", err), "put a shell (sh) on the PATH"
	}
	if !s.OK {
		s.Says, s.Remedy = "did not start", "make sure that this binary can start itself again"
	}
	return []cli.Finding{f, s}
}

// keeps opens the home and looks at the store and the key.
func keeps(ctx context.Context, s cli.Site) []cli.Finding {
	home := s.Home
	h, err := assembly.Open(ctx, options(s, version()))
	if err != nil {
		return []cli.Finding{{What: "store", Says: err.Error(), Remedy: fault.HintOf(err)}}
	}
	names, err := h.Store.Plans(ctx)
	if err = errors.Join(err, h.Close()); err != nil {
		return []cli.Finding{{What: "store", Says: err.Error()}}
	}
	out := []cli.Finding{{What: "store", OK: true, Says: fmt.Sprintf("opens; format %s, %d plans", storeVersion(home), len(names))}}
	v, err := audit.LoadVerifier(audit.KeyPath(home))
	if err != nil {
		return append(out, cli.Finding{What: "key", Says: err.Error()})
	}
	return append(out, cli.Finding{What: "key", OK: true, Says: v.String()})
}

// storeVersion reads the version of the database out of its file's header, where SQLite keeps it for whoever made it.
func storeVersion(home string) string {
	f, err := os.Open(filepath.Join(home, "cairn.db"))
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	var b [4]byte
	if _, err := f.ReadAt(b[:], 60); err != nil {
		return "unknown"
	}
	return strconv.FormatUint(uint64(binary.BigEndian.Uint32(b[:])), 10)
}

// disk says how much room is left where the plans work.
func disk(root string) cli.Finding {
	f := cli.Finding{What: "disk", OK: true, Says: "unknown"}
	if d, ok := machine.Facts(root)["disk"].(map[string]any); ok {
		if free, ok := d["free"].(int64); ok {
			f.Says = view.Size(free) + " free"
		}
	}
	return f
}

// witness is the host of a trial call.
type witness struct{ seen bool }

var _ capability.Host = (*witness)(nil)

func (w *witness) Spawned(capability.Process) error { w.seen = true; return nil }
func (*witness) Beat()                              {}
func (*witness) Put(context.Context, string, string, io.Reader) (capability.Ref, error) {
	return capability.Ref{}, nil
}
