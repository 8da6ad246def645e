package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// PatchContract is what file.patch promises.
func PatchContract() capability.Contract {
	c := builtin("file.patch", "Change files by a unified diff, or one file by finding and replacing text")
	c.Inputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "minLength": 1, "description": "From the task's directory; with a diff, the one file that it changes"},
    "diff": {"type": "string", "minLength": 1, "description": "A unified diff, as diff -u or git diff write it"},
    "edits": {"type": "array", "minItems": 1, "items": {
      "type": "object",
      "properties": {
        "find": {"type": "string", "minLength": 1, "description": "What must be there, exactly once"},
        "replace": {"type": "string", "description": "What takes its place"},
        "all": {"type": "boolean", "description": "Replace it wherever it is"}
      },
      "required": ["find", "replace"],
      "additionalProperties": false
    }}
  },
  "oneOf": [{"required": ["diff"]}, {"required": ["path", "edits"]}],
  "additionalProperties": false
}`)
	c.Outputs = json.RawMessage(`{
  "type": "object",
  "properties": {"files": {"type": "array", "items": {
    "type": "object",
    "properties": {"path": {"type": "string"}, "size": {"type": "integer"}, "sha256": {"type": "string"}, "deleted": {"type": "boolean"}},
    "required": ["path"]
  }}},
  "required": ["files"]
}`)
	c.Positional = []string{"diff"}
	c.Needs.Write = true
	c.Repeat, c.Criticality = capability.Once, "moderate"
	c.Examples = []capability.Example{
		{Says: "Replace a text that is there once", With: json.RawMessage(`{"path": "README.md", "edits": [{"find": "v1", "replace": "v2"}]}`)},
		{Says: "Apply a diff", With: json.RawMessage(`{"diff": "--- a/README.md\n+++ b/README.md\n@@ -1 +1,2 @@\n # Title v1\n+More.\n"}`)},
	}
	return c
}

// Patcher performs file.patch.
type Patcher struct{}

var (
	_ capability.Runner     = Patcher{}
	_ capability.Classifier = Patcher{}
	_ capability.Prober     = Patcher{}
)

type patching struct {
	Path  string `json:"path"`
	Diff  string `json:"diff"`
	Edits edits  `json:"edits"`
}

// Class implements capability.Classifier. A diff carries what was there before, so a second time is
// recognised; so are edits that put something in.
func (Patcher) Class(with json.RawMessage) capability.Class {
	var in patching
	if json.Unmarshal(with, &in) != nil {
		return capability.Once
	}
	if !in.Edits.plain() {
		return capability.Once
	}
	return capability.Repeatable
}

// outcome is what is to become of one file.
type outcome struct {
	name    string
	content []byte
	delete  bool
	same    bool // it is so already
}

// Run implements capability.Runner. All files are worked out before the first is written.
func (Patcher) Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	in, f, err := begin(ctx, call)
	if err != nil {
		return capability.Result{}, err
	}
	defer f.close()
	planned, err := in.plan(f)
	if err != nil {
		return capability.Result{}, err
	}
	for _, o := range planned {
		if err := f.allowed(o.name); err != nil {
			return capability.Result{}, err
		}
	}
	files := []map[string]json.RawMessage{}
	for _, o := range planned {
		switch {
		case o.delete:
			files = append(files, map[string]json.RawMessage{"path": asJSON(filepath.ToSlash(o.name)), "deleted": asJSON(true)})
			err = f.remove(o.name)
		case !o.same:
			err = f.store(o.name, o.content, 0, call.Key)
			fallthrough
		default:
			files = append(files, stamp(o.name, o.content))
		}
		if err != nil {
			return capability.Result{}, err
		}
	}
	return capability.Result{Outputs: map[string]json.RawMessage{"files": asJSON(files)}, Dir: "."}, nil
}

func begin(ctx context.Context, call capability.Call) (patching, folder, error) {
	var in patching
	if err := decode(call, "file.patch", &in); err != nil {
		return in, folder{}, err
	}
	if (in.Diff == "") == (len(in.Edits) == 0) {
		return in, folder{}, fault.New(fault.Invalid, "there must be either a diff or edits").Remedy("give one of the two")
	}
	if ctx.Err() != nil {
		return in, folder{}, context.Cause(ctx)
	}
	f, err := openFor(call)
	return in, f, err
}

func (in patching) plan(f folder) ([]outcome, error) {
	if len(in.Edits) > 0 {
		o, err := in.edited(f)
		return []outcome{o}, err
	}
	changes, err := parseDiff(in.Diff)
	if err != nil {
		return nil, err
	}
	if in.Path != "" && len(changes) > 1 {
		return nil, fault.New(fault.Invalid, "the diff changes %d files, and path names one", len(changes)).Remedy("leave path out: the diff says which files")
	}
	all := make([]outcome, len(changes))
	for i, c := range changes {
		if all[i], err = in.changed(f, c); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (in patching) edited(f folder) (outcome, error) {
	name, err := local(in.Path)
	if err != nil {
		return outcome{}, err
	}
	was, _, err := f.load(name, maxSize)
	if err != nil {
		return outcome{}, err
	}
	content, err := in.Edits.apply(was)
	if err != nil {
		return outcome{}, fault.Wrap(fault.CodeOf(err), err, "%s", name).Remedy("%s", fault.HintOf(err))
	}
	return outcome{name: name, content: content, same: bytes.Equal(was, content)}, nil
}

// name is the file that a change is about: as the call says, else as the diff does.
func (in patching) name(c change) (string, error) {
	switch {
	case in.Path != "":
		return local(in.Path)
	case c.to == unnamed:
		return "", fault.New(fault.Invalid, "the diff does not say which file it changes").Remedy("give path")
	case c.to == "":
		return local(c.from)
	case c.from != "" && c.from != c.to:
		return "", fault.New(fault.Invalid, "the diff renames %s to %s", c.from, c.to).Remedy("rename it with shell (git mv), and change it here")
	}
	return local(c.to)
}

func (in patching) changed(f folder, c change) (outcome, error) {
	name, err := in.name(c)
	if err != nil {
		return outcome{}, err
	}
	was, _, err := f.load(name, maxSize)
	absent := errors.Is(err, fs.ErrNotExist)
	if absent && (c.from == "" || c.to == "") {
		err = nil
	}
	if err != nil {
		return outcome{}, err
	}
	switch {
	case c.to == "":
		return c.deletion(name, was, absent)
	case c.from == "":
		return c.creation(name, was, absent)
	}
	now, err := c.apply(was)
	if err != nil {
		return outcome{}, fault.Wrap(fault.Failed, err, "%s", name).Remedy("%s", fault.HintOf(err))
	}
	return outcome{name: name, content: now, same: bytes.Equal(was, now)}, nil
}

func (c change) deletion(name string, was []byte, absent bool) (outcome, error) {
	if absent {
		return outcome{name: name, delete: true}, nil
	}
	if left, err := c.apply(was); err != nil || len(left) > 0 {
		return outcome{}, fault.New(fault.Conflict, "%s is not the file that the diff deletes", name).Remedy("make the diff anew")
	}
	return outcome{name: name, delete: true}, nil
}

func (c change) creation(name string, was []byte, absent bool) (outcome, error) {
	content, err := c.apply(nil)
	if err != nil {
		return outcome{}, fault.Wrap(fault.Invalid, err, "%s", name)
	}
	same := !absent && bytes.Equal(was, content)
	if !absent && !same {
		return outcome{}, fault.New(fault.Conflict, "%s is there already, and the diff makes it", name).Remedy("delete it first, or make the diff anew")
	}
	return outcome{name: name, content: content, same: same}, nil
}

// Probe implements capability.Prober: the files tell whether the change was made.
func (Patcher) Probe(ctx context.Context, call capability.Call) (capability.Result, bool, error) {
	in, f, err := begin(ctx, call)
	if err != nil {
		return capability.Result{}, false, err
	}
	defer f.close()
	if in.Diff != "" {
		return capability.Result{}, false, nil // a second time is recognised
	}
	name, err := local(in.Path)
	if err != nil {
		return capability.Result{}, false, err
	}
	content, _, err := f.load(name, maxSize)
	if err != nil {
		return capability.Result{}, false, err
	}
	done, known := in.Edits.made(content)
	if !known {
		return capability.Result{}, false, fault.New(fault.Failed, "%s looks the same before these edits as after them", name)
	}
	if !done {
		return capability.Result{}, false, nil
	}
	files := []map[string]json.RawMessage{stamp(name, content)}
	return capability.Result{Outputs: map[string]json.RawMessage{"files": asJSON(files)}, Dir: "."}, true, nil
}
