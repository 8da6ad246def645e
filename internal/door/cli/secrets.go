package cli

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cairn-plan/cairn/internal/fault"
)

// secretKeys are what says where a secret comes from.
var secretKeys = []string{"env", "file", "command", "timeout"}

// setSecrets reads the key secrets: NAME: {env: VARIABLE}, {file: PATH} or {command: [PROGRAM, ARGUMENT]}. What the
// sources themselves are worth is judged by whoever reads them.
func (c *config) setSecrets(path string, value *yaml.Node) error {
	if value.Kind != yaml.MappingNode {
		return wrongSecret(path, value.Line, "secrets is no map of names and sources")
	}
	c.secrets = map[string]Secret{}
	for i := 0; i < len(value.Content); i += 2 {
		name, from := value.Content[i], value.Content[i+1]
		if from.Kind != yaml.MappingNode {
			return wrongSecret(path, from.Line, "secret "+name.Value+" has no source")
		}
		var s Secret
		for k := 0; k < len(from.Content); k += 2 {
			if err := s.set(path, name.Value, from.Content[k], from.Content[k+1]); err != nil {
				return err
			}
		}
		c.secrets[name.Value] = s
	}
	return nil
}

func (s *Secret) set(path, name string, key, value *yaml.Node) error {
	var err error
	switch key.Value {
	case "env":
		err = value.Decode(&s.Env)
	case "file":
		err = value.Decode(&s.File)
	case "command":
		err = value.Decode(&s.Command)
	case "timeout":
		err = value.Decode(&s.Timeout)
	default:
		// The value of an unknown key may be the secret itself, so only the key is told.
		return fault.New(fault.Invalid, "%s:%d: secret %s has no source %q", path, key.Line, name, key.Value).
			Remedy("the sources are: %s", strings.Join(secretKeys, ", "))
	}
	if err != nil {
		return wrongSecret(path, value.Line, key.Value+" of secret "+name+" is of the wrong shape")
	}
	return nil
}

func wrongSecret(path string, line int, what string) error {
	return fault.New(fault.Invalid, "%s:%d: %s", path, line, what).
		Remedy("write for each NAME one of {env: VARIABLE}, {file: PATH} and {command: [PROGRAM, ARGUMENT]}")
}
