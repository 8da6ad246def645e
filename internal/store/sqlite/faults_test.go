package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/journal/journaltest"
)

// wantFault checks the code, that the message holds some words, and that there is a remedy.
func wantFault(t *testing.T, err error, code fault.Code, words ...string) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Fatalf("got %v, want a fault of code %s", err, code)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the message %q does not say %q", err, w)
		}
	}
	if fault.HintOf(err) == "" {
		t.Errorf("%q has no remedy", err)
	}
}

// sound checks that a home, opened anew, holds n entries of a plan as one chain.
func sound(t *testing.T, dir, plan string, n int) {
	t.Helper()
	s := open(t, dir)
	head, pos := journal.Head{}, 0
	for e, err := range s.Read(t.Context(), plan, 0) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := journal.Decode(e)
		if err != nil || r.Prev != head.Hash || r.Seq != head.Seq+1 {
			t.Fatalf("record %d does not follow (%v)", e.Seq, err)
		}
		head = e.Head()
	}
	for _, err := range s.All(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		pos++
	}
	if head.Seq != journal.Seq(n) {
		t.Fatalf("plan %s has %d entries, want %d", plan, head.Seq, n)
	}
	c, err := s.reader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = c.query("PRAGMA integrity_check", nil, func(row []value) bool {
		if row[0] != "ok" {
			t.Errorf("integrity: %v", row[0])
		}
		return true
	})
	s.done(c, err)
	if err != nil {
		t.Fatal(err)
	}
}

func TestHomeThatIsNoHome(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(t.Context(), filepath.Join(dir, "missing"))
	wantFault(t, err, fault.NotFound, "does not exist")
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), file)
	wantFault(t, err, fault.Invalid, "not a folder")
	if err := os.Mkdir(filepath.Join(dir, FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), dir)
	wantFault(t, err, fault.Invalid, "cannot be written")
}

func TestPathsThatLookLikeSyntax(t *testing.T) {
	for _, name := range []string{"a?mode=ro", "b%20c", "d#e", "f g", "é", "h&i=j;k"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Logf("%q cannot be a folder here: %v", name, err)
			continue
		}
		s := open(t, dir)
		if err := s.Append(t.Context(), journaltest.Chain("a", journal.Head{}, 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, FileName)); err != nil {
			t.Error(err)
		}
	}
}

// alter runs SQL on a closed home's database.
func alter(t *testing.T, dir, script string) {
	t.Helper()
	c, err := dial(filepath.Join(dir, FileName), mustExist, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.script(script); err != nil {
		t.Fatal(err)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
}

// closedHome makes a home with n entries of plan a.
func closedHome(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	s, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), journaltest.Chain("a", journal.Head{}, n)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// files reads everything below dir.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRefusedHomeIsLeftAlone(t *testing.T) {
	for name, tc := range map[string]struct{ script, says string }{
		"newer":   {"PRAGMA user_version = 99", "made by a newer cairn"},
		"foreign": {"PRAGMA application_id = 7", "another program"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := closedHome(t, 3)
			alter(t, dir, tc.script)
			before := files(t, dir)
			_, err := Open(t.Context(), dir)
			wantFault(t, err, fault.Conflict, tc.says)
			after := files(t, dir)
			if len(before) != len(after) {
				t.Errorf("files were %d, are %d", len(before), len(after))
			}
			for path, content := range before {
				if after[path] != content {
					t.Errorf("%s was changed", path)
				}
			}
		})
	}
}

func TestDamagedFile(t *testing.T) {
	path := func(dir string) string { return filepath.Join(dir, FileName) }
	for name, damage := range map[string]func(t *testing.T, dir string){
		"no database": func(t *testing.T, dir string) {
			if err := os.WriteFile(path(dir), []byte(strings.Repeat("no database at all ", 500)), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"torn last page": func(t *testing.T, dir string) {
			info, err := os.Stat(path(dir))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path(dir), info.Size()-4096-1500); err != nil {
				t.Fatal(err)
			}
		},
		"pages overwritten": func(t *testing.T, dir string) {
			b, err := os.ReadFile(path(dir))
			if err != nil {
				t.Fatal(err)
			}
			for i := 8192; i < len(b); i++ {
				b[i] = 0xa5
			}
			if err := os.WriteFile(path(dir), b, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := closedHome(t, 200)
			damage(t, dir)
			s, err := Open(t.Context(), dir)
			if err == nil {
				defer s.Close()
				for _, err = range s.Read(t.Context(), "a", 0) {
				}
			}
			wantFault(t, err, fault.Tampered, "damaged")
		})
	}
}

// TestTornLog cuts the write-ahead log of a store that was killed: what is whole in it counts, what
// is torn was never acknowledged.
func TestTornLog(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	entries := journaltest.Chain("a", journal.Head{}, 20)
	var sizes []int64
	for i := range entries {
		if err := s.Append(t.Context(), entries[i:i+1]); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, FileName+"-wal"))
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, info.Size())
	}
	killed := files(t, dir) // as a crash would leave them: the log is not copied back
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for i, size := range sizes[1:] {
		torn := t.TempDir()
		for path, content := range killed {
			switch base := filepath.Base(path); base {
			case FileName + "-shm":
			case FileName + "-wal":
				writeFile(t, filepath.Join(torn, base), content[:size-100])
			default:
				writeFile(t, filepath.Join(torn, base), content)
			}
		}
		sound(t, torn, "a", i+1)
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFull fills the database up to SQLite's own limit, which fails as a full disk does.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	entries := journaltest.Chain("a", journal.Head{}, 20)
	for i := range entries {
		entries[i].Bytes = append(entries[i].Bytes, make([]byte, 10_000)...)
	}
	if err := s.Append(t.Context(), entries[:4]); err != nil {
		t.Fatal(err)
	}
	limit, err := s.writer.conn.number("PRAGMA page_count")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.writer.conn.pragma("max_page_count", limit+4); err != nil {
		t.Fatal(err)
	}
	err = s.Append(t.Context(), entries[4:])
	wantFault(t, err, fault.Internal, "full", "nothing that was acknowledged is lost")
	if h, err := s.Head(t.Context(), "a"); err != nil || h.Seq != 4 {
		t.Fatalf("after a refused append the head is %v (%v)", h, err)
	}
	// The new connection has no limit: the cause is gone and the store goes on.
	if err := s.Append(t.Context(), entries[4:]); err != nil {
		t.Fatal(err)
	}
	if h, err := s.Head(t.Context(), "a"); err != nil || h != entries[19].Head() {
		t.Fatalf("the head is %v (%v)", h, err)
	}
}

// TestGroupSurvivesOneOfIts lets one job of a group fail the transaction: the others are written.
func TestGroupSurvivesOneOfIts(t *testing.T) {
	s := open(t, t.TempDir())
	s.writer.pen <- struct{}{} // so that the jobs gather
	boom := errors.New("boom")
	const n = 5
	results := make(chan error, n+1)
	go func() {
		results <- s.writer.do(context.Background(), func(c *conn) (error, error) {
			if err := c.exec("INSERT INTO plan (name) VALUES ('half')"); err != nil {
				return nil, err
			}
			return nil, boom
		})
	}()
	for i := range n {
		go func() {
			results <- s.Append(context.Background(), journaltest.Chain(fmt.Sprint("p", i), journal.Head{}, 3))
		}()
	}
	gathered(&s.writer, n+1)
	<-s.writer.pen
	var failed []error
	for range n + 1 {
		if err := <-results; err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) != 1 || !errors.Is(failed[0], boom) {
		t.Fatalf("failures: %v", failed)
	}
	plans, err := s.Plans(t.Context())
	if err != nil || !slices.Equal(plans, []string{"p0", "p1", "p2", "p3", "p4"}) {
		t.Fatalf("plans are %v (%v)", plans, err)
	}
}

// gathered waits until n jobs are queued.
func gathered(w *writer, n int) {
	for {
		w.mu.Lock()
		have := len(w.queue)
		w.mu.Unlock()
		if have == n {
			return
		}
	}
}

func TestLockedForTooLong(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Patience(50*time.Millisecond))
	other := open(t, dir)
	if err := other.writer.conn.script("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	entries := journaltest.Chain("a", journal.Head{}, 1)
	wantFault(t, s.Append(t.Context(), entries), fault.Conflict, "locked")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if err := s.Append(ctx, entries); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a caller in a hurry got %v", err)
	}
	if h, err := s.Head(t.Context(), "a"); err != nil || h.Seq != 0 {
		t.Errorf("reading while another writes: %v (%v)", h, err)
	}
	other.writer.conn.rollback()
	if err := s.Append(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
}

func TestLockIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	s, other := open(t, dir), open(t, dir)
	if err := other.writer.conn.script("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	const n = 5
	results := make(chan error, n)
	for i := range n {
		go func() {
			results <- s.Append(context.Background(), journaltest.Chain(fmt.Sprint("p", i), journal.Head{}, 1))
		}()
	}
	gathered(&s.writer, n)
	other.writer.conn.rollback()
	for range n {
		if err := <-results; err != nil {
			t.Fatal(err)
		}
	}
}

func TestFileRemovedOrReplaced(t *testing.T) {
	dir := closedHome(t, 2)
	s := open(t, dir)
	if err := os.Rename(s.path, s.path+".old"); err != nil {
		t.Skipf("an open file cannot be moved here: %v", err)
	}
	next := journaltest.Chain("a", journal.Head{}, 3)[2:]
	for range 2 {
		wantFault(t, s.Append(t.Context(), next), fault.Conflict, "removed or replaced")
		_, err := s.Head(t.Context(), "a")
		wantFault(t, err, fault.Conflict, "removed or replaced")
	}
	if err := os.Rename(s.path+".old", s.path); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), next); err != nil {
		t.Fatalf("after it was put back: %v", err)
	}
}

func TestClosed(t *testing.T) {
	s := open(t, t.TempDir())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), journaltest.Chain("a", journal.Head{}, 1)); err == nil {
		t.Error("a closed store took an append")
	}
	if _, err := s.Head(t.Context(), "a"); err == nil {
		t.Error("a closed store answered")
	}
}

// TestCloseWaits closes a store amid appends: each of them is either there or was refused.
func TestCloseWaits(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	const writers = 8
	wrote := make([]int, writers)
	started := make(chan struct{}, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			entries := journaltest.Chain(fmt.Sprint("p", i), journal.Head{}, 2000)
			for j := range entries {
				if s.Append(context.Background(), entries[j:j+1]) != nil {
					return
				}
				if wrote[i]++; j == 3 {
					started <- struct{}{}
				}
			}
		})
	}
	for range writers {
		<-started
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	for i, n := range wrote {
		sound(t, dir, fmt.Sprint("p", i), n)
	}
}
