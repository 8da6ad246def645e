package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// staged is the state of the files as the index has it.
type staged struct {
	head  string // the last state
	tree  string // empty when nothing differs from it
	files []string
	left  []string
}

// stage brings the index in line with the files, but for those that the sieve leaves out. Files may change meanwhile
// (another task may be at work in the same folder): then it looks again.
func stage(ctx context.Context, g git, root string, s *sieve) (staged, error) {
	var left []string
	for attempt := 0; ; attempt++ {
		head, all, err := look(ctx, g)
		if err != nil {
			return staged{}, missing(root, err)
		}
		out, err := s.sift(ctx, g, root, all)
		if err != nil {
			return staged{}, err
		}
		left = append(left, out.left...)
		if len(out.keep)+len(out.force)+len(out.revert) == 0 {
			return staged{head: head, left: left}, nil
		}
		if err := writeIndex(ctx, g, out); err != nil {
			if attempt < 2 && moved(err) {
				continue
			}
			return staged{}, err
		}
		also, err := s.recheck(ctx, g, out, all)
		if err != nil {
			return staged{}, err
		}
		tree, err := g.line(ctx, "write-tree")
		return staged{head: head, tree: tree, files: append(out.keep, out.force...), left: append(left, also...)}, err
	}
}

// writeIndex tells git which files to read. Every list is fed in one piece, so a crash leaves the old index or the new.
func writeIndex(ctx context.Context, g git, out sifted) error {
	var info bytes.Buffer
	for _, name := range out.force {
		fmt.Fprintf(&info, "0 %s\t%s\x00", strings.Repeat("0", 40), name)
	}
	for _, f := range out.revert {
		if f.mode == "000000" {
			fmt.Fprintf(&info, "0 %s\t%s\x00", strings.Repeat("0", 40), f.path)
		} else {
			fmt.Fprintf(&info, "%s %s\t%s\x00", f.mode, f.hash, f.path)
		}
	}
	if info.Len() > 0 {
		if _, err := g.run(ctx, info.Bytes(), "update-index", "-z", "--index-info"); err != nil {
			return err
		}
	}
	if len(out.keep) == 0 {
		return nil
	}
	args := []string{"update-index", "-z", "--add", "--remove", "--replace", "--stdin"}
	if len(out.keep) > 200 {
		// Above this size git streams contents into one pack, which is far cheaper than a file for each of them.
		args = append([]string{"-c", "core.bigFileThreshold=1"}, args...)
	}
	_, err := g.run(ctx, []byte(strings.Join(out.keep, "\x00")+"\x00"), args...)
	return err
}

// moved reports that git could not read a file, because it is not what it was when we looked.
func moved(err error) bool {
	var e *gitError
	return errors.As(err, &e) && (strings.Contains(e.text, "nable to process path") || strings.Contains(e.text, "nable to index file"))
}

// recheck compares what git has read with what was looked through, and takes out what changed to hold a secret in
// between, from the index and from the objects.
func (s *sieve) recheck(ctx context.Context, g git, out sifted, all []found) ([]string, error) {
	if len(out.hashes) == 0 || !s.nests {
		return nil, nil // a tree of its own has no second writer
	}
	text, err := g.run(ctx, nil, append([]string{"ls-files", "-s", "-z", "--"}, few(out.hashes)...)...)
	if err != nil {
		return nil, err
	}
	byPath := map[string]found{}
	for _, f := range all {
		byPath[f.path] = f
	}
	var again sifted
	for _, entry := range list(text) {
		meta, name, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(meta)
		if len(fields) != 3 || out.hashes[name] == "" || out.hashes[name] == fields[1] {
			continue
		}
		content, err := g.run(ctx, nil, "cat-file", "blob", fields[1])
		if err != nil {
			return nil, err
		}
		if why := s.holds(content); why != "" {
			again.revert = append(again.revert, byPath[name])
			again.left = append(again.left, name+": "+why)
			forget(g, fields[1])
		}
	}
	return again.left, writeIndex(ctx, g, again)
}

// few gives the paths to ask for, or none, which means all, when they are too many for a command line.
func few(hashes map[string]string) (paths []string) {
	if len(hashes) > 200 {
		return nil
	}
	for name := range hashes {
		paths = append(paths, name)
	}
	return paths
}

// forget removes a loose object that must not exist. That it may be in use elsewhere is no excuse: it holds a secret.
func forget(g git, hash string) {
	for _, v := range g.env {
		if dir, ok := strings.CutPrefix(v, "GIT_DIR="); ok {
			_ = os.Remove(filepath.Join(dir, "objects", hash[:2], hash[2:]))
		}
	}
}

// missing tells a folder that is gone from other failures: git cannot even start in it.
func missing(root string, err error) error {
	if _, statErr := os.Stat(root); errors.Is(statErr, fs.ErrNotExist) {
		return gone(root, statErr)
	}
	return err
}

func gone(root string, err error) error {
	return fault.Wrap(fault.NotFound, err, "the folder %s was deleted while it was in use", root).
		Remedy("run `cairn retry PLAN`: a work tree is made anew, and the task is tried again; a project root has to be put back by hand")
}
