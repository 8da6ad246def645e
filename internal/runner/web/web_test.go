package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
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
	"github.com/cairn-plan/cairn/internal/runner/web"
)

// site is a web site with everything that a fetch can run into.
type site struct {
	*httptest.Server
	mu     sync.Mutex
	robots string
	status int // of robots.txt, when it is not 200
	page   string
	tag    string
	asked  []string
	slow   chan struct{}
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{page: "<html><head><title> A\n page </title></head><body><main><h1>Head</h1><p>Text.</p></main></body></html>", tag: `"v1"`, slow: make(chan struct{}, 1)}
	s.Server = httptest.NewServer(nethttp.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *site) serve(w nethttp.ResponseWriter, r *nethttp.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.RequestURI())
	s.mu.Unlock()
	switch path := r.URL.Path; {
	case path == "/robots.txt" && s.status != 0:
		w.WriteHeader(s.status)
	case path == "/robots.txt" && s.robots == "":
		nethttp.NotFound(w, r)
	case path == "/robots.txt":
		fmt.Fprint(w, s.robots)
	case path == "/slow":
		s.slow <- struct{}{}
		<-r.Context().Done()
	case path == "/loop":
		nethttp.Redirect(w, r, "/loop", nethttp.StatusFound)
	case path == "/moved":
		nethttp.Redirect(w, r, "/page", nethttp.StatusFound)
	case path == "/away":
		nethttp.Redirect(w, r, r.URL.Query().Get("to"), nethttp.StatusFound)
	case path == "/cut":
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "short")
	case path == "/bytes":
		_, _ = w.Write([]byte{0, 1, 2, 0xff})
	case strings.HasPrefix(path, "/status/"):
		var status int
		_, _ = fmt.Sscan(path[len("/status/"):], &status)
		w.WriteHeader(status)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("ETag", s.tag)
		if r.Header.Get("If-None-Match") == s.tag {
			w.WriteHeader(nethttp.StatusNotModified)
			return
		}
		fmt.Fprint(w, s.page)
	}
}

// reset forgets what was asked.
func (s *site) reset() { s.mu.Lock(); s.asked = nil; s.mu.Unlock() }

type reader struct {
	t   *testing.T
	dir string
	now time.Time
}

func newReader(t *testing.T) *reader {
	return &reader{t, filepath.Join(t.TempDir(), "cache"), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (r *reader) fetch(address, more string) (map[string]json.RawMessage, *capabilitytest.Host, error) {
	r.t.Helper()
	host := &capabilitytest.Host{}
	f := web.New(r.dir, nil, func() time.Time { return r.now })
	res, err := f.Run(r.t.Context(), capability.Call{With: json.RawMessage(`{"url": "` + address + `"` + more + `}`), Host: host})
	return res.Outputs, host, err
}

func (r *reader) must(address, more string) (map[string]json.RawMessage, *capabilitytest.Host) {
	r.t.Helper()
	out, host, err := r.fetch(address, more)
	if err != nil {
		r.t.Fatalf("%s: %v", address, err)
	}
	return out, host
}

func (r *reader) refused(address, more string, code fault.Code, says string) {
	r.t.Helper()
	_, _, err := r.fetch(address, more)
	if err == nil || fault.CodeOf(err) != code || !strings.Contains(err.Error(), says) || fault.HintOf(err) == "" || strings.Contains(err.Error(), "s3cret") {
		r.t.Errorf("%s: %v (%s; %s)", address, err, fault.CodeOf(err), fault.HintOf(err))
	}
}

func TestContract(t *testing.T) {
	s := newSite(t)
	reg := capability.NewRegistry()
	for _, e := range web.All(web.New(t.TempDir(), nil, nil)) {
		if err := reg.Add(e.Contract, e.Runner); err != nil {
			t.Fatal(err)
		}
	}
	capabilitytest.Run(t, reg, web.Contract(), capabilitytest.World{
		Example: func(with json.RawMessage) json.RawMessage {
			return json.RawMessage(strings.Replace(string(with), "http://localhost", s.URL, 1))
		},
		Slow: func(*testing.T) json.RawMessage { return json.RawMessage(`{"url": "` + s.URL + `/slow"}`) },
		Ready: func(ctx context.Context) error {
			select {
			case <-s.slow:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	})
}

func TestFetch(t *testing.T) {
	s, r := newSite(t), newReader(t)
	out, host := r.must(s.URL+"/page#part", ``)
	raw, _ := host.Content("raw")
	for key, want := range map[string]string{"url": s.URL + "/page#part", "final_url": s.URL + "/page", "title": "A page", "text": "# Head\n\nText.", "fetched_at": "2026-01-02T03:04:05Z",
		"sha256": digest.Sum([]byte(s.page)).String(), "content_type": "text/html; charset=utf-8"} {
		var got string
		if err := json.Unmarshal(out[key], &got); err != nil || got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if string(out["from_cache"]) != "false" || string(raw) != s.page {
		t.Errorf("%s, %q", out["from_cache"], raw)
	}
	out, _ = r.must(s.URL+"/moved", ``)
	if string(out["final_url"]) != `"`+s.URL+`/page"` {
		t.Errorf("moved: %s", out)
	}
	s.page = "<p>" + strings.Repeat("word ", 2000)
	out, host = r.must(s.URL+"/long", ``)
	if text, _ := host.Content("text"); out["text"] != nil || len(text) != 9999 {
		t.Errorf("long: %d", len(text))
	}
	out, _ = r.must(s.URL+"/bytes", ``)
	if out["text"] != nil || string(out["title"]) != `""` || string(out["content_type"]) != `"application/octet-stream"` {
		t.Errorf("bytes: %s", out)
	}
}

func TestCache(t *testing.T) {
	s, r := newSite(t), newReader(t)
	r.must(s.URL+"/page", ``)
	r.now = r.now.Add(time.Hour)
	s.reset()
	out, host := r.must(s.URL+"/page", ``) // the server says that nothing changed
	if raw, _ := host.Content("raw"); string(out["from_cache"]) != "true" || string(out["fetched_at"]) != `"2026-01-02T03:04:05Z"` || string(raw) != s.page || len(s.asked) != 1 {
		t.Errorf("%s, %v", out, s.asked)
	}
	s.reset()
	r.now = r.now.Add(time.Hour)
	if out, _ := r.must(s.URL+"/page", `, "max_age": "2h"`); string(out["from_cache"]) != "true" || len(s.asked) != 0 {
		t.Errorf("the server was asked: %v", s.asked)
	}
	s.page, s.tag = "<p>new", `"v2"`
	if out, _ := r.must(s.URL+"/page", `, "max_age": "10m"`); string(out["from_cache"]) != "false" || string(out["text"]) != `"new"` || string(out["fetched_at"]) != `"2026-01-02T05:04:05Z"` {
		t.Errorf("%s", out)
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "*.body"))
	if err != nil || len(files) != 3 { // two versions, and the rules of the site
		t.Errorf("%v, %v", files, err)
	}
	for _, f := range files {
		if err := os.WriteFile(f, []byte("spoiled"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, _ := r.must(s.URL+"/page", `, "max_age": "10m"`); string(out["from_cache"]) != "false" || string(out["text"]) != `"new"` {
		t.Errorf("a spoiled cache was believed: %s", out)
	}
	if left, _ := filepath.Glob(filepath.Join(r.dir, ".new-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	blocked := &reader{t, filepath.Join(r.dir, "x.json", "y"), r.now}
	if err := os.WriteFile(filepath.Join(r.dir, "x.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	blocked.refused(s.URL+"/page", ``, fault.Failed, "cannot be kept")
}

func TestRobots(t *testing.T) {
	s, r := newSite(t), newReader(t)
	s.robots = "User-agent: *\nDisallow: /private\n"
	r.must(s.URL+"/page", ``)
	r.must(s.URL+"/other", ``)
	if strings.Count(strings.Join(s.asked, " "), "robots.txt") != 1 {
		t.Errorf("the rules were asked for each time: %v", s.asked)
	}
	r.refused(s.URL+"/private/x", ``, fault.Denied, "does not want /private/x")
	if strings.Contains(strings.Join(s.asked, " "), "private") {
		t.Errorf("it was fetched all the same: %v", s.asked)
	}
	r.must(s.URL+"/private/x", `, "ignore_robots": true`)
	r.must(s.URL+"/robots.txt", ``)
	s.robots = ""
	r.now = r.now.Add(25 * time.Hour)
	r.must(s.URL+"/private/x", ``) // the rules are read again after a day

	other := newSite(t)
	other.robots = "User-agent: cairn\nDisallow: /\n"
	r.refused(s.URL+"/away?to="+other.URL+"/page", ``, fault.Denied, other.URL+"/robots.txt does not want")
	r.must(s.URL+"/away?to="+other.URL+"/page", `, "ignore_robots": true`)
	unwell := newSite(t)
	unwell.status = 503
	r.refused(unwell.URL+"/page", ``, fault.Failed, "nobody knows what may be fetched")
}

func TestFaults(t *testing.T) {
	s, r := newSite(t), newReader(t)
	gone := httptest.NewServer(nil)
	gone.Close()
	safe := httptest.NewTLSServer(nethttp.NotFoundHandler())
	safe.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(safe.Close)
	for status, hint := range map[int]string{404: "path", 410: "path", 401: "credentials", 403: "credentials", 429: "retry", 500: "later", 418: "browser", 304: "browser"} {
		_, _, err := r.fetch(fmt.Sprintf("%s/status/%d?key=s3cret", s.URL, status), ``)
		if !fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), fmt.Sprint("answered ", status)) || !strings.Contains(fault.HintOf(err), hint) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%d: %v (%s)", status, err, fault.HintOf(err))
		}
	}
	r.refused(gone.URL, ``, fault.Failed, "nobody listens")
	r.refused(safe.URL, ``, fault.Failed, "no safe connection")
	r.refused(strings.Replace(s.URL, "http:", "https:", 1), ``, fault.Failed, "no safe connection")
	r.refused(s.URL+"/loop", ``, fault.Failed, "on and on")
	r.refused(s.URL+"/cut?key=s3cret", ``, fault.Failed, "did not come whole")
	r.refused(s.URL+"/page", `, "max_bytes": 10`, fault.Failed, "longer than 10 bytes")
	r.refused(s.URL+"/slow", `, "timeout": "20ms"`, fault.Failed, "took longer than 20ms")
	for with, says := range map[string]string{`"ftp://x"`: "no address", `"http://u:s3cret@h/"`: "no address", `5`: "inputs of web.fetch", `"http://h/", "max_age": "soon"`: "no duration", `"http://h/", "timeout": "-1s"`: "no duration"} {
		_, err := web.New(r.dir, nil, nil).Run(t.Context(), capability.Call{With: json.RawMessage(`{"url": ` + with + `}`)})
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", with, err)
		}
	}
	for want, err := range map[string]error{"cannot be resolved": &net.DNSError{Name: "host", IsNotFound: true}, "does not answer": late{}, "did not come whole": errors.New("odd")} {
		_, got := web.New(r.dir, broken{err}, nil).Run(t.Context(), capability.Call{With: json.RawMessage(`{"url": "http://host/"}`)})
		if got == nil || !strings.Contains(got.Error(), want) {
			t.Errorf("%v, want %s", got, want)
		}
	}
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	stop(why)
	if _, err := web.New(r.dir, nil, nil).Run(ctx, capability.Call{With: json.RawMessage(`{"url": "` + s.URL + `"}`)}); !errors.Is(err, why) || !fault.Is(err, fault.Interrupted) {
		t.Errorf("stopped: %v", err)
	}
	for n := range 2 {
		_, err := web.New(r.dir, nil, nil).Run(t.Context(), capability.Call{With: json.RawMessage(`{"url": "` + s.URL + `/page"}`), Host: &full{left: n}})
		if s.page = "<p>" + strings.Repeat("x ", 5000); err == nil || !strings.Contains(err.Error(), "disk is full") {
			t.Errorf("%v", err)
		}
		s.tag = ""
	}
}

// broken is a network that fails in ways a test cannot bring about.
type broken struct{ err error }

func (b broken) RoundTrip(*nethttp.Request) (*nethttp.Response, error) { return nil, b.err }

type late struct{}

func (late) Error() string   { return "i/o timeout" }
func (late) Timeout() bool   { return true }
func (late) Temporary() bool { return true }

// full is a host that can keep a few things and then no more.
type full struct {
	capabilitytest.Host
	left int
}

func (f *full) Put(context.Context, string, string, io.Reader) (capability.Ref, error) {
	if f.left--; f.left < 0 {
		return capability.Ref{}, errors.New("the disk is full")
	}
	return capability.Ref{}, nil
}
