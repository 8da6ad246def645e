package http_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/capability/capabilitytest"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/http"
)

// library serves one file, and breaks off as often as it is told to.
type library struct {
	*httptest.Server
	mu      sync.Mutex
	content []byte
	tag     string
	cut     int // how many answers are broken off half way
	status  int // answered in its place
	plain   bool
	asked   []string // the Range and If-Range of each request
}

func newLibrary(t *testing.T) *library {
	t.Helper()
	l := &library{content: bytes.Repeat([]byte("0123456789"), 20000), tag: `"v1"`}
	l.Server = httptest.NewServer(nethttp.HandlerFunc(l.serve))
	t.Cleanup(l.Close)
	return l
}

func (l *library) serve(w nethttp.ResponseWriter, r *nethttp.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, strings.TrimSpace(r.Header.Get("Range")+" "+r.Header.Get("If-Range")))
	if l.status != 0 {
		w.WriteHeader(l.status)
		return
	}
	if l.tag != "" {
		w.Header().Set("ETag", l.tag)
	}
	to := w
	if l.cut > 0 {
		l.cut--
		to = &cutter{ResponseWriter: w, left: len(l.content) / 4}
	}
	if l.plain {
		w.Header().Set("Content-Length", fmt.Sprint(len(l.content)))
		_, _ = to.Write(l.content)
		return
	}
	nethttp.ServeContent(to, r, "file", time.Time{}, bytes.NewReader(l.content))
}

// cutter is a connection that breaks.
type cutter struct {
	nethttp.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	if len(p) >= c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		c.ResponseWriter.(nethttp.Flusher).Flush()
		panic(nethttp.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

func (l *library) fetch(t *testing.T, dir, more string) (map[string]json.RawMessage, error) {
	t.Helper()
	_, run := download(t)
	res, err := run.Run(t.Context(), capability.Call{Dir: dir, Host: &capabilitytest.Host{}, With: json.RawMessage(`{"url": "` + l.URL + `/file", "path": "sub/file"` + more + `}`)})
	return res.Outputs, err
}

func download(t *testing.T) (*capability.Registry, capability.Runner) {
	t.Helper()
	reg := capability.NewRegistry()
	for _, e := range http.All(http.NewWith(nil, hasty(nil))) {
		if err := reg.Add(e.Contract, e.Runner); err != nil {
			t.Fatal(err)
		}
	}
	_, run, _ := reg.Lookup(http.DownloadID)
	return reg, run
}

func (l *library) check(t *testing.T, dir string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "sub", "file"))
	if err != nil || !bytes.Equal(b, l.content) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if all, _ := os.ReadDir(filepath.Join(dir, "sub")); len(all) != 1 {
		t.Errorf("left behind: %v", all)
	}
}

func TestDownloadContract(t *testing.T) {
	l := newLibrary(t)
	reg, _ := download(t)
	arrived := make(chan struct{}, 1)
	slow := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(slow.Close)
	capabilitytest.Run(t, reg, http.DownloadContract(), capabilitytest.World{
		Example: func(with json.RawMessage) json.RawMessage {
			return json.RawMessage(strings.Replace(string(with), "http://localhost", l.URL, 1))
		},
		Slow: func(*testing.T) json.RawMessage { return json.RawMessage(`{"url": "` + slow.URL + `", "path": "x"}`) },
		Ready: func(ctx context.Context) error {
			select {
			case <-arrived:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	})
}

func TestDownload(t *testing.T) {
	l := newLibrary(t)
	sum := digest.Sum(l.content).String()
	dir := t.TempDir()
	out, err := l.fetch(t, dir, `, "sha256": "`+strings.ToUpper(sum)+`"`)
	if err != nil || string(out["size"]) != "200000" || string(out["sha256"]) != `"`+sum+`"` || string(out["path"]) != `"sub/file"` || string(out["resumed"]) != "0" || string(out["url"]) != `"`+l.URL+`/file"` {
		t.Errorf("%s, %v", out, err)
	}
	l.check(t, dir)
	if out, err := l.fetch(t, dir, `, "sha256": "`+sum+`"`); err != nil || len(l.asked) != 1 || out["url"] != nil {
		t.Errorf("what is there was fetched again: %s, %v", out, err)
	}
	l.content = []byte("new")
	if _, err := l.fetch(t, dir, ``); err != nil {
		t.Error(err)
	}
	l.check(t, dir)
}

func TestDownloadGoesOn(t *testing.T) {
	l := newLibrary(t)
	dir := t.TempDir()
	l.cut = 2
	if out, err := l.fetch(t, dir, ``); err != nil || string(out["resumed"]) != "0" || len(l.asked) != 3 || l.asked[1] != `bytes=50000- "v1"` || l.asked[2] != `bytes=100000- "v1"` {
		t.Errorf("within a call: %v, %v", l.asked, err)
	}
	l.check(t, dir)

	// The next call is another process: all it knows is on disk.
	dir, l.asked, l.cut = t.TempDir(), nil, 1
	if _, err := l.fetch(t, dir, `, "retries": 0`); err == nil || !strings.Contains(err.Error(), "broke the connection off") {
		t.Fatal(err)
	}
	if out, err := l.fetch(t, dir, ``); err != nil || string(out["resumed"]) != "50000" || l.asked[1] != `bytes=50000- "v1"` {
		t.Errorf("after a crash: %s, %v, %v", out, l.asked, err)
	}
	l.check(t, dir)

	for name, change := range map[string]func(){
		"another version":   func() { l.tag, l.content = `"v2"`, bytes.Repeat([]byte("abc"), 60000) },
		"no ranges":         func() { l.plain = true },
		"a shorter file":    func() { l.content = []byte("short") },
		"all was there":     func() { l.content = l.content[:50000] },
		"another address":   func() { note(t, dir, `{"from": "`+digest.Sum([]byte("http://other/")).String()+`", "etag": "\"v1\""}`) },
		"a weak tag":        func() { note(t, dir, `{"from": "`+digest.Sum([]byte(l.URL+"/file")).String()+`", "etag": "W/\"v1\""}`) },
		"a note of nothing": func() { note(t, dir, `{`) },
	} {
		dir, l.asked, l.cut, l.plain, l.tag, l.content = t.TempDir(), nil, 1, false, `"v1"`, bytes.Repeat([]byte("0123456789"), 20000)
		if _, err := l.fetch(t, dir, `, "retries": 0`); err == nil {
			t.Fatalf("%s: it was not cut", name)
		}
		change()
		if out, err := l.fetch(t, dir, ``); err != nil || (string(out["resumed"]) == "0") == (name == "all was there") {
			t.Errorf("%s: %s, %v, %v", name, out, l.asked, err)
		}
		l.check(t, dir)
	}
}

func note(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "sub", "file.part.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDownloadFaults(t *testing.T) {
	l := newLibrary(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	fails := func(code fault.Code, says, with string) {
		t.Helper()
		_, run := download(t)
		_, err := run.Run(t.Context(), capability.Call{Dir: dir, Host: &capabilitytest.Host{}, With: json.RawMessage(with)})
		if err == nil || fault.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", with, err)
		}
	}
	url := `"url": "` + l.URL + `/file"`
	fails(fault.Failed, "is not the file that is wanted", `{`+url+`, "path": "a", "sha256": "`+strings.Repeat("0", 64)+`"}`)
	fails(fault.Failed, "more than 100 bytes", `{`+url+`, "path": "a", "max_bytes": 100}`)
	fails(fault.Invalid, "no path inside", `{`+url+`, "path": "../a"}`)
	fails(fault.Invalid, "no path inside", `{`+url+`, "path": "/a"}`)
	fails(fault.Invalid, "inputs of http.download are wrong", `{`+url+`, "path": 1}`)
	fails(fault.Invalid, "no address", `{"url": "ftp://x", "path": "a"}`)
	fails(fault.Failed, "cannot be written", `{`+url+`, "path": "plain/a"}`)
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	l.status = 404
	fails(fault.Failed, "answered 404", `{`+url+`, "path": "a"}`)
	l.status, l.asked = 503, nil
	fails(fault.Failed, "answered 503", `{`+url+`, "path": "a", "retries": 2}`)
	if len(l.asked) != 3 {
		t.Errorf("asked %d times", len(l.asked))
	}
	if _, err := l.fetch(t, filepath.Join(dir, "gone"), ``); !fault.Is(err, fault.NotFound) {
		t.Errorf("no directory: %v", err)
	}
	_, run := download(t)
	p, err := run.(capability.Previewer).Preview(t.Context(), capability.Call{With: json.RawMessage(`{` + url + `, "path": "a/b", "headers": {"X-Key": "s3cret"}}`)})
	if err != nil || p.Commands[0] != "GET "+l.URL+"/file > a/b" || strings.Contains(fmt.Sprint(p), "s3cret") {
		t.Errorf("%v, %v", p, err)
	}
	if _, err := run.(capability.Previewer).Preview(t.Context(), capability.Call{With: json.RawMessage(`[]`)}); err == nil {
		t.Error("nonsense was shown")
	}
}
