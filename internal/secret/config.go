package secret

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Config is the key secrets of cairn.yaml: where each secret comes from, by name.
type Config map[string]Source

// Source is where one secret comes from: exactly one of env, file and command.
type Source struct {
	// Env is a variable of the environment.
	Env string `yaml:"env,omitempty" json:"env,omitempty"`
	// File is a path, relative to the project; ~/ is the folder of the user. One newline at its end is no
	// part of the secret.
	File string `yaml:"file,omitempty" json:"file,omitempty"`
	// Command is a program and its arguments, without a shell; its output, without one newline at its end, is
	// the secret.
	Command []string `yaml:"command,omitempty" json:"command,omitempty"`
	// Timeout ends a command that takes longer, such as "5s"; 30s when it is not set.
	Timeout string `yaml:"timeout,omitempty" json:"timeout,omitempty"`
}

const (
	defaultTimeout = 30 * time.Second
	longestTimeout = 10 * time.Minute
)

// Validate names every declaration that cannot work.
func (c Config) Validate() error {
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if !isName(name) {
			faults = append(faults, "secret "+name+": a name has letters, digits and _, and does not begin with a digit")
		}
		if text := c[name].fault(); text != "" {
			faults = append(faults, "secret "+name+": "+text)
		}
	}
	if faults == nil {
		return nil
	}
	return fault.New(fault.Invalid, "%s", strings.Join(faults, "\n")).
		Remedy("write under secrets: in cairn.yaml, for each NAME, one of {env: VARIABLE}, {file: PATH} and {command: [PROGRAM, ARGUMENT]}")
}

func (s Source) fault() string {
	given := 0
	for _, set := range []bool{s.Env != "", s.File != "", s.Command != nil} {
		if set {
			given++
		}
	}
	switch {
	case given == 0:
		return "it has no source"
	case given > 1:
		return "it has more than one source"
	case s.Command != nil && s.program() == "":
		return "its command names no program"
	case s.Timeout == "":
		return ""
	case s.Command == nil:
		return "only a command has a timeout"
	}
	if d, err := time.ParseDuration(s.Timeout); err != nil || d <= 0 || d > longestTimeout {
		return "its timeout is no duration between 1ms and " + longestTimeout.String() + ", such as 5s"
	}
	return ""
}

func (s Source) program() string {
	if len(s.Command) == 0 {
		return ""
	}
	return s.Command[0]
}

// limit is how long a command may take.
func (s Source) limit() time.Duration {
	if d, err := time.ParseDuration(s.Timeout); err == nil {
		return d
	}
	return defaultTimeout
}

// describe names the source. Arguments of a command are left out: they may be secret themselves.
func (s Source) describe() string {
	switch {
	case s.File != "":
		return "the file " + s.File
	case s.Command != nil:
		return "the command " + s.program()
	}
	return "the variable " + s.Env
}

func isName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
