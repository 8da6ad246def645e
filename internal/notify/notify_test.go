package notify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/notify"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/runner/human"
	"github.com/cairn-plan/cairn/internal/runner/noop"
	"github.com/cairn-plan/cairn/internal/store/disk"
	"github.com/cairn-plan/cairn/internal/store/sqlite"
)

// into names the file to which this binary, called as a command, adds what it is told.
const into = "CAIRN_NOTIFY_TEST"

func TestMain(m *testing.M) {
	if file := os.Getenv(into); file != "" {
		os.Exit(listen(file))
	}
	goleak.VerifyTestMain(m)
}

func listen(file string) int {
	if file == "fail" {
		fmt.Fprint(os.Stderr, "the line is dead")
		return 3
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = io.Copy(f, os.Stdin)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 1
	}
	return 0
}

// home is a real one, with a clock that the test moves.
type home struct {
	t      *testing.T
	dir    string
	now    time.Time
	engine *engine.Engine
}

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{t: t, dir: t.TempDir(), now: time.Now().Add(-100 * time.Hour)}
	store, err := sqlite.Open(t.Context(), h.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	blobs, err := disk.Open(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	reg := capability.NewRegistry()
	for _, e := range append(human.All(), capability.Entry{Contract: noop.Contract(), Runner: noop.Runner}) {
		if err := reg.Add(e.Contract, e.Runner); err != nil {
			t.Fatal(err)
		}
	}
	h.engine = engine.New(engine.Config{Journal: store, Holder: store, Mailbox: store, Artifacts: blobs, Capabilities: reg,
		Root: h.dir, Version: "test", Host: "here", PID: 1, Now: func() time.Time { return h.now }})
	return h
}

func (h *home) submit(yaml string) string {
	h.t.Helper()
	p, faults := plan.Read("p.yaml", []byte(yaml), plan.Options{})
	if err := faults.Err(); err != nil {
		h.t.Fatal(err)
	}
	name, err := h.engine.Submit(h.t.Context(), p, "p.yaml", "person:ann")
	if err != nil {
		h.t.Fatal(err)
	}
	return name
}

// drive carries a plan out as a run does, and gives the warnings.
func (h *home) drive(d *notify.Desk, name string) (warned []string) {
	h.t.Helper()
	r, err := h.engine.Open(h.t.Context(), name)
	if err != nil {
		h.t.Fatal(err)
	}
	defer r.Close()
	w, err := d.Watch(h.t.Context(), name, func(err error) { warned = append(warned, err.Error()) })
	if err != nil {
		h.t.Fatal(err)
	}
	err = (&local.Driver{Poll: time.Millisecond, Watch: w.Take}).Drive(h.t.Context(), r)
	w.Close()
	if err != nil {
		h.t.Fatal(err)
	}
	return warned
}

// fire has the time of a gate come.
func (h *home) fire(name, task string, after time.Duration) {
	h.t.Helper()
	h.now = h.now.Add(after)
	r, err := h.engine.Open(h.t.Context(), name)
	if err != nil {
		h.t.Fatal(err)
	}
	defer r.Close()
	if _, _, err := r.Step(lifecycle.Fact{Kind: lifecycle.TimerFired, Task: task, Body: &lifecycle.Fired{For: lifecycle.TimerGate}}); err != nil {
		h.t.Fatal(err)
	}
	if err := h.engine.Journal.Append(h.t.Context(), r.TakePending()); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) desk(c notify.Config) *notify.Desk {
	h.t.Helper()
	s, err := notify.Open(c)
	if err != nil {
		h.t.Fatal(err)
	}
	return &notify.Desk{Engine: h.engine, Sender: s, Home: h.dir}
}

func self(t *testing.T, file string) notify.Config {
	t.Helper()
	t.Setenv(into, file)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // or each call ends with a second of sleep
	return notify.Config{Command: []string{os.Args[0]}}
}

// told reads the notices that a command was given.
func told(t *testing.T, file string) (out []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		out = append(out, brief(t, line))
	}
	return out
}

func brief(t *testing.T, line []byte) string {
	t.Helper()
	var n notify.Notice
	if err := json.Unmarshal(line, &n); err != nil || n.Seq == 0 || n.Time.IsZero() || n.Plan == "" {
		t.Errorf("%s: %v", line, err)
	}
	return strings.TrimSpace(n.Event + " " + n.Task + " " + n.Kind)
}

const launch = `
plan: launch
tasks:
  - {id: q, uses: human.ask, with: {question: "Where?"}}
  - {id: g, kind: gate, approve: {role: lead, within: 1h, escalate: [owner]}}
`

func TestCommandIsToldWhatWaitsAndHowItEnds(t *testing.T) {
	h := newHome(t)
	file := filepath.Join(t.TempDir(), "told")
	d := h.desk(self(t, file))
	name := h.submit(launch)
	if warned := h.drive(d, name); len(warned) > 0 {
		t.Error(warned)
	}
	want := []string{"asked q question", "asked g gate"}
	check := func(more ...string) {
		t.Helper()
		want = append(want, more...)
		if got := told(t, file); !slices.Equal(got, want) {
			t.Fatalf("told %q, want %q", got, want)
		}
	}
	check()
	catch := func() {
		t.Helper()
		if err := d.Catch(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	catch()
	check() // nothing new
	h.fire(name, "g", 2*time.Hour)
	catch()
	check("escalated g gate")
	h.fire(name, "g", 2*time.Hour)
	catch()
	check("expired g")
	if err := h.engine.Do(t.Context(), name, "person:ann", engine.Command{Name: engine.Reply, Task: "q", Text: "here"}); err != nil {
		t.Fatal(err)
	}
	catch()
	check("ended")
	catch()
	check() // it is over
}

// What a plan did before the setting was made is not told; what was not taken is told again, in order.
func TestWhatWasNotTakenIsToldAgain(t *testing.T) {
	h := newHome(t)
	name := h.submit(launch)
	if warned := h.drive(h.desk(self(t, "fail")), name); len(warned) == 0 || !strings.Contains(warned[0], "exit status 3") || !strings.Contains(warned[0], "the line is dead") {
		t.Errorf("%q", warned)
	}
	file := filepath.Join(t.TempDir(), "told")
	d := h.desk(self(t, file))
	held, err := h.engine.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Catch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := told(t, file); got != nil {
		t.Errorf("a plan that somebody holds is told by them: %q", got)
	}
	held.Close()
	if warned := h.drive(d, name); len(warned) > 0 {
		t.Error(warned)
	}
	if got := told(t, file); !slices.Equal(got, []string{"asked q question", "asked g gate"}) {
		t.Errorf("%q", got)
	}
}

func TestWebhook(t *testing.T) {
	h := newHome(t)
	var mu sync.Mutex
	var got []string
	down := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		b, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Error(r.Method, r.Header, err)
		}
		if down {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		got = append(got, brief(t, b))
	}))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	d := h.desk(notify.Config{Webhook: strings.Replace(server.URL, "http://", "http://ann:hunter2@", 1) + "/hook?token=tiger"})
	name := h.submit(launch)
	warned := h.drive(d, name)
	if len(warned) == 0 || !strings.Contains(warned[0], "503") {
		t.Errorf("%q", warned)
	}
	mu.Lock()
	down = false
	mu.Unlock()
	if err := d.Catch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []string{"asked q question", "asked g gate"}) {
		t.Errorf("%q", got)
	}
	server.Close()
	h.fire(name, "g", 2*time.Hour)
	err := d.Catch(t.Context())
	if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "tiger") {
		t.Errorf("says %v", err)
	}
}

func TestWhoDoesNotAnswerIsNotWaitedFor(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(release)
	defer http.DefaultClient.CloseIdleConnections()
	s, err := notify.Open(notify.Config{Webhook: server.URL, Timeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(t.Context(), []byte("{}")); !fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), "did not end within 1ms") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Send(ctx, []byte("{}")); err == nil {
		t.Error("sent after the end")
	}
}

func TestSettingsThatCannotWork(t *testing.T) {
	for _, c := range []struct {
		config notify.Config
		code   fault.Code
	}{
		{notify.Config{}, fault.Invalid},
		{notify.Config{Webhook: "ftp://example.org"}, fault.Invalid},
		{notify.Config{Webhook: "https://"}, fault.Invalid},
		{notify.Config{Webhook: "http://%zz"}, fault.Invalid},
		{notify.Config{Command: []string{"no-such-program-anywhere"}}, fault.NotFound},
	} {
		if _, err := notify.Open(c.config); !fault.Is(err, c.code) || fault.HintOf(err) == "" {
			t.Errorf("%+v: %v", c.config, err)
		}
	}
}

// A mark that is damaged has everything told again; a home that cannot be written says so.
func TestMarks(t *testing.T) {
	h := newHome(t)
	file := filepath.Join(t.TempDir(), "told")
	d := h.desk(self(t, file))
	name := h.submit(launch)
	h.drive(d, name)
	mark := filepath.Join(h.dir, "notify", name)
	if err := os.WriteFile(mark, []byte("?"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := d.Flush(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if got := told(t, file); len(got) != 4 {
		t.Errorf("%q", got)
	}
	if err := d.Flush(t.Context(), "another"); err != nil {
		t.Error("a plan that nobody asked for:", err)
	}
	d.Home = file // a file, where a folder is wanted
	if err := d.Begin(t.Context(), name); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	if _, err := d.Watch(t.Context(), name, nil); err == nil {
		t.Error("watches without a mark")
	}
}
