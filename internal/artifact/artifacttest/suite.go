// Package artifacttest is the contract of an artifact store: what every implementation does, so
// that nobody need know which one he has. Each test opens a place of its own.
package artifacttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// Place is one place, opened.
type Place struct {
	artifact.Store
	Again func(t *testing.T) Place                         // opens it once more, as another process would
	Alter func(t *testing.T, id digest.ID, content []byte) // changes a blob behind the store's back
}

// Run checks an implementation. open makes a new, empty place.
func Run(t *testing.T, open func(t *testing.T) Place) {
	for _, tc := range []struct {
		name string
		test func(t *testing.T, p Place)
	}{
		{"empty", testEmpty},
		{"round trip", testRoundTrip},
		{"once", testOnce},
		{"together", testTogether},
		{"remove", testRemove},
		{"altered", testAltered},
		{"mended", testMended},
		{"broken source", testBrokenSource},
		{"cancel", testCancel},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, before) })
			tc.test(t, open(t))
		})
	}
}

func put(t *testing.T, p Place, content []byte) artifact.Blob {
	t.Helper()
	b, err := p.Put(t.Context(), bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if want := (artifact.Blob{ID: digest.Sum(content), Size: int64(len(content))}); b != want {
		t.Fatalf("put %v, want %v", b, want)
	}
	return b
}

func get(t *testing.T, p Place, id digest.ID) ([]byte, error) {
	t.Helper()
	r, err := p.Open(t.Context(), id)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func list(t *testing.T, p Place) []artifact.Blob {
	t.Helper()
	var out []artifact.Blob
	for b, err := range p.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b artifact.Blob) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	return out
}

func wantMissing(t *testing.T, p Place, id digest.ID) {
	t.Helper()
	if _, err := p.Stat(t.Context(), id); !fault.Is(err, fault.NotFound) {
		t.Errorf("stat of a missing blob: %v", err)
	}
	if _, err := p.Open(t.Context(), id); !fault.Is(err, fault.NotFound) {
		t.Errorf("open of a missing blob: %v", err)
	}
}

func testEmpty(t *testing.T, p Place) {
	if got := list(t, p); len(got) != 0 {
		t.Errorf("an empty place lists %v", got)
	}
	wantMissing(t, p, digest.Sum(nil))
	wantMissing(t, p, digest.ID{})
}

// contents are of sizes around those that an implementation may treat apart.
func contents() [][]byte {
	var out [][]byte
	for _, n := range []int{0, 1, 1000, 4096, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20, 5<<20 + 17} {
		out = append(out, bytes.Repeat([]byte{byte(n), 0, 0xff, '\n', 7}, n/5+1)[:n])
	}
	return out
}

func testRoundTrip(t *testing.T, p Place) {
	var want []artifact.Blob
	for _, c := range contents() {
		b := put(t, p, c)
		want = append(want, b)
		for _, q := range []Place{p, p.Again(t)} {
			if got, err := get(t, q, b.ID); err != nil || !bytes.Equal(got, c) {
				t.Errorf("%d bytes came back as %d (%v)", len(c), len(got), err)
			}
			if got, err := q.Stat(t.Context(), b.ID); err != nil || got != b {
				t.Errorf("stat %v (%v), want %v", got, err, b)
			}
		}
	}
	slices.SortFunc(want, func(a, b artifact.Blob) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	if got := list(t, p); !slices.Equal(got, want) {
		t.Errorf("the list is %v, want %v", got, want)
	}
	for range p.List(t.Context()) {
		break // a reader may stop early
	}
}

func testOnce(t *testing.T, p Place) {
	for range 2 {
		for _, c := range contents() {
			put(t, p, c)
			// However it is cut into reads, it is the same content.
			if _, err := p.Again(t).Put(t.Context(), iotest.HalfReader(bytes.NewReader(c))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := list(t, p); len(got) != len(contents()) {
		t.Errorf("%d blobs, want %d", len(got), len(contents()))
	}
}

func testTogether(t *testing.T, p Place) {
	const writers, n = 8, 12
	places := []Place{p, p.Again(t)}
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range n { // all write the same, in another order
				c := strings.Repeat(fmt.Sprint("content ", (i+w)%n), 1+(i+w)%n*4000)
				b, err := places[w%2].Put(t.Context(), strings.NewReader(c))
				if err == nil && b.ID != digest.Sum([]byte(c)) {
					err = fmt.Errorf("wrong name %v", b.ID)
				}
				errs[w] = errors.Join(errs[w], err)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	blobs := list(t, p)
	if len(blobs) != n {
		t.Errorf("%d blobs, want %d", len(blobs), n)
	}
	for _, b := range blobs {
		if got, err := get(t, p, b.ID); err != nil || int64(len(got)) != b.Size {
			t.Errorf("%v: %d bytes (%v)", b, len(got), err)
		}
	}
}

func testRemove(t *testing.T, p Place) {
	b := put(t, p, []byte("short-lived"))
	for range 2 {
		if err := p.Remove(t.Context(), b.ID); err != nil {
			t.Fatal(err)
		}
		wantMissing(t, p, b.ID)
	}
	put(t, p, []byte("short-lived"))
	if err := p.Again(t).Remove(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	put(t, p, []byte("short-lived")) // it is not believed to be there still
	if got, err := get(t, p, b.ID); err != nil || string(got) != "short-lived" {
		t.Errorf("%q (%v)", got, err)
	}
}

func testAltered(t *testing.T, p Place) {
	for _, c := range contents() {
		for name, altered := range map[string][]byte{
			"a byte more": append(slices.Clone(c), 'x'),
			"cut":         c[:len(c)/2],
			"a bit":       flip(c),
		} {
			b := put(t, p, c)
			p.Alter(t, b.ID, altered)
			got, err := get(t, p, b.ID)
			if bytes.Equal(altered, c) {
				continue
			}
			if !fault.Is(err, fault.Tampered) || fault.HintOf(err) == "" {
				t.Errorf("%d bytes, %s: read %d bytes, error %v", len(c), name, len(got), err)
			}
			if err := p.Remove(t.Context(), b.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func flip(c []byte) []byte {
	c = slices.Clone(c)
	if len(c) > 0 {
		c[len(c)/2] ^= 1
	}
	return c
}

// testMended stores a blob whose file was cut: it is whole again.
func testMended(t *testing.T, p Place) {
	b := put(t, p, []byte("some content"))
	p.Alter(t, b.ID, []byte("some"))
	put(t, p, []byte("some content"))
	if got, err := get(t, p, b.ID); err != nil || string(got) != "some content" {
		t.Errorf("%q (%v)", got, err)
	}
}

func testBrokenSource(t *testing.T, p Place) {
	boom := errors.New("boom")
	for _, n := range []int{0, 10, 1 << 20} {
		source := io.MultiReader(bytes.NewReader(make([]byte, n)), iotest.ErrReader(boom))
		if _, err := p.Put(t.Context(), source); !errors.Is(err, boom) {
			t.Errorf("a source that breaks after %d bytes: %v", n, err)
		}
	}
	if got := list(t, p); len(got) != 0 {
		t.Errorf("half a blob was stored: %v", got)
	}
}

func testCancel(t *testing.T, p Place) {
	ctx, cancel := context.WithCancel(t.Context())
	endless := readerFunc(func(b []byte) (int, error) {
		cancel()
		return len(b), nil
	})
	if _, err := p.Put(ctx, endless); !errors.Is(err, context.Canceled) {
		t.Errorf("put under a cancelled context: %v", err)
	}
	if got := list(t, p); len(got) != 0 {
		t.Errorf("half a blob was stored: %v", got)
	}
	put(t, p, []byte("there"))
	for _, err := range p.List(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("list under a cancelled context: %v", err)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
