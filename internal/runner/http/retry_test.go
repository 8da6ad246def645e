package http_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/capability/capabilitytest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/http"
)

// moody answers each request with the next status, and the last for ever.
func moody(t *testing.T, after string, statuses ...int) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	var asked atomic.Int32
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		n := int(asked.Add(1)) - 1
		status := statuses[min(n, len(statuses)-1)]
		if status == 0 {
			panic(nethttp.ErrAbortHandler)
		}
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, "answer %d", n+1)
	}))
	t.Cleanup(s.Close)
	return s, &asked
}

func call(with string) capability.Call {
	return capability.Call{With: json.RawMessage(with), Host: &capabilitytest.Host{}}
}

func TestRetries(t *testing.T) {
	for name, c := range map[string]struct {
		after    string
		statuses []int
		more     string
		asked    int32
		fails    bool
		waits    []time.Duration
	}{
		"twice unwell":         {"", []int{503, 0, 200}, ``, 3, false, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}},
		"always unwell":        {"", []int{500}, ``, 3, true, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}},
		"as often as asked":    {"", []int{502}, `, "retries": 3`, 4, true, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second}},
		"not at all":           {"", []int{503}, `, "retries": 0`, 1, true, nil},
		"when it says":         {"7", []int{429, 200}, ``, 2, false, []time.Duration{7 * time.Second}},
		"too late":             {"7200", []int{503, 200}, ``, 1, true, nil},
		"at a time that is by": {"Wed, 21 Oct 2015 07:28:00 GMT", []int{503, 200}, ``, 2, false, []time.Duration{0}},
		"a mistake of ours":    {"", []int{404, 200}, ``, 1, true, nil},
		"never will":           {"", []int{501, 200}, ``, 1, true, nil},
		"that is what we want": {"", []int{503, 200}, `, "expect_status": 503`, 1, false, nil},
		"a post":               {"", []int{503, 200}, `, "method": "POST"`, 1, true, nil},
		"a put, when asked":    {"", []int{503, 200}, `, "method": "PUT", "retries": 1`, 2, false, []time.Duration{250 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			s, asked := moody(t, c.after, c.statuses...)
			var waits []time.Duration
			res, err := http.NewWith(nil, hasty(&waits)).Run(t.Context(), call(`{"url": "`+s.URL+`"`+c.more+`}`))
			if (err != nil) != c.fails || asked.Load() != c.asked || !slices.Equal(waits, c.waits) {
				t.Errorf("%v; asked %d times, waited %v", err, asked.Load(), waits)
			}
			if want := fmt.Sprintf(`"answer %d"`, c.asked); res.Outputs != nil && string(res.Outputs["body"]) != want {
				t.Errorf("%s, want %s", res.Outputs["body"], want)
			}
		})
	}
}

func TestWaitingIsStopped(t *testing.T) {
	s, _ := moody(t, "30", 503)
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	r := http.NewWith(nil, http.Clock{Wait: func(ctx context.Context, _ time.Duration) error { stop(why); return ctx.Err() }})
	if _, err := r.Run(ctx, call(`{"url": "`+s.URL+`"}`)); !errors.Is(err, why) || !fault.Is(err, fault.Interrupted) {
		t.Errorf("%v", err)
	}
}

func TestBreaker(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := hasty(nil)
	clock.Now = func() time.Time { return now }
	r := http.NewWith(nil, clock)
	s, asked := moody(t, "", 500, 500, 500, 500, 404, 500, 500, 500, 500, 500, 500, 200)
	ask := func(want int32, says string) {
		t.Helper()
		_, err := r.Run(t.Context(), call(`{"url": "`+s.URL+`", "retries": 0}`))
		if asked.Load() != want || (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("asked %d times, want %d: %v", asked.Load(), want, err)
		}
	}
	for n := range int32(4) {
		ask(n+1, "500")
	}
	ask(5, "404") // the server is well, the request is not
	for n := range int32(5) {
		ask(n+6, "500")
	}
	ask(10, "failed 5 times in a row, and is not asked again before 2026-01-02T03:05:05Z")
	other, _ := moody(t, "", 200)
	if _, err := r.Run(t.Context(), call(`{"url": "`+other.URL+`"}`)); err != nil {
		t.Errorf("another server: %v", err)
	}
	now = now.Add(time.Minute)
	ask(11, "500") // on trial, and still unwell
	ask(11, "is not asked again before 2026-01-02T03:06:05Z")
	now = now.Add(time.Minute)
	ask(12, "")
	ask(13, "")

	gone := httptest.NewServer(nil)
	gone.Close()
	for _, says := range []string{"nobody listens", "nobody listens", "is not asked again"} {
		if _, err := r.Run(t.Context(), call(`{"url": "`+gone.URL+`"}`)); err == nil || !strings.Contains(err.Error(), says) || fault.HintOf(err) == "" {
			t.Errorf("want %s: %v", says, err)
		}
	}
}

func TestPreview(t *testing.T) {
	s, asked := moody(t, "", 200)
	p, err := http.New(nil).Preview(t.Context(), call(`{"url": "`+strings.Replace(s.URL, "http://", "http://u:pw@", 1)+`/orders?key=s3cret&page=2", "method": "post",
		"headers": {"Authorization": "Bearer s3cret", "Content-Type": "text/plain"}, "body": "`+strings.Repeat("x", 3000)+`"}`))
	text := strings.Join(p.Commands, "\n")
	if err != nil || asked.Load() != 0 || p.Commands[0] != "POST "+s.URL+"/orders?key=...&page=..." || !strings.Contains(text, "Authorization: ...") || !strings.Contains(text, "Content-Type: text/plain") ||
		!strings.Contains(text, "952 bytes more") || strings.Contains(text, "s3cret") || strings.Contains(text, "pw") || len(p.Unforeseen) == 0 {
		t.Errorf("%s, %v", text, err)
	}
	if p, err := http.New(nil).Preview(t.Context(), call(`{"url": "http://h/", "method": "PUT", "json": {"a": 1}}`)); err != nil || p.Commands[1] != `  {"a": 1}` {
		t.Errorf("%v, %v", p, err)
	}
	for _, bad := range []string{`{"url": "x"}`, `{"url": "http://h/", "method": "A B"}`} {
		if _, err := http.New(nil).Preview(t.Context(), call(bad)); err == nil {
			t.Errorf("%s was shown", bad)
		}
	}
}
