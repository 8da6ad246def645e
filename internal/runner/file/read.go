package file

import (
	"bytes"
	"context"
	"encoding/json"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/capability"
)

// ReadContract is what file.read promises.
func ReadContract() capability.Contract {
	c := builtin("file.read", "Read a file")
	c.Inputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "minLength": 1, "description": "From the task's directory"},
    "max_bytes": {"type": "integer", "minimum": 1, "maximum": 67108864, "description": "A longer file is refused; 64 MiB when absent"}
  },
  "required": ["path"],
  "additionalProperties": false
}`)
	c.Outputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string"},
    "size": {"type": "integer", "description": "In bytes"},
    "sha256": {"type": "string"},
    "text": {"type": "string", "description": "The content, when it is UTF-8; an artifact when over 4 KiB"},
    "bytes": {"description": "The content as an artifact, when it is not UTF-8"}
  },
  "required": ["path", "size", "sha256"]
}`)
	c.Positional = []string{"path"}
	c.Repeat, c.Criticality = capability.Repeatable, "safe"
	c.Examples = []capability.Example{{Says: "Read a page", With: json.RawMessage(`{"path": "README.md"}`)}}
	return c
}

// Read performs file.read.
func Read(ctx context.Context, call capability.Call) (capability.Result, error) {
	in := struct {
		Path     string `json:"path"`
		MaxBytes int64  `json:"max_bytes"`
	}{MaxBytes: maxSize}
	if err := decode(call, "file.read", &in); err != nil {
		return capability.Result{}, err
	}
	name, err := local(in.Path)
	if err != nil {
		return capability.Result{}, err
	}
	if ctx.Err() != nil {
		return capability.Result{}, context.Cause(ctx)
	}
	f, err := open(call.Dir)
	if err != nil {
		return capability.Result{}, err
	}
	defer f.close()
	content, _, err := f.load(name, min(in.MaxBytes, maxSize))
	if err != nil {
		return capability.Result{}, err
	}
	res := capability.Result{Outputs: stamp(name, content), Dir: "."}
	switch text := utf8.Valid(content); {
	case text && len(content) <= inline:
		res.Outputs["text"] = asJSON(string(content))
	case text:
		res.Artifacts, err = put(ctx, call, "text", "text", content)
	default:
		res.Artifacts, err = put(ctx, call, "bytes", "file", content)
	}
	return res, err
}

func put(ctx context.Context, call capability.Call, name, typ string, content []byte) ([]capability.Ref, error) {
	ref, err := call.Host.Put(ctx, name, typ, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return []capability.Ref{ref}, nil
}
