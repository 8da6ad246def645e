package http_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/capability/capabilitytest"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/http"
)

var key = digest.Sum([]byte("key"))

// site is a server with everything that a request can run into.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	mux := nethttp.NewServeMux()
	mux.HandleFunc("/", func(w nethttp.ResponseWriter, r *nethttp.Request) { fmt.Fprint(w, "hello") })
	mux.HandleFunc("/orders", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(nethttp.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]string{"method": r.Method, "body": string(b), "key": r.Header.Get("Idempotency-Key"),
			"type": r.Header.Get("Content-Type"), "x": r.Header.Get("X-Own"), "host": r.Host})
	})
	mux.HandleFunc("/large", func(w nethttp.ResponseWriter, r *nethttp.Request) { fmt.Fprint(w, strings.Repeat("é", 4000)) })
	mux.HandleFunc("/bytes", func(w nethttp.ResponseWriter, r *nethttp.Request) { _, _ = w.Write([]byte{0xff, 0}) })
	mux.HandleFunc("/loop", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		nethttp.Redirect(w, r, "/loop", nethttp.StatusFound)
	})
	mux.HandleFunc("/moved", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		nethttp.Redirect(w, r, "/orders", nethttp.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/away", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		nethttp.Redirect(w, r, "http://"+strings.Replace(r.Host, "127.0.0.1", "localhost", 1)+"/orders", nethttp.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/cut", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "short")
	})
	for _, status := range []int{400, 401, 404, 429, 503} {
		mux.HandleFunc(fmt.Sprintf("/%d", status), func(w nethttp.ResponseWriter, r *nethttp.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, "the reason\nand more")
		})
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// hasty is a clock that waits for nothing, and notes how long it was to.
func hasty(waits *[]time.Duration) http.Clock {
	return http.Clock{Wait: func(_ context.Context, d time.Duration) error {
		if waits != nil {
			*waits = append(*waits, d)
		}
		return nil
	}}
}

func request(t *testing.T, with map[string]any) (capability.Result, *capabilitytest.Host, error) {
	t.Helper()
	raw, err := json.Marshal(with)
	if err != nil {
		t.Fatal(err)
	}
	host := &capabilitytest.Host{}
	res, err := http.NewWith(nil, hasty(nil)).Run(t.Context(), capability.Call{With: raw, Key: key, Host: host})
	return res, host, err
}

func TestContract(t *testing.T) {
	reg := capability.NewRegistry()
	if err := reg.Add(http.Contract(), http.New(nil)); err != nil {
		t.Fatal(err)
	}
	s := site(t)
	arrived := make(chan struct{}, 1)
	slow := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(slow.Close)
	capabilitytest.Run(t, reg, http.Contract(), capabilitytest.World{
		Example: func(with json.RawMessage) json.RawMessage {
			return json.RawMessage(strings.Replace(string(with), "http://localhost", s.URL, 1))
		},
		Slow: func(*testing.T) json.RawMessage { return json.RawMessage(`{"url": "` + slow.URL + `"}`) },
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

func TestAnswers(t *testing.T) {
	s := site(t)
	res, host, err := request(t, map[string]any{"url": s.URL})
	if err != nil || string(res.Outputs["body"]) != `"hello"` || *res.Exit != 200 || string(res.Outputs["status"]) != "200" || res.Stdout != "hello" ||
		!strings.Contains(string(res.Outputs["headers"]), `"content-length":"5"`) || res.Outputs["json"] != nil || host.Beats() == 0 {
		t.Errorf("%v, %v", res, err)
	}
	res, host, err = request(t, map[string]any{"url": s.URL + "/large"})
	if b, _ := host.Content("body"); err != nil || len(b) != 8000 || res.Outputs["body"] != nil || len(res.Artifacts) != 1 || len(res.Stdout) != 4096 {
		t.Errorf("large: %v, %v", res.Artifacts, err)
	}
	res, host, err = request(t, map[string]any{"url": s.URL + "/bytes"})
	if b, _ := host.Content("body"); err != nil || len(b) != 2 || res.Artifacts[0].Type != "file" || res.Stdout != "" {
		t.Errorf("bytes: %v, %v", res, err)
	}
	if res, _, err = request(t, map[string]any{"url": s.URL + "/large", "method": "head"}); err != nil || string(res.Outputs["body"]) != `""` {
		t.Errorf("head: %v, %v", res, err)
	}
	if res, _, err = request(t, map[string]any{"url": s.URL + "/404", "expect_status": 404}); err != nil || *res.Exit != 404 {
		t.Errorf("expected 404: %v, %v", res, err)
	}
}

func TestSends(t *testing.T) {
	s := site(t)
	sent := func(path string, with map[string]any) map[string]string {
		t.Helper()
		with["url"] = s.URL + path
		res, _, err := request(t, with)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]string
		if err := json.Unmarshal(res.Outputs["json"], &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := sent("/orders", map[string]any{"method": "post", "json": map[string]int{"n": 1}, "headers": map[string]string{"X-Own": "o", "Host": "shop"}})
	if got["method"] != "POST" || got["body"] != `{"n":1}` || got["key"] != key.String() || got["type"] != "application/json" || got["x"] != "o" || got["host"] != "shop" {
		t.Errorf("post: %v", got)
	}
	if got := sent("/orders", map[string]any{}); got["key"] != "" || got["method"] != "GET" {
		t.Errorf("get: %v", got)
	}
	if got := sent("/moved", map[string]any{"method": "PUT", "body": "b", "headers": map[string]string{"X-Own": "o"}}); got["method"] != "PUT" || got["body"] != "b" || got["x"] != "o" {
		t.Errorf("moved: %v", got)
	}
	if got := sent("/away", map[string]any{"method": "PUT", "body": "b", "headers": map[string]string{"X-Own": "secret"}}); got["x"] != "" || got["key"] != "" {
		t.Errorf("headers went to another server: %v", got)
	}
}

func TestFaults(t *testing.T) {
	s := site(t)
	gone := httptest.NewServer(nil)
	gone.Close()
	safe := httptest.NewTLSServer(nethttp.NotFoundHandler())
	safe.Config.ErrorLog = nil
	t.Cleanup(safe.Close)
	for name, c := range map[string]struct {
		with       map[string]any
		says, hint string
	}{
		"refused":       {map[string]any{"url": gone.URL + "/x?token=1"}, "nobody listens", "start the server"},
		"certificate":   {map[string]any{"url": safe.URL}, "no safe connection", "certificate"},
		"not https":     {map[string]any{"url": strings.Replace(s.URL, "http:", "https:", 1)}, "no safe connection", "speaks https"},
		"loop":          {map[string]any{"url": s.URL + "/loop", "redirects": 3}, "more than 3", "raise redirects"},
		"not followed":  {map[string]any{"url": s.URL + "/loop", "redirects": 0}, "answered 302 Found", "expect_status: 302"},
		"cut":           {map[string]any{"url": s.URL + "/cut"}, "broke the connection off", "try again"},
		"too long":      {map[string]any{"url": s.URL + "/large", "max_bytes": 100}, "more than 100 bytes", "raise max_bytes"},
		"400":           {map[string]any{"url": s.URL + "/400"}, "answered 400 Bad Request: the reason", "expect_status: 400"},
		"401":           {map[string]any{"url": s.URL + "/401"}, "answered 401", "secret"},
		"404":           {map[string]any{"url": s.URL + "/404"}, "answered 404", "path"},
		"429":           {map[string]any{"url": s.URL + "/429"}, "answered 429", "retry"},
		"503":           {map[string]any{"url": s.URL + "/503"}, "answered 503", "later"},
		"wrong success": {map[string]any{"url": s.URL, "expect_status": []int{201}}, "answered 200", "expect_status: 200"},
		"no address":    {map[string]any{"url": "http://"}, "no address", "https://host/path"},
		"password":      {map[string]any{"url": "ftp://u:pw@host/"}, "...@host/", "https://host/path"},
		"bad timeout":   {map[string]any{"url": s.URL, "timeout": "soon"}, "no timeout", "500ms"},
		"bad status":    {map[string]any{"url": s.URL, "expect_status": "fine"}, "neither a number", ""},
		"bad method":    {map[string]any{"url": s.URL, "method": "A B"}, "cannot be made", ""},
		"bad retries":   {map[string]any{"url": s.URL, "method": "POST", "retries": 1}, "not tried again", "retry"},
		"bad input":     {map[string]any{"url": 5}, "inputs of http.request are wrong", "show http.request"},
	} {
		res, _, err := request(t, c.with)
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(fault.HintOf(err), c.hint) {
			t.Errorf("%s: %v (%s)", name, err, fault.HintOf(err))
			continue
		}
		if strings.Contains(err.Error(), "token=1") || strings.Contains(err.Error(), "pw@") {
			t.Errorf("%s tells a secret: %v", name, err)
		}
		if strings.Contains(c.says, "answered") && (res.Exit == nil || res.Outputs["status"] == nil) {
			t.Errorf("%s: the answer is lost", name)
		}
	}
}

func TestTimeout(t *testing.T) {
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) { <-r.Context().Done() }))
	defer s.Close()
	if _, _, err := request(t, map[string]any{"url": s.URL, "timeout": "20ms"}); err == nil || !strings.Contains(err.Error(), "took longer than 20ms") {
		t.Errorf("%v", err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	stop(why)
	if _, err := http.New(nil).Run(ctx, capability.Call{With: json.RawMessage(`{"url": "` + s.URL + `"}`)}); !errors.Is(err, why) || !fault.Is(err, fault.Interrupted) {
		t.Errorf("stopped: %v", err)
	}
}

// broken is a network that fails in ways a test cannot bring about.
type broken struct{ err error }

func (b broken) RoundTrip(*nethttp.Request) (*nethttp.Response, error) { return nil, b.err }

func TestRareFaults(t *testing.T) {
	for want, err := range map[string]error{
		"the name host cannot be resolved": &net.DNSError{Err: "no such host", Name: "host", IsNotFound: true},
		"does not answer":                  &net.OpError{Op: "dial", Err: late{}},
		"got no answer":                    errors.New("something else"),
	} {
		_, got := http.NewWith(broken{err}, hasty(nil)).Run(t.Context(), capability.Call{With: json.RawMessage(`{"url": "http://host/"}`)})
		if got == nil || !strings.Contains(got.Error(), want) {
			t.Errorf("%v, want %q", got, want)
		}
	}
}

type late struct{}

func (late) Error() string   { return "i/o timeout" }
func (late) Timeout() bool   { return true }
func (late) Temporary() bool { return true }

func TestClass(t *testing.T) {
	for with, want := range map[string]capability.Class{`{}`: capability.Repeatable, `{"method": "get"}`: capability.Repeatable, `{"method": "HEAD"}`: capability.Repeatable,
		`{"method": "POST"}`: capability.Keyed, `{"method": "DELETE"}`: capability.Keyed, `[`: capability.Keyed} {
		if got := http.New(nil).Class(json.RawMessage(with)); got != want {
			t.Errorf("%s is %s", with, got)
		}
	}
}

func TestPutFails(t *testing.T) {
	s := site(t)
	_, err := http.New(nil).Run(t.Context(), capability.Call{With: json.RawMessage(`{"url": "` + s.URL + `/large"}`), Host: full{}})
	if err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("%v", err)
	}
}

type full struct{}

func (full) Beat()                            {}
func (full) Spawned(capability.Process) error { return nil }
func (full) Put(context.Context, string, string, io.Reader) (capability.Ref, error) {
	return capability.Ref{}, errors.New("the disk is full")
}
