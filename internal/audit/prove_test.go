package audit_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
)

// nothing is an artifact store from which all is gone.
type nothing struct{ artifact.Store }

func (nothing) Open(context.Context, digest.ID) (io.ReadCloser, error) {
	return nil, fault.New(fault.NotFound, "it is gone")
}

func (nothing) Stat(context.Context, digest.ID) (artifact.Blob, error) {
	return artifact.Blob{}, fault.New(fault.NotFound, "it is gone")
}

// altered is a journal whose third record is not the one that was sealed.
type altered struct{ journal.Store }

func (a altered) Read(ctx context.Context, plan string, after journal.Seq) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range a.Store.Read(ctx, plan, after) {
			if e.Seq == 3 {
				e.Hash[0] ^= 1
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (d *desk) prove(plan, which string) []byte {
	d.Helper()
	file, err := audit.ProveRecords(context.Background(), d.home(), plan, which)
	if err != nil {
		d.Fatal(err)
	}
	return file
}

func TestRecordsAreProved(t *testing.T) {
	d := released(t)
	for which, want := range map[string]string{"": "1 2 3 4 5 6 7 8 9 10", "4": "4", "build": "3 4", "agree": "5 6 7"} {
		c := wantSound(t, d.prove("release", which), trusting(t, d.home().Verifier.String()))
		var seqs []string
		for _, r := range c.Records {
			seqs = append(seqs, fmt.Sprint(r.Seq))
		}
		if got := strings.Join(seqs, " "); c.Of != audit.OfRecords || c.Plan != "release" || !c.Trusted || got != want {
			t.Errorf("%q proves %s, want %s (%q)", which, got, want, c.Findings)
		}
	}
	for which, says := range map[string]string{"0": "has no record 0", "99": "they go from 1 to", "biuld": "no record of plan release concerns a task biuld"} {
		_, err := audit.ProveRecords(t.Context(), d.home(), "release", which)
		wantFault(t, err, fault.NotFound, says)
	}
	_, err := audit.ProveRecords(t.Context(), d.home(), "nothing", "")
	wantFault(t, err, fault.NotFound, "no plan nothing")
}

// What is not sealed yet is sealed first; whoever has no key proves what was sealed.
func TestProvingSeals(t *testing.T) {
	d := released(t)
	r := d.submit("plan: late\ntasks: [{id: a, uses: shell, run: 'true'}]\n")
	home := d.home()
	home.Sealer = func() (*audit.Sealer, error) { return nil, fault.New(fault.NotFound, "no key") }
	_, err := audit.ProveRecords(t.Context(), home, "late", "")
	wantFault(t, err, fault.NotFound, "no record of plan late stands under a signed head")
	_, err = audit.ProveRecords(t.Context(), home, "late", "1")
	wantFault(t, err, fault.NotFound, "stands under no signed head yet")
	wantSound(t, d.prove("late", ""), nil)
	r.end("a", "")
	if c := wantSound(t, d.prove("late", "a"), nil); len(c.Records) != 2 {
		t.Errorf("%d records", len(c.Records))
	}
}

// Nothing in a proof can be changed, and it cannot be cut: it has one spelling.
func TestEveryByteOfAProofCounts(t *testing.T) {
	d := released(t)
	head, err := os.ReadFile(audit.HeadPath(d.dir))
	if err != nil {
		t.Fatal(err)
	}
	d.rotate("for the test")
	d.submit("plan: after\ntasks: [{id: a, uses: shell, run: 'true'}]\n").end("a", "")
	older, err := audit.ParseHead(head)
	if err != nil {
		t.Fatal(err)
	}
	d.seal()
	growth, err := audit.ProveGrowth(t.Context(), d.home(), older)
	if err != nil {
		t.Fatal(err)
	}
	if c := wantSound(t, growth, nil); c.Of != audit.OfGrowth || c.Older.Size != older.Size || c.Head.Size <= older.Size {
		t.Errorf("%+v", c)
	}
	for name, file := range map[string][]byte{"records": d.prove("release", "build"), "growth": growth} {
		wantSound(t, file, nil)
		for i := 0; i < len(file); i += stride {
			bad := slices.Clone(file)
			bad[i] ^= 1 << (i % 8)
			if c, err := audit.Check(bad, nil); err == nil && c.Sound() {
				t.Fatalf("%s: byte %d (%q) was changed, and nothing was found", name, i, file[i])
			}
			if c, err := audit.Check(file[:i], nil); err == nil && c.Sound() {
				t.Fatalf("%s: it was cut at byte %d, and nothing was found", name, i)
			}
		}
		wantFinding(t, append(slices.Clone(file), '\n'), nil, "cut short")
	}
}

func TestGrowthIsProvedOrNot(t *testing.T) {
	d, stranger := released(t), released(t)
	newest, err := d.store.NewestHead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	same, err := audit.ProveGrowth(t.Context(), d.home(), newest)
	if err != nil {
		t.Fatal(err)
	}
	wantSound(t, same, nil)

	_, err = audit.HeadOfSize(t.Context(), d.store, newest.Size+5)
	wantFault(t, err, fault.NotFound, fmt.Sprintf("the nearest is of size %d", newest.Size))
	if h, err := audit.HeadOfSize(t.Context(), d.store, newest.Size); err != nil || string(h.Note) != string(newest.Note) {
		t.Errorf("%v", err)
	}
	_, err = audit.HeadOfSize(t.Context(), newDesk(t).store, 1)
	wantFault(t, err, fault.NotFound, "nothing was signed")
	_, err = audit.ProveGrowth(t.Context(), stranger.home(), newest)
	wantFault(t, err, fault.Tampered, "not signed by the key")

	// The same key over another history: what was signed is not the beginning of what is there.
	key, err := audit.LoadKey(audit.KeyPath(d.dir))
	if err != nil {
		t.Fatal(err)
	}
	for size, says := range map[uint64]string{3: "the journal was rewritten", newest.Size + 1: "the journal was cut back"} {
		forged, err := key.Sign(audit.Checkpoint{Size: size, Time: d.now})
		if err != nil {
			t.Fatal(err)
		}
		_, err = audit.ProveGrowth(t.Context(), d.home(), forged)
		wantFault(t, err, fault.Tampered, says)
	}
	for text, says := range map[string]string{"": "no signed head", "hello\n5\n": "no signed head", "cairn journal v1\n": "no signed head",
		"cairn journal v1\nmany\n": "has no size"} {
		_, err := audit.ParseHead([]byte(text))
		wantFault(t, err, fault.Invalid, says)
	}
}
