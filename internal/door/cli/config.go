package cli

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// configName is the file with a project's settings.
const configName = "cairn.yaml"

// config is what a project settles for all of its commands.
type config struct {
	home    string // relative to the project
	workers int
	actor   string
	secrets map[string]Secret
	roles   map[string][]string // who has which; names as the journal has them
	as      string              // whether people may act under another name
	policy  *plan.Policy
	notify  Notify
	models  map[string]Model
}

// configKeys are all there are; an unknown one is refused, or a slip of the hand would change nothing in silence.
var configKeys = []string{"home", "workers", "actor", "secrets", "roles", "as", "policy", "notify", "models"}

func readConfig(path string) (c config, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fault.Wrap(fault.Invalid, err, "read the settings").Remedy("make %s a file that you can read", path)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return c, fault.New(fault.Invalid, "%s: %s", path, strings.TrimPrefix(err.Error(), "yaml: ")).Remedy("mend the file, or remove it")
	}
	if doc.Kind == 0 {
		return c, nil
	}
	m := doc.Content[0]
	if m.Kind != yaml.MappingNode {
		return c, fault.New(fault.Invalid, "%s:%d: the settings are no map of names and values", path, m.Line).
			Remedy("write lines such as workers: 4")
	}
	for i := 0; i < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		if key.Value == "policy" {
			err = c.setPolicy(path, b)
		} else {
			err = c.set(path, key, value)
		}
		if err != nil {
			return config{}, err
		}
	}
	return c, nil
}

func (c *config) set(path string, key, value *yaml.Node) error {
	if !slices.Contains(configKeys, key.Value) {
		remedy := "the settings are: " + strings.Join(configKeys, ", ")
		if near := nearest(key.Value, configKeys); near != "" {
			remedy = "did you mean " + near + "?"
		}
		return fault.New(fault.Invalid, "%s:%d: there is no setting %q", path, key.Line, key.Value).Remedy("%s", remedy)
	}
	switch key.Value {
	case "secrets":
		return c.setSecrets(path, value)
	case "roles":
		return c.setRoles(path, value)
	case "as":
		return c.setAs(path, value)
	case "notify":
		return c.setNotify(path, value)
	case "models":
		return c.setModels(path, value)
	}
	if value.Kind != yaml.ScalarNode || value.Value == "" {
		return fault.New(fault.Invalid, "%s:%d: %s wants one value", path, value.Line, key.Value).Remedy("write %s: VALUE", key.Value)
	}
	switch key.Value {
	case "home":
		c.home = value.Value
	case "actor":
		c.actor = value.Value
	case "workers":
		n, err := strconv.Atoi(value.Value)
		if err != nil || n < 1 {
			return fault.New(fault.Invalid, "%s:%d: workers is %q, which is no number above 0", path, value.Line, value.Value).
				Remedy("write a number such as 4")
		}
		c.workers = n
	}
	return nil
}

// nearest finds the word that a slip of the hand or two would turn into name.
func nearest(name string, words []string) string {
	best, least := "", 3
	for _, w := range words {
		if d := slips(strings.ToLower(name), w); d < least && d < len(w) {
			best, least = w, d
		}
	}
	return best
}

// slips counts the letters to put in, leave out or change to make a into b.
func slips(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
