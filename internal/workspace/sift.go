package workspace

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// sieve decides which changed files are kept. It remembers what it left out, so that a file which stays as it is is
// named once, by the task after which it was found.
type sieve struct {
	opts   Options
	nests  bool // folders that are repositories of their own are kept as the commit they stand at
	left   map[string]mark
	hidden []string // path prefixes that are never kept: the home
}

// mark is how a file that was left out looked.
type mark struct {
	size int64
	time time.Time
	why  string
}

// sifted is what a sieve lets through.
type sifted struct {
	keep   []string          // to be read by git
	force  []string          // gone, but in the place of a parent folder there is something that git would follow
	revert []found           // left out, although the index has it
	left   []string          // left out and not yet told, each with why
	hashes map[string]string // the git hash of the content that was looked through
}

func newSieve(opts Options, nests bool, hidden ...string) *sieve {
	return &sieve{opts: opts, nests: nests, left: map[string]mark{}, hidden: hidden}
}

// sift sorts what git found. Files are opened below root only: a link that leads out is a link, not what it leads to.
func (s *sieve) sift(ctx context.Context, g git, root string, all []found) (sifted, error) {
	out := sifted{hashes: map[string]string{}}
	folder, err := os.OpenRoot(root)
	if err != nil {
		return out, gone(root, err)
	}
	defer func() { _ = folder.Close() }() // it was only looked through
	for _, f := range all {
		if s.hides(f.path) {
			continue
		}
		if f.gone {
			if behindLink(folder, f.path) {
				out.force = append(out.force, f.path)
			} else {
				out.keep = append(out.keep, f.path)
			}
			continue
		}
		m, hash := s.judge(ctx, g, folder, f)
		if m.why == "" {
			delete(s.left, f.path)
			out.keep = append(out.keep, f.path)
			if hash != "" {
				out.hashes[f.path] = hash
			}
			continue
		}
		if f.staged {
			out.revert = append(out.revert, f)
		}
		if s.left[f.path] != m {
			s.left[f.path] = m
			out.left = append(out.left, f.path+": "+m.why)
		}
	}
	return out, nil
}

func (s *sieve) hides(name string) bool {
	for _, h := range s.hidden {
		if name == h || strings.HasPrefix(name, h+"/") {
			return true
		}
	}
	return false
}

// judge looks at one file. A mark without a reason lets it through.
func (s *sieve) judge(ctx context.Context, g git, folder *os.Root, f found) (mark, string) {
	if f.nested {
		return mark{why: s.judgeNested(ctx, g, f)}, ""
	}
	name := filepath.FromSlash(f.path)
	info, err := folder.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return mark{}, "" // deleted since; git will notice
	}
	if err != nil {
		return mark{why: "cannot be read: " + cause(err)}, ""
	}
	m := mark{size: info.Size(), time: info.ModTime()}
	if info.Mode().IsRegular() && info.Size() > s.opts.limit() {
		m.why = fmt.Sprintf("%d bytes, above the limit of %d", info.Size(), s.opts.limit())
		return m, ""
	}
	if old, ok := s.left[f.path]; ok && old.size == m.size && old.time.Equal(m.time) && !f.staged {
		return old, ""
	}
	content, err := read(folder, name, info, s.opts)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return mark{}, ""
	case err != nil:
		m.why = "cannot be read: " + cause(err)
		return m, ""
	}
	if s.opts.Holds == nil {
		return m, ""
	}
	m.why = s.holds(content)
	return m, blobHash(content)
}

// holds says which secret is in content.
func (s *sieve) holds(content []byte) string {
	if names := s.opts.Holds(content); len(names) > 0 {
		return "holds the secret " + strings.Join(names, ", ")
	}
	return ""
}

// judgeNested looks at a repository inside the workspace, of which git can keep no more than the commit it stands at.
func (s *sieve) judgeNested(ctx context.Context, g git, f found) string {
	if f.hash != "" {
		return "" // it was kept before
	}
	if !s.nests {
		return "a repository of its own"
	}
	sub := git{program: g.program, env: outside(g.env), dir: filepath.Join(g.dir, filepath.FromSlash(f.path))}
	if _, err := sub.line(ctx, "rev-parse", "-q", "--verify", "HEAD^{commit}"); err != nil {
		return "a repository of its own, without a commit"
	}
	return ""
}

// read gives the bytes of a file, or of a link; without a look for secrets it only proves that they can be read.
func read(folder *os.Root, name string, info fs.FileInfo, opts Options) ([]byte, error) {
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := folder.Readlink(name)
		return []byte(target), err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	file, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if opts.Holds == nil {
		return nil, nil
	}
	return io.ReadAll(io.LimitReader(file, opts.limit()+1))
}

// behindLink reports whether a parent of name is a symbolic link by now.
func behindLink(folder *os.Root, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := folder.Lstat(filepath.FromSlash(dir)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// blobHash is the name that git gives to content.
func blobHash(content []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// cause leaves the path out of an error of the file system: the caller names the file already.
func cause(err error) string {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}
