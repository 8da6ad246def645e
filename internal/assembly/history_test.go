//go:build unix

package assembly_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/journal"
)

var record = flag.Bool("record", false, "record a new history beside the old ones, under this version's number")

const histories = "../../testdata/histories"

// line is one entry of a recorded history.
type line struct {
	Hash   digest.ID `json:"hash"`
	Record string    `json:"record"`
}

// Whatever was recorded by any version replays to the same head with this one.
func TestRecordedHistoriesReplay(t *testing.T) {
	if *record {
		recordHistory(t, "v1-everything", everything)
		recordHistory(t, "v1-little", little)
	}
	files, err := filepath.Glob(histories + "/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			entries, spec := readHistory(t, file)
			home := audit.Home{Journal: &shown{entries: entries}, Artifacts: one(spec)}
			got, err := audit.Replay(context.Background(), home, entries[0].Plan)
			if err != nil {
				t.Fatal(err)
			}
			if last := entries[len(entries)-1]; got.Head != last.Hash || got.Facts+got.Derived != len(entries) {
				t.Errorf("it ends in %s after %d records, not in %s after %d", got.Head, got.Facts+got.Derived, last.Hash, len(entries))
			}
		})
	}
}

func readHistory(t *testing.T, file string) (entries []journal.Entry, spec []byte) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if spec, err = os.ReadFile(file + ".plan"); err != nil {
		t.Fatal(err)
	}
	for sc := bufio.NewScanner(bytes.NewReader(raw)); sc.Scan(); {
		var l line
		if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		e := journal.Entry{Seq: journal.Seq(len(entries) + 1), Bytes: []byte(l.Record), Hash: l.Hash}
		r, err := journal.Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		e.Plan = r.Plan
		entries = append(entries, e)
	}
	return entries, spec
}

func recordHistory(t *testing.T, name, text string) {
	t.Helper()
	dir, h := finished(t, text)
	defer h.Close()
	ctx := context.Background()
	plans, err := h.Store.Plans(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for e, err := range h.Store.Read(ctx, plans[0], 0) {
		if err != nil {
			t.Fatal(err)
		}
		if err := json.NewEncoder(&out).Encode(line{e.Hash, string(e.Bytes)}); err != nil {
			t.Fatal(err)
		}
	}
	spec, err := os.ReadFile(filepath.Join(dir, ".cairn", "plans", plans[0]+".json"))
	if err != nil {
		t.Fatal(err)
	}
	for path, b := range map[string][]byte{name + ".jsonl": out.Bytes(), name + ".jsonl.plan": bytes.TrimSpace(spec)} {
		if err := os.WriteFile(filepath.Join(histories, path), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// one is an artifact store with a single blob.
type one []byte

var _ artifact.Store = one(nil)

func (o one) Stat(_ context.Context, id digest.ID) (artifact.Blob, error) {
	return artifact.Blob{ID: id, Size: int64(len(o))}, nil
}

func (o one) Open(context.Context, digest.ID) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(o)), nil
}

func (o one) Put(context.Context, io.Reader) (artifact.Blob, error) { panic("a replay stores nothing") }
func (o one) Remove(context.Context, digest.ID) error               { panic("a replay removes nothing") }
func (o one) List(context.Context) iter.Seq2[artifact.Blob, error]  { panic("a replay lists nothing") }
