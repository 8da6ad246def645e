package disk

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/artifact/artifacttest"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

func open(t *testing.T, home string) *Store {
	t.Helper()
	s, err := Open(home)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func place(t *testing.T, home string) artifacttest.Place {
	s := open(t, home)
	return artifacttest.Place{
		Store: s,
		Again: func(t *testing.T) artifacttest.Place { return place(t, home) },
		Alter: func(t *testing.T, id digest.ID, content []byte) {
			path := s.path(id)
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	}
}

func TestArtifacts(t *testing.T) {
	artifacttest.Run(t, func(t *testing.T) artifacttest.Place {
		home := t.TempDir()
		t.Cleanup(func() { wantNoDebris(t, home) })
		return place(t, home)
	})
}

func wantNoDebris(t *testing.T, home string) {
	t.Helper()
	left, err := os.ReadDir(filepath.Join(home, "artifacts", "tmp"))
	if err != nil || len(left) != 0 {
		t.Errorf("left in tmp: %v (%v)", left, err)
	}
}

func wantFault(t *testing.T, err error, code fault.Code, words string) {
	t.Helper()
	if !fault.Is(err, code) || !strings.Contains(err.Error(), words) || fault.HintOf(err) == "" {
		t.Fatalf("got %v (remedy %q), want %s: ... %s ...", err, fault.HintOf(err), code, words)
	}
}

func TestLayout(t *testing.T) {
	home := t.TempDir()
	b, err := open(t, home).Put(t.Context(), strings.NewReader("abc"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "artifacts", "ba", "7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
	if got, err := os.ReadFile(path); err != nil || string(got) != "abc" || b.ID.String()[:2] != "ba" {
		t.Errorf("%q (%v)", got, err)
	}
	// What is no blob is not listed, and what is, is.
	for _, name := range []string{"artifacts/README", "artifacts/ba/notes.txt", "artifacts/xy"} {
		if err := os.WriteFile(filepath.Join(home, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, err := range open(t, home).List(t.Context()) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 1 {
		t.Errorf("%d blobs are listed, want 1", n)
	}
}

func TestSweep(t *testing.T) {
	home := t.TempDir()
	open(t, home)
	tmp := filepath.Join(home, "artifacts", "tmp")
	for name, age := range map[string]time.Duration{"put-old": 25 * time.Hour, "put-new": time.Hour} {
		path := filepath.Join(tmp, name)
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	open(t, home)
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) != 1 || left[0].Name() != "put-new" {
		t.Errorf("left in tmp: %v (%v)", left, err)
	}
}

func TestFolders(t *testing.T) {
	home := t.TempDir()
	_, err := Open(filepath.Join(home, "missing"))
	wantFault(t, err, fault.NotFound, "does not exist")
	if err := os.WriteFile(filepath.Join(home, "artifacts"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(home)
	wantFault(t, err, fault.Internal, "artifacts")

	home = t.TempDir()
	s := open(t, home)
	if err := os.RemoveAll(filepath.Join(home, "artifacts")); err != nil {
		t.Fatal(err)
	}
	_, err = s.Put(t.Context(), strings.NewReader("x"))
	wantFault(t, err, fault.NotFound, "is gone")
	for _, err := range s.List(t.Context()) {
		wantFault(t, err, fault.NotFound, "is gone")
	}
}

// TestFolderOfBlobsRemoved puts into a folder that is known to be there and is not any more.
func TestFolderOfBlobsRemoved(t *testing.T) {
	home := t.TempDir()
	s := open(t, home)
	b, err := s.Put(t.Context(), strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Dir(s.path(b.ID))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(t.Context(), b.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "x" {
		t.Errorf("%q (%v)", got, err)
	}
}

// TestRemembersBoundedly stores more names than are remembered.
func TestRemembersBoundedly(t *testing.T) {
	s := open(t, t.TempDir())
	for i := range maxSynced {
		s.synced[digest.Parts(string(rune(i)))] = true
	}
	if _, err := s.Put(context.Background(), bytes.NewReader([]byte("one more"))); err != nil {
		t.Fatal(err)
	}
	if len(s.synced) != 1 {
		t.Errorf("%d names are remembered", len(s.synced))
	}
}
