package audit

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

func wantFault(t *testing.T, err error, code fault.Code, words string) {
	t.Helper()
	if !fault.Is(err, code) || !strings.Contains(err.Error(), words) || fault.HintOf(err) == "" {
		t.Fatalf("got %v (remedy %q), want %s: ... %s ...", err, fault.HintOf(err), code, words)
	}
}

func TestKeyIsMadeOnce(t *testing.T) {
	path := KeyPath(t.TempDir())
	keys := make([]*Key, 8)
	errs := make([]error, len(keys))
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() { keys[i], errs[i] = LoadKey(path) })
	}
	wg.Wait()
	for i, k := range keys {
		if errs[i] != nil || k.String() != keys[0].String() {
			t.Fatalf("process %d has another key (%v)", i, errs[i])
		}
	}
	info, err := os.Stat(path)
	if err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o600) {
		t.Errorf("the key's mode is %v (%v)", info.Mode(), err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 2 {
		t.Errorf("beside key and verifier lies something else: %v (%v)", entries, err)
	}
	v, err := LoadVerifier(path)
	if err != nil || v.String() != keys[0].String() {
		t.Errorf("verifier %v (%v)", v, err)
	}
}

func TestKeyMissingOrWrong(t *testing.T) {
	path := KeyPath(t.TempDir())
	if _, err := LoadVerifier(path); !fault.Is(err, fault.NotFound) {
		t.Errorf("a verifier out of nothing: %v", err)
	}
	if _, err := LoadKey(path); err != nil {
		t.Fatal(err)
	}
	secret, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err = LoadKey(path)
	wantFault(t, err, fault.NotFound, "is missing")

	other := testKey(t)
	stranger, err := os.ReadFile(other.path)
	if err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]string{
		string(stranger):        "is not the one",
		"":                      "holds no signing key",
		"PRIVATE+KEY+x":         "holds no signing key",
		string(secret[:50]):     "holds no signing key",
		"garbage+" + "more\x00": "holds no signing key",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadKey(path)
		code := fault.Invalid
		if content == string(stranger) {
			code = fault.Conflict
		}
		wantFault(t, err, code, want)
	}
	if err := os.WriteFile(verifierPath(path), []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = LoadVerifier(path)
	wantFault(t, err, fault.Invalid, "holds no verifier")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = LoadKey(path)
	wantFault(t, err, fault.Invalid, "use the key")
}

// TestHeadText fixes the signed text: changing it would orphan every head that was ever signed.
func TestHeadText(t *testing.T) {
	c := Checkpoint{Size: 3, Time: time.Date(2026, 11, 15, 12, 0, 0, 5, time.FixedZone("", 3600))}
	const want = "cairn journal v1\n3\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n2026-11-15T11:00:00.000000005Z\n"
	if c.Text() != want {
		t.Errorf("got %q", c.Text())
	}
	if back, ok := parseCheckpoint(want); !ok || back.Size != 3 || !back.Time.Equal(c.Time) {
		t.Errorf("read back as %+v (%v)", back, ok)
	}
}

func FuzzCheckpoint(f *testing.F) {
	f.Add(Checkpoint{Size: 7, Time: time.Unix(1, 0)}.Text())
	f.Add("cairn journal v1\n03\n\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		if c, ok := parseCheckpoint(text); ok && c.Text() != text {
			t.Errorf("%q was read as %q", text, c.Text())
		}
	})
}

func TestHeadIsOfItsKey(t *testing.T) {
	k := testKey(t)
	h, err := k.Sign(Checkpoint{Size: 9, Time: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := k.Check(h); err != nil || c.Size != 9 {
		t.Fatalf("%+v (%v)", c, err)
	}
	_, err = testKey(t).Check(h)
	wantFault(t, err, fault.Tampered, "not signed by the key")
	_, err = k.Check(Head{Size: 8, Note: h.Note})
	wantFault(t, err, fault.Tampered, "does not say")
	for i := range h.Note {
		bad := append([]byte(nil), h.Note...)
		bad[i] ^= 1
		if _, err := k.Check(Head{Size: 9, Note: bad}); err == nil {
			t.Errorf("byte %d can be changed unnoticed", i)
		}
	}
}
