package file_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/capability/capabilitytest"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/file"
)

func registry(t *testing.T) *capability.Registry {
	t.Helper()
	reg := capability.NewRegistry()
	for _, e := range file.All() {
		if err := reg.Add(e.Contract, e.Runner); err != nil {
			t.Fatal(err)
		}
	}
	return reg
}

func TestContracts(t *testing.T) {
	reg := registry(t)
	for _, e := range file.All() {
		t.Run(e.Contract.ID, func(t *testing.T) {
			capabilitytest.Run(t, reg, e.Contract, capabilitytest.World{Prepare: func(t *testing.T, dir string) {
				write(t, dir, "README.md", "# Title v1\n")
			}})
		})
	}
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o640); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// perform runs a capability as the engine would: inputs that do not fit are refused first.
func perform(t *testing.T, id, dir, with string) (capability.Result, *capabilitytest.Host, error) {
	t.Helper()
	reg := registry(t)
	host := &capabilitytest.Host{}
	if err := reg.Check(id, json.RawMessage(with)); err != nil {
		return capability.Result{}, host, err
	}
	_, run, _ := reg.Lookup(id)
	res, err := run.Run(t.Context(), capability.Call{With: json.RawMessage(with), Dir: dir, Host: host, Key: digest.Sum([]byte("k"))})
	return res, host, err
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a/small.txt", "hello")
	write(t, dir, "large.txt", strings.Repeat("x", 5000))
	write(t, dir, "bytes", "\xff\x00")
	res, _, err := perform(t, "file.read", dir, `{"path": "./a/small.txt"}`)
	if err != nil || string(res.Outputs["text"]) != `"hello"` || string(res.Outputs["size"]) != "5" || string(res.Outputs["path"]) != `"a/small.txt"` ||
		string(res.Outputs["sha256"]) != `"`+digest.Sum([]byte("hello")).String()+`"` {
		t.Errorf("%s, %v", res.Outputs, err)
	}
	res, host, err := perform(t, "file.read", dir, `{"path": "large.txt"}`)
	if b, _ := host.Content("text"); err != nil || res.Outputs["text"] != nil || len(b) != 5000 || len(res.Artifacts) != 1 {
		t.Errorf("large: %v, %v", res, err)
	}
	res, host, err = perform(t, "file.read", dir, `{"path": "bytes"}`)
	if b, _ := host.Content("bytes"); err != nil || string(b) != "\xff\x00" || res.Outputs["text"] != nil {
		t.Errorf("bytes: %v, %v", res, err)
	}
	for with, want := range map[string]fault.Code{
		`{"path": "none"}`: fault.NotFound, `{"path": "a"}`: fault.Invalid, `{"path": "large.txt", "max_bytes": 10}`: fault.Failed,
		`{"path": "../x"}`: fault.Invalid, `{"path": "/etc/passwd"}`: fault.Invalid, `{"path": "."}`: fault.Invalid,
	} {
		if _, _, err := perform(t, "file.read", dir, with); fault.CodeOf(err) != want {
			t.Errorf("%s: %v", with, err)
		}
	}
	if _, _, err := perform(t, "file.read", filepath.Join(dir, "gone"), `{"path": "x"}`); !fault.Is(err, fault.NotFound) {
		t.Errorf("no directory: %v", err)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for with, want := range map[string][2]string{
		`{"path": "deep/er/a.txt", "text": "hi"}`:        {"deep/er/a.txt", "hi"},
		`{"path": "b.bin", "base64": "AP8="}`:            {"b.bin", "\x00\xff"},
		`{"path": "c.json", "json": {"b": 1, "a": [2]}}`: {"c.json", "{\n  \"b\": 1,\n  \"a\": [\n    2\n  ]\n}\n"},
		`{"path": "d.json", "json": null}`:               {"d.json", "null\n"},
	} {
		res, _, err := perform(t, "file.write", dir, with)
		if err != nil || content(t, dir, want[0]) != want[1] || string(res.Outputs["path"]) != `"`+want[0]+`"` {
			t.Errorf("%s: %s, %v", with, res.Outputs, err)
		}
	}
	for _, with := range []string{`{"path": "x"}`, `{"path": "x", "text": "a", "json": 1}`, `{"path": "x", "text": "a", "mode": "999"}`, `{"path": "x", "base64": "?"}`,
		`{"path": "deep", "text": "x"}`, `{"path": "../x", "text": ""}`, `{"path": "b.bin/x", "text": ""}`} {
		if _, _, err := perform(t, "file.write", dir, with); err == nil {
			t.Errorf("%s was written", with)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", ".*.new"))
	if more, err2 := filepath.Glob(filepath.Join(dir, ".*.new")); err != nil || err2 != nil || len(left)+len(more) > 0 {
		t.Errorf("left behind: %v %v", left, more)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	stop(why)
	for _, e := range file.All() {
		with := json.RawMessage(`{"path": "z", "text": "", "edits": [{"find": "a"}]}`)
		if _, err := e.Runner.Run(ctx, capability.Call{With: with, Dir: dir}); !errors.Is(err, why) {
			t.Errorf("%s when stopped: %v", e.Contract.ID, err)
		}
	}
}

func TestModeIsKept(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes")
	}
	dir := t.TempDir()
	mode := func(name string) os.FileMode {
		st, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return st.Mode().Perm()
	}
	write(t, dir, "a", "1")
	for _, c := range []struct {
		id, with, name string
		want           os.FileMode
	}{
		{"file.write", `{"path": "a", "text": "2"}`, "a", 0o640},
		{"file.patch", `{"path": "a", "edits": [{"find": "2", "replace": "3"}]}`, "a", 0o640},
		{"file.write", `{"path": "a", "text": "2", "mode": "0755"}`, "a", 0o755},
		{"file.write", `{"path": "b", "text": "2"}`, "b", 0o644},
	} {
		if _, _, err := perform(t, c.id, dir, c.with); err != nil || mode(c.name) != c.want {
			t.Errorf("%s: %o, %v; want %o", c.with, mode(c.name), err, c.want)
		}
	}
}

func TestLinksDoNotLeadOut(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write(t, outside, "secret", "s")
	write(t, dir, "real", "r")
	for name, to := range map[string]string{"out": filepath.Join(outside, "secret"), "up": "../" + filepath.Base(outside) + "/secret", "outdir": outside,
		"in": "real", "chain": "in", "loop": "loop", "new": "made"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("no links here")
		}
	}
	for _, name := range []string{"out", "up", "outdir/secret", "loop"} {
		for id, with := range map[string]string{"file.read": `{"path": "` + name + `"}`, "file.write": `{"path": "` + name + `", "text": "x"}`,
			"file.patch": `{"path": "` + name + `", "edits": [{"find": "s", "replace": "x"}]}`} {
			if _, _, err := perform(t, id, dir, with); err == nil {
				t.Errorf("%s followed %s", id, name)
			}
		}
	}
	if got := content(t, outside, "secret"); got != "s" {
		t.Errorf("a file outside became %q", got)
	}
	for name, real := range map[string]string{"chain": "real", "new": "made"} {
		if _, _, err := perform(t, "file.write", dir, `{"path": "`+name+`", "text": "`+name+`"}`); err != nil || content(t, dir, real) != name {
			t.Errorf("%s: %v", name, err)
		}
		if st, err := os.Lstat(filepath.Join(dir, name)); err != nil || st.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", name)
		}
	}
}
