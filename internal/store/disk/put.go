package disk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// smallSize is up to where a blob is read into memory first: if it is there already, nothing at all
// is written.
const smallSize = 64 << 10

// Put implements artifact.Store.
func (s *Store) Put(ctx context.Context, r io.Reader) (artifact.Blob, error) {
	r = &stoppable{ctx, r}
	head, err := io.ReadAll(io.LimitReader(r, smallSize+1))
	if err != nil {
		return artifact.Blob{}, readFault(err)
	}
	if len(head) > smallSize {
		return s.write(io.MultiReader(bytes.NewReader(head), r))
	}
	b := artifact.Blob{ID: digest.Sum(head), Size: int64(len(head))}
	if has, err := s.has(b); has || err != nil {
		return b, err
	}
	return s.write(bytes.NewReader(head))
}

// has reports whether b is stored, and makes sure that it stays: its name may be a moment old and
// given by another process that has not made it durable yet. A blob of another size was damaged,
// so it is written again.
func (s *Store) has(b artifact.Blob) (bool, error) {
	path := s.path(b.ID)
	if info, err := os.Stat(path); err != nil || info.Size() != b.Size {
		return false, nil //nolint:nilerr // whatever hinders looking hinders writing, which tells it
	}
	s.mu.Lock()
	known := s.synced[b.ID]
	s.mu.Unlock()
	if known {
		return true, nil
	}
	return true, s.settle(b.ID, filepath.Dir(path))
}

// write streams r into a file without a name and then gives it its name.
func (s *Store) write(r io.Reader) (b artifact.Blob, err error) {
	f, err := os.CreateTemp(s.temp(), "put-*")
	if err != nil {
		return b, s.explain(err)
	}
	named := false
	defer func() {
		if !named {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	sum := digest.New()
	if b.Size, err = io.Copy(io.MultiWriter(f, sum), r); err != nil {
		return artifact.Blob{}, s.explain(err)
	}
	b.ID = digest.From(sum)
	if has, err := s.has(b); has || err != nil {
		return b, err
	}
	if err := errors.Join(f.Chmod(0o444), f.Sync(), f.Close()); err != nil {
		return artifact.Blob{}, s.explain(err)
	}
	if err := s.name(f.Name(), b); err != nil {
		return artifact.Blob{}, s.explain(err)
	}
	named = true
	return b, nil
}

// name moves a finished file to its place.
func (s *Store) name(temp string, b artifact.Blob) error {
	path := s.path(b.ID)
	if err := s.makeDir(b.ID[0], filepath.Dir(path)); err != nil {
		return err
	}
	err := os.Rename(temp, path)
	if errors.Is(err, os.ErrNotExist) && missingDir(filepath.Dir(path)) {
		s.mu.Lock()
		s.dirs[b.ID[0]] = false // somebody removed it: make it again
		s.mu.Unlock()
		return s.name(temp, b)
	}
	if err != nil {
		// Where a file that is there cannot be replaced, it must be the same content.
		if has, _ := s.has(b); has {
			return os.Remove(temp)
		}
		return err
	}
	return s.settle(b.ID, filepath.Dir(path))
}

// makeDir makes one of the 256 folders. Another process may just have made it, so its name is made
// durable even if it is there.
func (s *Store) makeDir(first byte, dir string) error {
	s.mu.Lock()
	known := s.dirs[first]
	s.mu.Unlock()
	if known {
		return nil
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := syncDir(s.dir); err != nil {
		return err
	}
	s.mu.Lock()
	s.dirs[first] = true
	s.mu.Unlock()
	return nil
}

func missingDir(dir string) bool {
	_, err := os.Stat(dir)
	return errors.Is(err, os.ErrNotExist)
}

// settle makes a name durable and remembers that it is.
func (s *Store) settle(id digest.ID, dir string) error {
	if err := syncDir(dir); err != nil {
		return s.explain(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.synced) >= maxSynced {
		clear(s.synced)
	}
	s.synced[id] = true
	return nil
}

// syncDir makes the names in a folder durable. Windows has no such call and needs none.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// stoppable ends a read when its context does.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, fault.Wrap(fault.Interrupted, err, "store an artifact")
	}
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = readFault(err)
	}
	return n, err
}

// readFault is a failure of the content's source, which has nothing to do with the store.
func readFault(err error) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	return fault.Wrap(fault.Invalid, err, "read the artifact's content")
}
