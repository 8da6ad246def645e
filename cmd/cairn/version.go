package main

import (
	"runtime"
	"runtime/debug"

	"github.com/cairn-plan/cairn/internal/door/cli"
)

// release is set by the linker for a release: -X main.release=v1.2.3.
var release string

// version reads what the toolchain stamped into the binary.
func version() cli.Version {
	v := cli.Version{Number: release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if v.Number == "" {
		v.Number = info.Main.Version
	}
	if v.Number == "" {
		v.Number = "(devel)"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
