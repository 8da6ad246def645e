// Package disk keeps artifacts in a folder, each under its own hash: artifacts/ab/<62 more digits>.
//
// A blob gets its name by a rename after its content is on disk, and Put returns after the name is
// on disk too. So whatever has a name is whole, and a crash leaves at most a file in artifacts/tmp,
// which is swept when a day old. Processes may share the folder: equal content has one name, and it
// does not matter whose rename comes last.
package disk

import (
	"context"
	"errors"
	"hash"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// Store is a folder of blobs. It is safe for concurrent use.
type Store struct {
	dir string

	mu     sync.Mutex
	synced map[digest.ID]bool // names that this process has made durable
	dirs   [256]bool          // and folders
}

var _ artifact.Store = (*Store)(nil)

// maxSynced bounds what is remembered: forgetting costs one sync of a folder.
const maxSynced = 1 << 14

// Open uses the folder artifacts in home, which must exist, and sweeps what crashes have left.
func Open(home string) (*Store, error) {
	s := &Store{dir: filepath.Join(home, "artifacts"), synced: map[digest.ID]bool{}}
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "the home %s does not exist", home).
			Remedy("create the folder, or name another home with --home or CAIRN_HOME")
	}
	if err := os.MkdirAll(s.temp(), 0o755); err != nil {
		return nil, s.explain(err)
	}
	if err := syncDir(home); err != nil {
		return nil, s.explain(err)
	}
	s.sweep(time.Now().Add(-24 * time.Hour))
	return s, nil
}

func (s *Store) temp() string { return filepath.Join(s.dir, "tmp") }

func (s *Store) path(id digest.ID) string {
	name := id.String()
	return filepath.Join(s.dir, name[:2], name[2:])
}

// sweep removes what was left by writers that died before a time. A failure is no harm: the next
// sweep tries again.
func (s *Store) sweep(before time.Time) {
	entries, err := os.ReadDir(s.temp())
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			os.Remove(filepath.Join(s.temp(), e.Name()))
		}
	}
}

// Stat implements artifact.Store.
func (s *Store) Stat(ctx context.Context, id digest.ID) (artifact.Blob, error) {
	info, err := os.Stat(s.path(id))
	if err != nil {
		return artifact.Blob{}, s.missing(id, err)
	}
	return artifact.Blob{ID: id, Size: info.Size()}, nil
}

// Open implements artifact.Store.
func (s *Store) Open(ctx context.Context, id digest.ID) (io.ReadCloser, error) {
	f, err := os.Open(s.path(id))
	if err != nil {
		return nil, s.missing(id, err)
	}
	return &reader{file: f, id: id, sum: digest.New()}, nil
}

// Remove implements artifact.Store.
func (s *Store) Remove(ctx context.Context, id digest.ID) error {
	s.mu.Lock()
	delete(s.synced, id)
	s.mu.Unlock()
	if err := os.Remove(s.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.explain(err)
	}
	return nil
}

// List implements artifact.Store.
func (s *Store) List(ctx context.Context) iter.Seq2[artifact.Blob, error] {
	return func(yield func(artifact.Blob, error) bool) {
		dirs, err := os.ReadDir(s.dir)
		if err != nil {
			yield(artifact.Blob{}, s.explain(err))
			return
		}
		for _, d := range dirs {
			if err := ctx.Err(); err != nil {
				yield(artifact.Blob{}, fault.Wrap(fault.Interrupted, err, "list artifacts"))
				return
			}
			if len(d.Name()) == 2 && d.IsDir() && !s.listDir(d.Name(), yield) {
				return
			}
		}
	}
}

// listDir yields the blobs of one folder. What has not the name of a blob is none.
func (s *Store) listDir(dir string, yield func(artifact.Blob, error) bool) bool {
	files, err := os.ReadDir(filepath.Join(s.dir, dir))
	if err != nil {
		return yield(artifact.Blob{}, s.explain(err))
	}
	for _, f := range files {
		id, err := digest.Parse(dir + f.Name())
		if err != nil {
			continue
		}
		info, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return yield(artifact.Blob{}, s.explain(err))
		}
		if !yield(artifact.Blob{ID: id, Size: info.Size()}, nil) {
			return false
		}
	}
	return true
}

// reader hashes what it reads and compares at the end.
type reader struct {
	file *os.File
	id   digest.ID
	sum  hash.Hash
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.file.Read(p)
	_, _ = r.sum.Write(p[:n]) // a hash takes everything
	if errors.Is(err, io.EOF) {
		if got := digest.From(r.sum); got != r.id {
			return n, fault.New(fault.Tampered, "the artifact %s was altered on disk: its content has the hash %s", r.id, got.Short()).
				Remedy("put %s back from a copy, or run the task that made it again", r.file.Name())
		}
	}
	return n, err
}

func (r *reader) Close() error { return r.file.Close() }
