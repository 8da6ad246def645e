// Package manifest adds capabilities without code: a YAML file says what a tool takes and gives, what
// repeating it costs, and how to call it, by a command or by a URL.
//
// A file that is not sound is refused with the line and what to write instead; nothing of it is
// used. A command is run under the same supervision as any other process of the engine: its inputs
// are JSON on standard input and CAIRN_INPUT_* variables, and what it prints are its outputs.
package manifest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

const maxFile = 1 << 20

// manifest is a file's content. The order of fields is that of docs and of messages.
type manifest struct {
	ID          string               `json:"id"`
	Version     string               `json:"version"`
	Summary     string               `json:"summary"`
	Inputs      json.RawMessage      `json:"inputs"`
	Outputs     json.RawMessage      `json:"outputs"`
	Positional  []string             `json:"positional"`
	Repeat      capability.Class     `json:"repeat"`
	Needs       capability.Needs     `json:"needs"`
	Criticality string               `json:"criticality"`
	CostTier    int                  `json:"cost_tier"`
	Estimate    string               `json:"estimate"`
	Examples    []capability.Example `json:"examples"`

	Command []string          `json:"command"`
	Run     string            `json:"run"`
	Env     map[string]string `json:"env"`
	Probe   *script           `json:"probe"`

	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers"`
	Expect  json.RawMessage   `json:"expect_status"`
}

// script is a process: a program with its arguments, or a text for the shell.
type script struct {
	Command []string `json:"command"`
	Run     string   `json:"run"`
}

// keys lists what may stand where. A nil list is a mapping of free names.
var keys = map[string][]string{
	"": {"id", "version", "summary", "inputs", "outputs", "positional", "repeat", "needs", "criticality", "cost_tier", "estimate", "examples",
		"command", "run", "env", "probe", "url", "method", "headers", "expect_status"},
	"needs":    {"network", "write", "secrets"},
	"examples": {"says", "with"},
	"probe":    {"command", "run"},
}

// aliases are other spellings of keys.
var aliases = map[string]string{"description": "summary", "schema": "inputs"}

// Load reads one manifest. Requests of a manifest with a URL are made by http, which performs
// http.request; where it is nil, such a manifest is refused.
func Load(file string, src []byte, http capability.Runner) (capability.Entry, error) {
	if len(src) > maxFile {
		return capability.Entry{}, fault.New(fault.Invalid, "%s is no manifest: it has %d bytes, at most %d are read", file, len(src), maxFile)
	}
	d := document{file: file}
	raw, err := d.read(src)
	if err != nil {
		return capability.Entry{}, err
	}
	var m manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return capability.Entry{}, d.misfit(err)
	}
	c, err := m.contract(file)
	if err != nil {
		return capability.Entry{}, err
	}
	run, err := m.runner(d, c, http)
	if err != nil {
		return capability.Entry{}, err
	}
	if err := c.Validate(); err != nil {
		return capability.Entry{}, err
	}
	return capability.Entry{Contract: c, Runner: run}, nil
}

// LoadDir reads every .yaml and .yml file of a folder, in the order of their names. A folder that is
// not there holds none. All that is wrong with all files is told at once; the good ones are returned
// all the same.
func LoadDir(dir string, http capability.Runner) ([]capability.Entry, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the manifests in %s cannot be read", dir).Remedy("it must be a folder that can be read")
	}
	var all []capability.Entry
	var wrong []error
	for _, f := range files {
		if ext := filepath.Ext(f.Name()); f.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		e, err := LoadFile(filepath.Join(dir, f.Name()), http)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		all = append(all, e)
	}
	return all, join(wrong)
}

// LoadFile reads one manifest file.
func LoadFile(file string, http capability.Runner) (capability.Entry, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return capability.Entry{}, fault.Wrap(fault.NotFound, err, "the manifest %s cannot be read", file)
	}
	return Load(file, src, http)
}

// join makes one fault of several, with the remedy of the first.
func join(wrong []error) error {
	if len(wrong) < 2 {
		return errors.Join(wrong...)
	}
	lines := make([]string, len(wrong))
	for i, err := range wrong {
		lines[i] = err.Error()
	}
	return fault.New(fault.Invalid, "%s", strings.Join(lines, "\n")).Remedy("%s", fault.HintOf(wrong[0]))
}

func (m manifest) contract(file string) (capability.Contract, error) {
	c := capability.Contract{ID: m.ID, Version: m.Version, Summary: m.Summary, Inputs: widen(m.Inputs), Outputs: widen(m.Outputs), Positional: m.Positional,
		Needs: m.Needs, Repeat: m.Repeat, Criticality: m.Criticality, CostTier: m.CostTier, Examples: m.Examples, Provider: file}
	if c.Version == "" {
		c.Version = "1"
	}
	if c.Criticality == "" {
		c.Criticality = "moderate"
	}
	c.Needs.Network = c.Needs.Network || m.URL != ""
	if c.To = []string{m.URL}; m.URL == "" {
		c.To[0] = capability.AnyHost
	}
	if c.Repeat == "" {
		c.Repeat = m.usualClass()
	}
	if m.Estimate != "" {
		d, err := time.ParseDuration(m.Estimate)
		if err != nil {
			return c, fault.New(fault.Invalid, "%s: estimate is %q, which is no duration", file, m.Estimate).Remedy("write it like 500ms, 10s or 2m")
		}
		c.Estimate = d
	}
	return c, nil
}

// usualClass is the class of a manifest that names none: that of http.request, or of shell.
func (m manifest) usualClass() capability.Class {
	if method := strings.ToUpper(m.Method); m.URL != "" && !slices.Contains([]string{"", "GET", "HEAD"}, method) {
		return capability.Keyed
	}
	return capability.Repeatable
}

// widen makes a schema of the short form, {path: string, width: optional integer}: every name is
// wanted but the optional ones, and no other is taken. What is a schema stays as it is.
func widen(raw json.RawMessage) json.RawMessage {
	var short map[string]json.RawMessage
	if json.Unmarshal(raw, &short) != nil || short == nil || isSchema(short) {
		return raw
	}
	required := []string{}
	properties := map[string]any{}
	for name, v := range short {
		var typ string
		if json.Unmarshal(v, &typ) != nil {
			properties[name] = v
			required = append(required, name)
			continue
		}
		typ, optional := strings.CutPrefix(typ, "optional ")
		if !optional {
			required = append(required, name)
		}
		properties[name] = struct{}{}
		if typ != "any" {
			properties[name] = map[string]string{"type": typ}
		}
	}
	slices.Sort(required)
	out, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
	if err != nil {
		return raw // it will be refused as it is
	}
	return out
}

func isSchema(m map[string]json.RawMessage) bool {
	for _, key := range []string{"properties", "$ref", "$schema", "allOf", "anyOf", "oneOf", "additionalProperties", "required"} {
		if _, ok := m[key]; ok {
			return true
		}
	}
	return string(m["type"]) == `"object"`
}

// runner decides how the capability is called: exactly one way must be given.
func (m manifest) runner(d document, c capability.Contract, http capability.Runner) (capability.Runner, error) {
	ways := 0
	for _, given := range []bool{len(m.Command) > 0, m.Run != "", m.URL != ""} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return nil, fault.New(fault.Invalid, "%s:%d: %d ways to call %s are given", d.file, 1, ways, m.ID).
			Remedy("give one of command: [program, arguments], run: a shell text, or url")
	}
	outputs, err := newGiving(c.Outputs)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%s: the schema of the outputs is broken", d.file)
	}
	if m.URL != "" {
		if http == nil || m.Probe != nil || len(m.Env) > 0 {
			return nil, fault.New(fault.Invalid, "%s:%d: a manifest with a url takes no probe and no env", d.file, max(d.line("probe"), d.line("env"), 1)).
				Remedy("take them out, or call the URL by a command")
		}
		return &remote{manifest: m, http: http, gives: outputs}, nil
	}
	l := &local{script: script{m.Command, m.Run}, env: m.Env, secrets: m.Needs.Secrets, needs: m.Needs, home: filepath.Dir(d.file), gives: outputs}
	if m.Probe == nil {
		return l, nil
	}
	if (m.Probe.Run == "") == (len(m.Probe.Command) == 0) {
		return nil, fault.New(fault.Invalid, "%s:%d: the probe needs either run or command", d.file, d.line("probe"))
	}
	return &probed{local: l, probe: *m.Probe}, nil
}
