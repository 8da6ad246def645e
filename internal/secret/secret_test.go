package secret_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/redact"
	"github.com/cairn-plan/cairn/internal/secret"
)

// The test binary is the command that secrets come from: what it does is the value of roleVariable.
const roleVariable = "CAIRN_TEST_ROLE"

func TestMain(m *testing.M) {
	role, ok := os.LookupEnv(roleVariable)
	if !ok {
		os.Exit(m.Run())
	}
	switch role {
	case "print":
		fmt.Println(os.Args[1])
	case "fail":
		fmt.Println("half-a-value")
		fmt.Fprintln(os.Stderr, "denied for hunter22")
		os.Exit(3)
	case "flood":
		fmt.Print(strings.Repeat("x", 10*redact.Longest))
	case "count":
		f, err := os.OpenFile(os.Args[1], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		fmt.Fprint(f, "x")
		f.Close()
		fmt.Print("counted-value")
	case "hang":
		fmt.Println("hunter22")
		<-time.After(5 * time.Minute)
	}
}

func open(t *testing.T, c secret.Config, o secret.Options) *secret.Store {
	t.Helper()
	if o.Environ == nil {
		o.Environ = []string{}
	}
	s, err := secret.Open(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func as(role string) []string { return append(os.Environ(), roleVariable+"="+role) }

func self(t *testing.T, args ...string) []string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{path}, args...)
}

func write(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "value")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEnvironment(t *testing.T) {
	s := open(t, secret.Config{"DECLARED": {Env: "PLAIN"}, "BOTH": {Env: "PLAIN"}, "UNSET": {Env: "NOWHERE"}, "REST": {File: "nowhere"}},
		secret.Options{Environ: []string{"PLAIN=plain value", "OTHER=other value", "CAIRN_SECRET_API=api value", "CAIRN_SECRET_BOTH=above", "CAIRN_SECRET_REST=", "CAIRN_SECRET_EMPTY=", "CAIRN_SECRET_=x", "junk"}})
	if got := s.Names(); !slices.Equal(got, []string{"API", "BOTH", "DECLARED", "EMPTY", "REST", "UNSET"}) {
		t.Fatal(got)
	}
	for name, want := range map[string]string{"DECLARED": "plain value", "API": "api value", "BOTH": "above"} {
		if got, err := s.Value(t.Context(), name); got != want || err != nil {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	for name, code := range map[string]fault.Code{"UNSET": fault.NotFound, "EMPTY": fault.Invalid, "REST": fault.NotFound, "OTHER": fault.NotFound, "PLAIN": fault.NotFound} {
		if got, err := s.Value(t.Context(), name); got != "" || fault.CodeOf(err) != code || fault.HintOf(err) == "" {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	s := open(t, secret.Config{"DB_PASSWORD": {Env: "X"}}, secret.Options{})
	for name, hint := range map[string]string{
		"DB_PASWORD": "did you mean DB_PASSWORD?",
		"GITHUB":     "CAIRN_SECRET_GITHUB",
		"a b":        "letters, digits and _",
	} {
		_, err := s.Value(t.Context(), name)
		if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), name) || !strings.Contains(fault.HintOf(err), hint) {
			t.Errorf("%s: %v; %s", name, err, fault.HintOf(err))
		}
	}
}

func TestFiles(t *testing.T) {
	var warned []string
	o := secret.Options{Warn: func(err error) { warned = append(warned, err.Error()+"; "+fault.HintOf(err)) }}
	private, public := write(t, "private value\n", 0o600), write(t, "public value\r\n", 0o644)
	o.Dir = filepath.Dir(private)
	s := open(t, secret.Config{
		"PRIVATE": {File: "value"}, "PUBLIC": {File: public}, "LINES": {File: write(t, "one\ntwo\n\n", 0o600)},
		"SHORT": {File: write(t, "abc\n", 0o600)}, "EMPTY": {File: write(t, "\n", 0o600)}, "FOLDER": {File: o.Dir}, "GONE": {File: "gone"},
		"HUGE": {File: write(t, strings.Repeat("x", redact.Longest+1), 0o600)}, "MOST": {File: write(t, strings.Repeat("x", redact.Longest)+"\r\n", 0o600)},
		"NUL": {File: "a\x00b"},
	}, o)
	for name, want := range map[string]string{"PRIVATE": "private value", "LINES": "one\ntwo\n", "MOST": strings.Repeat("x", redact.Longest)} {
		if got, err := s.Value(t.Context(), name); got != want || err != nil {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	if warned != nil {
		t.Errorf("private files were warned of: %q", warned)
	}
	if got, err := s.Value(t.Context(), "PUBLIC"); got != "public value" || err != nil {
		t.Errorf("PUBLIC is %q, %v", got, err)
	}
	if runtime.GOOS != "windows" && (len(warned) != 1 || !strings.Contains(warned[0], "others may read; chmod 600 "+public)) {
		t.Errorf("warnings %q", warned)
	}
	for name, code := range map[string]fault.Code{"SHORT": fault.Invalid, "EMPTY": fault.Invalid, "FOLDER": fault.Invalid, "GONE": fault.NotFound, "HUGE": fault.Invalid, "NUL": fault.Invalid} {
		got, err := s.Value(t.Context(), name)
		if got != "" || !fault.Is(err, code) || fault.HintOf(err) == "" || strings.Contains(err.Error(), "abc") {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
}

func TestFileInTheFolderOfTheUser(t *testing.T) {
	path := write(t, "from the home\n", 0o600)
	t.Setenv("HOME", filepath.Dir(path))
	t.Setenv("USERPROFILE", filepath.Dir(path))
	s := open(t, secret.Config{"A": {File: "~/value"}}, secret.Options{Dir: t.TempDir()})
	if got, err := s.Value(t.Context(), "A"); got != "from the home" || err != nil {
		t.Fatal(got, err)
	}
}

func TestFileThatMayNotBeRead(t *testing.T) {
	path := write(t, "value", 0o000)
	if _, err := os.ReadFile(path); err == nil {
		t.Skip("this user may read everything")
	}
	s := open(t, secret.Config{"A": {File: path}}, secret.Options{})
	if _, err := s.Value(t.Context(), "A"); !fault.Is(err, fault.Denied) {
		t.Fatal(err)
	}
}

func TestFileThatOthersMayChange(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes do not tell")
	}
	var warned error
	s := open(t, secret.Config{"A": {File: write(t, "a value", 0o662)}}, secret.Options{Warn: func(err error) { warned = err }})
	if _, err := s.Value(t.Context(), "A"); err != nil || warned == nil || !strings.Contains(warned.Error(), "others may change") {
		t.Fatal(err, warned)
	}
}

func TestCommand(t *testing.T) {
	s := open(t, secret.Config{"A": {Command: self(t, "the value"), Timeout: "1m"}}, secret.Options{Environ: as("print")})
	if got, err := s.Value(t.Context(), "A"); got != "the value" || err != nil {
		t.Fatal(got, err)
	}
	if got := s.Known(); len(got) != 1 || got["A"] != "the value" {
		t.Fatal(got)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", s, s, s, s); strings.Contains(text, "the value") {
		t.Fatal("a printed store tells its values: ", text)
	}
}

func TestCommandsThatFail(t *testing.T) {
	for _, c := range []struct {
		role string
		argv []string
		code fault.Code
		want string
	}{
		{"fail", self(t, "argument"), fault.Failed, "exit status 3"},
		{"flood", self(t), fault.Invalid, "at most"},
		{"", self(t), fault.Invalid, "is empty"},
		{"print", []string{"cairn-no-such-program"}, fault.NotFound, "not installed"},
		{"print", []string{filepath.Join(t.TempDir(), "gone")}, fault.NotFound, "not installed"},
		{"print", []string{t.TempDir()}, fault.Failed, "could not be started"},
	} {
		s := open(t, secret.Config{"A": {Command: c.argv}}, secret.Options{Environ: as(c.role)})
		got, err := s.Value(t.Context(), "A")
		if got != "" || !fault.Is(err, c.code) || !strings.Contains(err.Error(), c.want) || fault.HintOf(err) == "" {
			t.Errorf("%s %v: %q, %v", c.role, c.argv, got, err)
		}
		for _, hidden := range []string{"half-a-value", "hunter22", "argument", "xxxx"} {
			if strings.Contains(fmt.Sprint(err)+fault.HintOf(err), hidden) {
				t.Errorf("%s: the error tells what the command said: %v", c.role, err)
			}
		}
		if len(s.Known()) != 0 {
			t.Errorf("%s: a failure was kept: %v", c.role, s.Known())
		}
	}
}

func TestCommandThatHangs(t *testing.T) {
	s := open(t, secret.Config{"A": {Command: self(t), Timeout: "50ms"}}, secret.Options{Environ: as("hang")})
	if got, err := s.Value(t.Context(), "A"); got != "" || !fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), "within 50ms") {
		t.Fatal(got, err)
	}
	s = open(t, secret.Config{"A": {Command: self(t)}}, secret.Options{Environ: as("hang")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := s.Value(ctx, "A"); got != "" || !errors.Is(err, context.Canceled) {
		t.Fatal(got, err)
	}
}

func TestReadOnceByAll(t *testing.T) {
	counter := filepath.Join(t.TempDir(), "count")
	s := open(t, secret.Config{"A": {Command: self(t, counter)}}, secret.Options{Environ: as("count")})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got, err := s.Value(t.Context(), "A"); got != "counted-value" || err != nil {
				t.Error(got, err)
			}
		})
	}
	wg.Wait()
	if b, err := os.ReadFile(counter); string(b) != "x" || err != nil {
		t.Fatalf("the command ran %d times, %v", len(b), err)
	}
}

// One caller's patience is not another's: who waits for a reading may give up, and who finds that it failed tries
// again.
func TestWaitingForAReading(t *testing.T) {
	s := open(t, secret.Config{"A": {Command: self(t)}}, secret.Options{Environ: as("hang")})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	for range 2 {
		go func() {
			_, err := s.Value(ctx, "A")
			done <- err
		}()
	}
	cancel()
	for range 2 {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

func TestConfigIsReadAndChecked(t *testing.T) {
	const text = "A: {env: PLAIN}\nB: {file: secrets/b}\nC: {command: [pass, show, c], timeout: 5s}\n"
	var fromYAML, fromJSON secret.Config
	if err := yaml.Unmarshal([]byte(text), &fromYAML); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(fromYAML)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &fromJSON); err != nil || fmt.Sprint(fromJSON) != fmt.Sprint(fromYAML) || fromJSON["C"].Command[2] != "c" {
		t.Fatal(err, fromJSON, fromYAML)
	}
	if err := fromYAML.Validate(); err != nil {
		t.Fatal(err)
	}
	_, err = secret.Open(secret.Config{
		"NONE": {}, "TWO": {Env: "A", File: "b"}, "BARE": {Command: []string{}}, "BLANK": {Command: []string{""}}, "1A": {Env: "X"},
		"SLOW": {Command: []string{"a"}, Timeout: "1h"}, "ODD": {Command: []string{"a"}, Timeout: "soon"}, "LATE": {Env: "X", Timeout: "1s"}, "FINE": {Env: "X"},
	}, secret.Options{})
	if !fault.Is(err, fault.Invalid) || fault.HintOf(err) == "" {
		t.Fatal(err)
	}
	for _, want := range []string{"NONE: it has no source", "TWO: it has more", "BARE: its command", "BLANK: its command", "1A: a name", "SLOW: its timeout", "ODD: its timeout", "LATE: only a command"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing from %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "FINE") {
		t.Error(err)
	}
}

func TestOpenTakesThisProcess(t *testing.T) {
	t.Setenv("CAIRN_SECRET_OF_THIS_PROCESS", "a value")
	s, err := secret.Open(nil, secret.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Value(t.Context(), "OF_THIS_PROCESS"); got != "a value" || err != nil {
		t.Fatal(got, err)
	}
}
