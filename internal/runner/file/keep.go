package file

import (
	"context"
	"encoding/json"
	"io/fs"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// maxBackup is how much of a file is kept in a record. A larger one is kept by the workspace alone.
const maxBackup = 2 << 10

// Writer performs file.write, and keeps the file that it is about to replace.
type Writer struct{}

var (
	_ capability.Runner = Writer{}
	_ capability.Keeper = Writer{}
)

// kept is a file as it was.
type kept struct {
	Path    string      `json:"path"`
	Absent  bool        `json:"absent,omitempty"`
	Mode    fs.FileMode `json:"mode,omitempty"`
	Content []byte      `json:"content,omitempty"`
}

// Run implements capability.Runner.
func (Writer) Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	return Write(ctx, call)
}

// Backup implements capability.Keeper.
func (Writer) Backup(_ context.Context, call capability.Call) (json.RawMessage, error) {
	var in writing
	if err := decode(call, "file.write", &in); err != nil {
		return nil, err
	}
	name, err := local(in.Path)
	if err != nil {
		return nil, err
	}
	f, err := open(call.Dir)
	if err != nil {
		return nil, err
	}
	defer f.close()
	was := kept{Path: in.Path}
	info, err := f.root.Stat(name)
	switch {
	case err != nil:
		was.Absent = true // or out of reach, which writing will say
	case info.Size() > maxBackup || !info.Mode().IsRegular():
		return nil, nil
	default:
		was.Mode = info.Mode().Perm()
		if was.Content, err = f.root.ReadFile(name); err != nil {
			return nil, explain(err, "read", in.Path)
		}
	}
	return json.Marshal(was)
}

// Restore implements capability.Keeper.
func (Writer) Restore(_ context.Context, call capability.Call, backup json.RawMessage) error {
	var was kept
	if err := json.Unmarshal(backup, &was); err != nil {
		return fault.Wrap(fault.Tampered, err, "the copy of the file cannot be read")
	}
	name, err := local(was.Path)
	if err != nil {
		return err
	}
	f, err := open(call.Dir)
	if err != nil {
		return err
	}
	defer f.close()
	if !was.Absent {
		return f.store(name, was.Content, was.Mode, call.Key)
	}
	if _, err := f.root.Lstat(name); err != nil {
		return nil // it is gone already
	}
	if err := f.root.Remove(name); err != nil {
		return explain(err, "remove", was.Path)
	}
	return nil
}
