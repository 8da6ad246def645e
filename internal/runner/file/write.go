package file

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"strconv"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// WriteContract is what file.write promises.
func WriteContract() capability.Contract {
	c := builtin("file.write", "Write a file, whole and in one step, making folders as needed")
	c.Inputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "minLength": 1, "description": "From the task's directory"},
    "text": {"type": "string", "description": "The content"},
    "base64": {"type": "string", "description": "The content, when it is no text"},
    "json": {"description": "The content, written as indented JSON"},
    "mode": {"type": "string", "pattern": "^0?[0-7]{3}$", "description": "Permissions such as 0755; those of the file that is there, or 0644"}
  },
  "required": ["path"],
  "oneOf": [{"required": ["text"]}, {"required": ["base64"]}, {"required": ["json"]}],
  "additionalProperties": false
}`)
	c.Outputs = json.RawMessage(`{
  "type": "object",
  "properties": {"path": {"type": "string"}, "size": {"type": "integer"}, "sha256": {"type": "string"}},
  "required": ["path", "size", "sha256"]
}`)
	c.Positional = []string{"path", "text"}
	c.Needs.Write = true
	c.Repeat, c.Criticality = capability.Repeatable, "moderate"
	c.Examples = []capability.Example{
		{Says: "Write a page", With: json.RawMessage(`{"path": "notes/summary.md", "text": "# Summary\n"}`)},
		{Says: "Write a script that can be run", With: json.RawMessage(`{"path": "hello.sh", "text": "echo hello\n", "mode": "0755"}`)},
		{Says: "Write data", With: json.RawMessage(`{"path": "out/data.json", "json": {"n": [1, 2]}}`)},
	}
	return c
}

type writing struct {
	Path   string          `json:"path"`
	Text   *string         `json:"text"`
	Base64 *string         `json:"base64"`
	JSON   json.RawMessage `json:"json"`
	Mode   string          `json:"mode"`
}

func (w writing) content() ([]byte, error) {
	switch {
	case w.Text != nil:
		return []byte(*w.Text), nil
	case w.Base64 != nil:
		b, err := base64.StdEncoding.DecodeString(*w.Base64)
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "the content is no base64")
		}
		return b, nil
	case w.JSON != nil:
		var b bytes.Buffer
		if err := json.Indent(&b, w.JSON, "", "  "); err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "the content is no JSON")
		}
		b.WriteByte('\n')
		return b.Bytes(), nil
	}
	return nil, fault.New(fault.Invalid, "there is nothing to write").Remedy("give text, base64 or json")
}

func (w writing) mode() (fs.FileMode, error) {
	if w.Mode == "" {
		return 0, nil
	}
	m, err := strconv.ParseUint(w.Mode, 8, 9)
	if err != nil {
		return 0, fault.Wrap(fault.Invalid, err, "%q are no permissions", w.Mode).Remedy("write them like 0644")
	}
	return fs.FileMode(m), nil
}

// Write performs file.write.
func Write(ctx context.Context, call capability.Call) (capability.Result, error) {
	var in writing
	if err := decode(call, "file.write", &in); err != nil {
		return capability.Result{}, err
	}
	name, err := local(in.Path)
	if err != nil {
		return capability.Result{}, err
	}
	content, err := in.content()
	if err != nil {
		return capability.Result{}, err
	}
	mode, err := in.mode()
	if err != nil {
		return capability.Result{}, err
	}
	if ctx.Err() != nil {
		return capability.Result{}, context.Cause(ctx)
	}
	f, err := openFor(call)
	if err != nil {
		return capability.Result{}, err
	}
	defer f.close()
	if err := f.store(name, content, mode, call.Key); err != nil {
		return capability.Result{}, err
	}
	return capability.Result{Outputs: stamp(name, content), Dir: "."}, nil
}
