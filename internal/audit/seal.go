package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

// HeadPath is where a home keeps a copy of its newest head, outside the database, so that cutting
// the database back is found out.
func HeadPath(home string) string { return filepath.Join(home, "keys", "head") }

// Sealer extends the tree over what was appended and signs its head. Several processes may seal one
// home: each seal starts from the newest head, and one that lost the race starts again.
type Sealer struct {
	ledger Ledger
	key    *Key   // changes when it is replaced, by this or another process
	copy   string // path of the newest head's copy
	clock  func() time.Time

	mu   sync.Mutex // one seal at a time; guards what follows, and the key
	tree *tree      // as of the last seal; nil when not known
}

// NewSealer makes a sealer. copyPath is the file for the newest head, clock tells the time to sign.
func NewSealer(l Ledger, key *Key, copyPath string, clock func() time.Time) *Sealer {
	return &Sealer{ledger: l, key: key, copy: copyPath, clock: clock}
}

// Seal covers everything that is in the ledger when it is called. It does nothing when that is
// sealed already. It refuses to sign over a head that does not verify, or when the copy of the
// newest head shows that the database was cut back: a signature would hide it.
func (s *Sealer) Seal(ctx context.Context) error {
	return s.locked(func() error { return s.sealAll(ctx) })
}

func (s *Sealer) sealAll(ctx context.Context) error {
	for {
		err := s.extend(ctx)
		if !fault.Is(err, fault.Conflict) {
			return err
		}
		s.tree = nil // another process sealed first
		if err := ctx.Err(); err != nil {
			return fault.Wrap(fault.Interrupted, err, "seal the journal")
		}
	}
}

func (s *Sealer) extend(ctx context.Context) error {
	t, err := s.current(ctx)
	if err != nil {
		return err
	}
	from := t.size
	// Until the seal is written nothing is known to be sealed: a failure starts from the ledger.
	s.tree = nil
	for leaf, err := range s.ledger.Leaves(ctx, from) {
		if err != nil {
			return err
		}
		if leaf.Pos != t.size+1 {
			return fault.New(fault.Tampered, "the journal has no entry at position %d", t.size+1).
				Remedy("run `cairn audit verify`, and put back a sound copy of the home")
		}
		t.add(leaf.Hash)
	}
	if t.size == from {
		s.tree = t
		return nil
	}
	head, err := s.key.Sign(Checkpoint{Size: t.size, Root: t.root(), Time: s.clock()})
	if err != nil {
		return err
	}
	if err := s.ledger.Extend(ctx, from, t.take(), head); err != nil {
		return err
	}
	s.tree = t
	return s.keepCopy(head)
}

// current is the tree as it was last sealed, by this or another process.
func (s *Sealer) current(ctx context.Context) (*tree, error) {
	// The copy is read first: it is written after the database, so it can only be ahead of what is
	// read later if the database was cut back.
	kept, err := ReadHeadCopy(s.copy)
	if err != nil {
		return nil, err
	}
	newest, err := s.ledger.NewestHead(ctx)
	if err != nil {
		return nil, err
	}
	if s.tree != nil && s.tree.size == newest.Size && kept.Size <= newest.Size {
		return s.tree, nil
	}
	if _, err := s.key.Check(kept); err == nil && kept.Size > newest.Size {
		return nil, cutBack(s.copy, kept.Size, newest.Size)
	}
	if newest.Size == 0 {
		return &tree{}, nil
	}
	signed, err := s.key.Check(newest)
	if err != nil {
		return nil, err
	}
	t, err := load(ctx, s.ledger, newest.Size)
	if err != nil {
		return nil, err
	}
	if t.root() != signed.Root {
		return nil, fault.New(fault.Tampered, "the tiles of the sealed tree do not give the root that was signed at size %d", newest.Size).
			Remedy("run `cairn audit verify`, and put back a sound copy of the home")
	}
	return t, nil
}

// keepCopy writes the newest head beside the key. Two processes may do so in the wrong order; the
// next seal puts it right.
func (s *Sealer) keepCopy(h Head) error {
	if kept, err := ReadHeadCopy(s.copy); err == nil && kept.Size > h.Size {
		return nil
	}
	err := os.MkdirAll(filepath.Dir(s.copy), 0o700)
	if err == nil {
		err = replaceFile(s.copy, h.Note, 0o644)
	}
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "write the newest head to %s", s.copy).
			Remedy("make %s writable for you", filepath.Dir(s.copy))
	}
	return nil
}

// ReadHeadCopy reads the copy of the newest head, the zero Head when there is none. Its signature
// is still to be checked.
func ReadHeadCopy(path string) (Head, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Head{}, nil
	}
	if err != nil {
		return Head{}, fault.Wrap(fault.Invalid, err, "read the copy of the newest head").
			Remedy("make %s readable for you", path)
	}
	var size uint64
	if _, err := fmt.Sscanf(string(text), Origin+"\n%d\n", &size); err != nil {
		return Head{}, fault.New(fault.Tampered, "%s holds no signed head", path).
			Remedy("put it back from a copy of the home")
	}
	return Head{Size: size, Note: text}, nil
}

func cutBack(path string, kept, newest uint64) error {
	return fault.New(fault.Tampered, "the journal was cut back: %s was signed at size %d, the database ends at %d", path, kept, newest).
		Remedy("put back the newer database; if an old copy was restored on purpose, move %s away", path)
}

// sealEvery is the longest time that an entry stays unsealed while Background runs.
const sealEvery = time.Second

// Background seals every second what was appended, until ctx ends, and then once more. It returns
// the first error.
func (s *Sealer) Background(ctx context.Context) error {
	tick := time.NewTicker(sealEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := s.Seal(ctx); err != nil && ctx.Err() == nil {
				return err
			}
		case <-ctx.Done():
			return s.Seal(context.WithoutCancel(ctx))
		}
	}
}
