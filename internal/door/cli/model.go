package cli

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Model is one entry of the key models. What it is worth is judged by whoever asks it.
type Model struct {
	Provider    string
	Model       string
	URL         string
	Key         string // the name of a secret
	MaxTokens   int
	Temperature *float64
	Timeout     time.Duration
	Tries       int
	Price       Price
}

// Price is what a million tokens cost.
type Price struct {
	In       float64
	Out      float64
	Currency string
}

var modelKeys = []string{"provider", "model", "url", "key", "max_tokens", "temperature", "timeout", "tries", "price"}

// aSecret is how a key is named: the value itself has no place in a file.
var aSecret = regexp.MustCompile(`^\$\{secret:([A-Za-z_][A-Za-z0-9_]*)\}$`)

// setModels reads the key models: NAME: {provider: openai, model: NAME, ...}.
func (c *config) setModels(path string, value *yaml.Node) error {
	if value.Kind != yaml.MappingNode {
		return wrongModel(path, value, "models is no map of names and models")
	}
	c.models = map[string]Model{}
	for i := 0; i < len(value.Content); i += 2 {
		name, from := value.Content[i], value.Content[i+1]
		if from.Kind != yaml.MappingNode {
			return wrongModel(path, from, "model "+name.Value+" is no map")
		}
		if _, twice := c.models[name.Value]; twice {
			return wrongModel(path, name, "model "+name.Value+" is there twice")
		}
		var m Model
		for k := 0; k < len(from.Content); k += 2 {
			if err := m.set(path, name.Value, from.Content[k], from.Content[k+1]); err != nil {
				return err
			}
		}
		c.models[name.Value] = m
	}
	return nil
}

func (m *Model) set(path, name string, key, value *yaml.Node) error {
	var err error
	switch key.Value {
	case "provider":
		err = value.Decode(&m.Provider)
	case "model":
		err = value.Decode(&m.Model)
	case "url":
		err = value.Decode(&m.URL)
	case "key":
		found := aSecret.FindStringSubmatch(value.Value)
		if found == nil { // what is there may be the key itself, so it is not told
			return fault.New(fault.Invalid, "%s:%d: key of model %s names no secret", path, value.Line, name).
				Remedy("write key: ${secret:NAME}, and put the key itself into CAIRN_SECRET_NAME or under secrets")
		}
		m.Key = found[1]
	case "max_tokens":
		err = value.Decode(&m.MaxTokens)
	case "temperature":
		err = value.Decode(&m.Temperature)
	case "timeout":
		m.Timeout, err = time.ParseDuration(value.Value)
	case "tries":
		err = value.Decode(&m.Tries)
	case "price":
		return m.Price.set(path, name, value)
	default:
		remedy := "its keys are: " + strings.Join(modelKeys, ", ")
		if near := nearest(key.Value, modelKeys); near != "" {
			remedy = "did you mean " + near + "?"
		}
		return fault.New(fault.Invalid, "%s:%d: model %s has no key %q", path, key.Line, name, key.Value).Remedy("%s", remedy)
	}
	if err != nil {
		return wrongModel(path, value, fmt.Sprintf("%s of model %s is %q", key.Value, name, value.Value))
	}
	return nil
}

func (p *Price) set(path, name string, value *yaml.Node) error {
	if value.Kind != yaml.MappingNode {
		return wrongModel(path, value, "price of model "+name+" is no map")
	}
	for i := 0; i < len(value.Content); i += 2 {
		var err error
		switch key, v := value.Content[i], value.Content[i+1]; key.Value {
		case "in":
			err = v.Decode(&p.In)
		case "out":
			err = v.Decode(&p.Out)
		case "currency":
			err = v.Decode(&p.Currency)
		default:
			return wrongModel(path, key, fmt.Sprintf("price of model %s has no key %q", name, key.Value))
		}
		if err != nil {
			return wrongModel(path, value.Content[i+1], "price of model "+name+" is no number")
		}
	}
	return nil
}

func wrongModel(path string, at *yaml.Node, what string) error {
	return fault.New(fault.Invalid, "%s:%d: %s", path, at.Line, what).
		Remedy("write for each NAME: {provider: openai, model: NAME, url: URL, key: ${secret:NAME}, timeout: 60s, tries: 3, max_tokens: 2000, price: {in: 2.5, out: 10}}")
}
