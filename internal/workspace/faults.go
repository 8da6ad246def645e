package workspace

import (
	"errors"
	"regexp"
	"strings"
	"syscall"

	"github.com/cairn-plan/cairn/internal/fault"
)

// locked finds the lock file that was in git's way.
var locked = regexp.MustCompile(`Unable to create '([^']+\.lock)': File exists|cannot lock ref '([^']+)'.*File exists`)

// explain says what a failure of git means to the person who owns the files.
func explain(e *gitError) error {
	text := e.Error()
	switch m := locked.FindStringSubmatch(text); {
	case strings.Contains(text, "No space left on device"), strings.Contains(text, "isk quota exceeded"),
		strings.Contains(text, "File too large"), strings.Contains(text, "Out of diskspace"):
		return full(e)
	case m != nil:
		return fault.Wrap(fault.Conflict, e, "another git has locked %s", m[1]+m[2]).
			Remedy("wait until it has finished; if no git is running, remove %s", strings.TrimSpace(m[1]+" "+m[2]))
	case strings.Contains(text, "ermission denied"), strings.Contains(text, "Read-only file system"):
		return fault.Wrap(fault.Invalid, e, "git may not write where it has to").
			Remedy("make the project and the home writable for you, then run the command again")
	case strings.Contains(text, "object file") && strings.Contains(text, "is empty"),
		strings.Contains(text, "is corrupt"), strings.Contains(text, "bad object"), strings.Contains(text, "loose object"):
		return fault.Wrap(fault.Tampered, e, "the repository that keeps the states of the files is damaged").
			Remedy("`git fsck` in the repository says how far it is sound; put the home back from a copy made before")
	}
	return fault.Wrap(fault.Internal, e, "a step of the workspace failed")
}

func full(err error) error {
	return fault.Wrap(fault.Internal, err, "the disk is full, so this state of the files could not be kept; the files and all earlier states are as they were").
		Remedy("free some space, then run the command again")
}

// notWritten says why a file of the home could not be written.
func notWritten(err error, path string) error {
	if errors.Is(err, syscall.ENOSPC) {
		return full(err)
	}
	return fault.Wrap(fault.Invalid, err, "write %s", path).Remedy("make the home writable for you")
}

// named joins the names of files for a message; many are cut short.
func named(files []string) string {
	const most = 10
	if len(files) > most {
		return strings.Join(files[:most], ", ") + ", ..."
	}
	return strings.Join(files, ", ")
}
