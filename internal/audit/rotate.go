package audit

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"golang.org/x/mod/sumdb/note"

	"github.com/cairn-plan/cairn/internal/fault"
)

// nextPath is where a new key waits for the old one to hand over.
func nextPath(secretPath string) string { return secretPath + ".next" }

// Rotate seals what there is with the present key, lets it name a new one, and goes on with that. The old
// key is destroyed: what it signed stays provable by its verifier, which the handover keeps.
//
// The handover is the moment of change. A rotation that was cut off before it has done nothing; one that was cut off
// after it is completed by whoever loads the key next.
func (s *Sealer) Rotate(ctx context.Context, why string) (Handover, error) {
	why = strings.TrimSpace(why)
	if why == "" || strings.ContainsFunc(why, unicode.IsControl) {
		return Handover{}, fault.New(fault.Invalid, "a key is replaced for a reason, told in one line").Remedy("add --why TEXT")
	}
	var h Handover
	err := s.locked(func() error {
		if err := s.sealAll(ctx); err != nil {
			return err
		}
		at := Checkpoint{Size: s.tree.size, Root: s.tree.root(), Time: s.clock()}
		next, text, err := note.GenerateKey(rand.Reader, keyName)
		if err != nil {
			return fault.Wrap(fault.Internal, err, "make a key")
		}
		if h, err = s.key.handOver(text, at, why); err != nil {
			return err
		}
		if err := keyFault(replaceFile(nextPath(s.key.secret), []byte(next+"\n"), 0o600), nextPath(s.key.secret)); err != nil {
			return err
		}
		all := append(append(chain{}, s.key.chain...), h)
		if err := keyFault(replaceFile(chainPath(s.key.path), []byte(all.text()), 0o644), chainPath(s.key.path)); err != nil {
			return err
		}
		s.key, err = LoadKeyFrom(s.key.secret, s.key.path)
		return err
	})
	return h, err
}

// finishHandover puts the key that was named in the place of the one that named it. Another process may do so at the
// same time, and either is the first.
func finishHandover(old *Key, named string) (*Key, error) {
	err := os.Rename(nextPath(old.secret), old.secret)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, keyFault(err, old.secret)
	}
	if err := syncDir(filepath.Dir(old.secret)); err != nil {
		return nil, keyFault(err, old.secret)
	}
	secret, err := readSecret(old.secret)
	if err != nil {
		return nil, keyFault(err, old.secret)
	}
	k, err := parseKey(old.secret, secret)
	if err != nil {
		return nil, err
	}
	if k.text != named {
		return nil, fault.New(fault.Conflict, "the key %s was replaced, and its successor %s is not there", old.secret, named).
			Remedy("put back the successor from a copy of the home, or name it with CAIRN_KEY_FILE")
	}
	k.path = old.path
	return k, nil
}

// refresh takes up the key that another process put in the place of ours.
func (s *Sealer) refresh() error {
	there, err := readVerifier(s.key.path)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	c, bad := readChain(s.key.path)
	if bad != nil {
		return bad
	}
	if err == nil && there == s.key.text && (len(c) == 0 || c.last() == there) {
		return nil
	}
	k, err := LoadKeyFrom(s.key.secret, s.key.path)
	if err != nil {
		return err
	}
	s.key = k
	return nil
}

// locked runs f while no other process of this home seals or rotates, with the key that is in use. Without that an
// engine could go on signing, for a moment, with a key that was replaced.
func (s *Sealer) locked(f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := filepath.Dir(s.copy)
	file, err := openLock(dir)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "write the newest head to %s", s.copy).
			Remedy("make %s writable for you", dir)
	}
	defer file.Close()
	if err := s.refresh(); err != nil {
		return err
	}
	return f()
}

// openLock waits until the folder's lock is ours; closing it, or the end of the process, lets it go.
func openLock(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
