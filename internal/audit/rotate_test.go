package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

func (s sealed) rotate(t *testing.T, why string) Handover {
	t.Helper()
	h, err := s.Rotate(t.Context(), why)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// report verifies by what lies in the home now.
func (s sealed) report(t *testing.T) TreeReport {
	t.Helper()
	v, err := LoadVerifier(s.key.path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := VerifyTree(t.Context(), s.memory, v, s.copy)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRotate(t *testing.T) {
	s := newSealed(t, 5)
	first := s.key.String()
	h := s.rotate(t, " ann has left ")
	if h.Size != 5 || h.Old != first || h.New == first || h.Why != "ann has left" {
		t.Errorf("%+v", h)
	}
	s.append(7)
	s.seal(t)
	s.rotate(t, "again")
	s.rotate(t, "and again") // nothing was signed by the key between
	s.append(1)
	s.seal(t)
	if r := s.report(t); len(r.Findings) != 0 || r.Sealed != 13 || r.Heads != 3 {
		t.Errorf("%+v", r)
	}
	k, err := LoadKey(s.key.path)
	if err != nil || len(k.Handovers()) != 3 || k.String() != k.Handovers()[2].New {
		t.Fatalf("%v %+v", err, k)
	}
	info, err := os.Stat(s.key.path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the new key's mode is %v (%v)", info.Mode(), err)
	}
	if _, err := os.Stat(nextPath(s.key.path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the new key lies about: %v", err)
	}
	for _, why := range []string{"", "  ", "two\nlines"} {
		_, err := s.Rotate(t.Context(), why)
		wantFault(t, err, fault.Invalid, "for a reason")
	}
}

// A home may be given a new key before anything was signed.
func TestRotateAtTheBeginning(t *testing.T) {
	s := newSealed(t, 0)
	if h := s.rotate(t, "made on a machine that I do not trust"); h.Size != 0 {
		t.Errorf("%+v", h)
	}
	s.append(1)
	s.seal(t)
	if r := s.report(t); len(r.Findings) != 0 || r.Sealed != 1 {
		t.Errorf("%+v", r)
	}
}

// An engine that began with the old key goes on with the new one, from the first record after the handover.
func TestOthersTakeUpTheNewKey(t *testing.T) {
	s := newSealed(t, 0)
	var wg sync.WaitGroup
	for range 3 {
		other := NewSealer(s.memory, s.key, s.copy, time.Now)
		wg.Go(func() {
			for range 12 {
				s.append(3)
				if err := other.Seal(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 6 {
		s.rotate(t, "often")
	}
	wg.Wait()
	s.seal(t)
	r := s.report(t)
	if len(r.Findings) != 0 || r.Sealed != 108 {
		t.Errorf("%+v", r)
	}
}

// A rotation that is cut off at any point has either not happened, or is completed by the next that signs.
func TestRotationCutOff(t *testing.T) {
	s := newSealed(t, 5)
	dir := filepath.Dir(s.key.path)
	before := readAll(t, dir)
	h := s.rotate(t, "cut off")
	after := readAll(t, dir)
	secret := "journal.key"
	for name, tc := range map[string]struct {
		files map[string]string
		key   string
	}{
		"before the handover":      {with(before, secret+".next", after[secret]), h.Old},
		"after the handover":       {with(with(before, secret+".next", after[secret]), secret+".chain", after[secret+".chain"]), h.New},
		"before the new verifier":  {with(after, secret+".pub", before[secret+".pub"]), h.New},
		"when all was done":        {after, h.New},
		"verifier never was there": {without(after, secret+".pub"), h.New},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			path := KeyPath(home)
			writeAll(t, filepath.Dir(path), tc.files)
			if _, there := tc.files[secret+".pub"]; there {
				if v, err := LoadVerifier(path); err != nil || v.String() != tc.key {
					t.Errorf("it is verified by %v (%v)", v, err)
				}
			}
			k, err := LoadKey(path)
			if err != nil || k.String() != tc.key {
				t.Fatalf("the key is %v (%v)", k, err)
			}
			again, err := LoadKey(path)
			if err != nil || again.String() != tc.key {
				t.Errorf("the next time it is %v (%v)", again, err)
			}
		})
	}
	// The new key is lost between: the old one must not sign any more.
	path := KeyPath(t.TempDir())
	writeAll(t, filepath.Dir(path), with(before, secret+".chain", after[secret+".chain"]))
	_, err := LoadKey(path)
	wantFault(t, err, fault.Conflict, "its successor")
}

func TestHandoversAreChecked(t *testing.T) {
	s := newSealed(t, 5)
	s.rotate(t, "one")
	s.append(1)
	s.rotate(t, "two")
	path := chainPath(s.key.path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		bad := append([]byte(nil), whole...)
		bad[i] ^= 1
		if _, ok := parseChain(noteLines(bad)); ok {
			t.Fatalf("byte %d (%q) can be changed unnoticed", i, whole[i])
		}
	}
	put := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.SplitAfter(string(whole), "\n")
	put([]byte(strings.Join(lines[handoverLines:], "") + strings.Join(lines[:handoverLines], "")))
	_, err = LoadVerifier(s.key.path)
	wantFault(t, err, fault.Tampered, "does not lead from key to key")
	_, err = LoadKey(s.key.path)
	wantFault(t, err, fault.Tampered, "does not lead from key to key")
	wantFault(t, s.Seal(t.Context()), fault.Tampered, "does not lead from key to key")
	put([]byte(strings.Join(lines[:handoverLines], "")))
	_, err = LoadVerifier(s.key.path)
	wantFault(t, err, fault.Tampered, "does not lead to the key")
	_, err = LoadKey(s.key.path)
	wantFault(t, err, fault.Conflict, "is not the one that")
	// Without the handovers the heads of the old keys are nobody's.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if r := s.report(t); len(r.Findings) == 0 {
		t.Error("heads of an unknown key are sound")
	}
}

// Whoever stole the old key cannot sign what comes after it was replaced.
func TestReplacedKeySignsNoMore(t *testing.T) {
	s := newSealed(t, 5)
	s.seal(t)
	thief := s.key
	s.rotate(t, "it was stolen")
	s.append(4)
	s.seal(t)
	last := len(s.heads) - 1
	signed, err := s.Sealer.Key().Check(s.heads[last])
	if err != nil {
		t.Fatal(err)
	}
	if s.heads[last], err = thief.Sign(signed); err != nil {
		t.Fatal(err)
	}
	r := s.report(t)
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Text, "was replaced at size 5") {
		t.Errorf("%+v", r)
	}
	// A handover that names another past than the journal has.
	forged, err := s.Sealer.Key().handOver(testKey(t).text, Checkpoint{Size: 9, Time: time.Now()}, "forged")
	if err != nil {
		t.Fatal(err)
	}
	v, err := chained("", forged.New, append(append(chain{}, s.Sealer.Key().chain...), forged))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := VerifyTree(t.Context(), s.memory, v, s.copy); err != nil || !strings.Contains(r.Findings[0].Text, "names another root") {
		t.Errorf("%v %+v", err, r)
	}
}

func TestKeyThatOthersCanRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are not in the mode there")
	}
	k := testKey(t)
	for _, mode := range []fs.FileMode{0o644, 0o640, 0o602} {
		if err := os.Chmod(k.path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := LoadKey(k.path)
		wantFault(t, err, fault.Invalid, "is open to others")
		if !strings.Contains(fault.HintOf(err), "chmod 600") {
			t.Errorf("%q", fault.HintOf(err))
		}
	}
}

// The secret may be kept elsewhere, and come from elsewhere.
func TestKeyFromOutside(t *testing.T) {
	home, outside := t.TempDir(), filepath.Join(t.TempDir(), "key.pem")
	path := KeyPath(home)
	_, err := LoadKeyFrom(outside, path)
	wantFault(t, err, fault.NotFound, "is not there")
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, outside, private)
	k, err := LoadKeyFrom(outside, path)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := verifierText(private.Seed()); err != nil || k.String() != text || k.Secret() != outside || len(public) == 0 {
		t.Errorf("%v %v", k, err)
	}
	if v, err := LoadVerifier(path); err != nil || v.String() != k.String() {
		t.Errorf("the home is verified by %v (%v)", v, err)
	}
	if _, err := LoadKey(path); !fault.Is(err, fault.NotFound) {
		t.Errorf("without the setting there is a key: %v", err)
	}
	s := NewSealer(newMemory(3), k, HeadPath(home), time.Now)
	h, err := s.Rotate(t.Context(), "to see where the new one goes")
	if err != nil {
		t.Fatal(err)
	}
	if k, err := LoadKeyFrom(outside, path); err != nil || k.String() != h.New {
		t.Errorf("%v (%v)", k, err)
	}
	stranger := filepath.Join(t.TempDir(), "other")
	writePEM(t, stranger, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	_, err = LoadKeyFrom(stranger, path)
	wantFault(t, err, fault.Conflict, "is not the one")
	wrong, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, stranger, wrong)
	_, err = LoadKeyFrom(stranger, path)
	wantFault(t, err, fault.Invalid, "holds no signing key")
}

func writePEM(t *testing.T, path string, key any) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(b)
	}
	return all
}

func writeAll(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func with(files map[string]string, name, text string) map[string]string {
	out := without(files, name)
	out[name] = text
	return out
}

func without(files map[string]string, name string) map[string]string {
	out := map[string]string{}
	for n, t := range files {
		if n != name {
			out[n] = t
		}
	}
	return out
}
