package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

const (
	inline    = 4 << 10 // a longer text is an artifact
	maxParsed = 4 << 20 // of a stream that is to be parsed
)

// stream is one of the two outputs: what was kept, and how much was written.
type stream struct {
	*spool
	written int64
}

func (s stream) truncated() int64 { return s.written - s.size }

// harvest collects what a command produced into a result.
type harvest struct {
	call    capability.Call
	res     *capability.Result
	file    string // where CAIRN_OUTPUT points
	streams map[string]stream

	dir *os.Root
}

// gather fills the result. The first thing that is wrong is told; what comes after it is collected
// all the same.
func (h *harvest) gather(ctx context.Context) (first error) {
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	h.res.Outputs["exit"], _ = json.Marshal(h.res.Exit)
	for _, name := range []string{"stdout", "stderr"} {
		keep(h.text(ctx, name, "text", h.streams[name]))
	}
	told, err := readOutputs(h.file)
	keep(err)
	for _, name := range told.names {
		switch {
		case reserved(name):
			keep(fault.New(fault.Failed, "the command set the output %s, which is always set", name).
				Remedy("choose another name in what it writes to CAIRN_OUTPUT"))
		case !h.wanted(name):
			h.res.Outputs[name] = told.values[name]
		}
	}
	defer func() {
		if h.dir != nil {
			_ = h.dir.Close()
		}
	}()
	for _, w := range h.call.Want {
		keep(h.want(ctx, w, told))
	}
	return first
}

func reserved(name string) bool { return name == "exit" || name == "stdout" || name == "stderr" }

func (h *harvest) wanted(name string) bool {
	for _, w := range h.call.Want {
		if w.Name == name {
			return true
		}
	}
	return false
}

// want produces one declared output.
func (h *harvest) want(ctx context.Context, w capability.Want, told outputs) error {
	if w.Path != "" {
		return h.put(ctx, w)
	}
	if w.From != "" {
		s, ok := h.streams[w.From]
		if !ok {
			return fault.New(fault.Invalid, "output %s comes from %s, which a command does not have", w.Name, w.From).
				Remedy("from is stdout or stderr")
		}
		return h.fromStream(ctx, w, s)
	}
	if raw, ok := told.values[w.Name]; ok && !reserved(w.Name) {
		v, err := typed(w, raw)
		if err == nil {
			h.res.Outputs[w.Name] = v
		}
		return err
	}
	if reserved(w.Name) {
		return nil
	}
	return fault.New(fault.Failed, "output %s was declared but never produced", w.Name).
		Remedy("have the command write it: echo \"%s=value\" >> \"$CAIRN_OUTPUT\"; or declare where it comes from, with path or from: stdout", w.Name)
}

// fromStream makes an output of a stream, without its last newline.
func (h *harvest) fromStream(ctx context.Context, w capability.Want, s stream) error {
	if !parsed(w.Type) {
		return h.text(ctx, w.Name, w.Type, s.trimmed())
	}
	if s.truncated() > 0 {
		return fault.New(fault.Failed, "output %s cannot be read: %s was cut at %d bytes", w.Name, w.From, s.size).
			Remedy("write it to a file and declare its path")
	}
	b, err := s.bytes(maxParsed)
	if err != nil {
		return fault.Wrap(fault.Failed, err, "output %s cannot be read from %s", w.Name, w.From).
			Remedy("write it to a file and declare its path")
	}
	v, err := interpret(w, strings.TrimSuffix(string(b), "\n"))
	if err == nil {
		h.res.Outputs[w.Name] = v
	}
	return err
}

// trimmed is the stream without its last newline.
func (s stream) trimmed() stream {
	if s.size == 0 || s.truncated() > 0 {
		return s
	}
	last := make([]byte, 1)
	r, ok := s.reader().(io.ReaderAt)
	if !ok {
		return s
	}
	if _, err := r.ReadAt(last, s.size-1); err != nil || last[0] != '\n' {
		return s
	}
	short := *s.spool
	short.size--
	if short.file == nil {
		short.head = *bytes.NewBuffer(s.head.Bytes()[:short.size])
	}
	return stream{&short, s.written - 1}
}

// text makes an output of a stream when it is short and UTF-8, and an artifact otherwise.
func (h *harvest) text(ctx context.Context, name, typ string, s stream) error {
	if s.size <= inline && s.truncated() == 0 {
		b, err := s.bytes(inline)
		if err != nil {
			return err
		}
		if utf8.Valid(b) {
			h.res.Outputs[name], err = json.Marshal(string(b))
			return err
		}
	}
	ref, err := h.call.Host.Put(ctx, name, typ, s.reader())
	if err != nil {
		return err
	}
	ref.Truncated = s.truncated()
	h.res.Artifacts = append(h.res.Artifacts, ref)
	return nil
}

// put stores a file that the command left behind.
func (h *harvest) put(ctx context.Context, w capability.Want) error {
	if !filepath.IsLocal(w.Path) {
		return fault.New(fault.Invalid, "output %s: the path %s leaves the project", w.Name, w.Path).
			Remedy("give a path inside the task's directory, without ..")
	}
	if h.dir == nil {
		dir, err := os.OpenRoot(h.call.Dir)
		if err != nil {
			return fault.Wrap(fault.Failed, err, "output %s: the task's directory is gone", w.Name)
		}
		h.dir = dir
	}
	switch st, err := h.dir.Stat(w.Path); {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Failed, "output %s was declared but path %s was never produced", w.Name, w.Path).
			Remedy("have the command write %s, or correct path; it is taken from %s", w.Path, h.call.Dir)
	case err != nil:
		return fault.Wrap(fault.Failed, err, "output %s: the path %s cannot be read", w.Name, w.Path).
			Remedy("a link that leads out of the task's directory is not followed: copy the file")
	case !st.Mode().IsRegular():
		return fault.New(fault.Failed, "output %s: the path %s is no file", w.Name, w.Path).
			Remedy("declare one file; several can be packed into one: tar -cf out.tar %s", w.Path)
	}
	f, err := h.dir.Open(w.Path)
	if err != nil {
		return fault.Wrap(fault.Failed, err, "output %s: the path %s cannot be read", w.Name, w.Path)
	}
	defer func() { _ = f.Close() }()
	ref, err := h.call.Host.Put(ctx, w.Name, w.Type, f)
	if err == nil {
		h.res.Artifacts = append(h.res.Artifacts, ref)
	}
	return err
}
