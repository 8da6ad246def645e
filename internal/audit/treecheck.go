package audit

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// Finding is one thing that is wrong. Position is the first entry it concerns, 0 when it concerns
// none in particular.
type Finding struct {
	Position uint64
	Text     string
}

// TreeReport is what verifying the tree found out.
type TreeReport struct {
	Entries  uint64 // in the ledger
	Sealed   uint64 // covered by the newest head; what follows cannot be proved yet
	Heads    int
	Findings []Finding
}

// VerifyTree recomputes the tree from the entries' stored hashes and compares it with every tile,
// every signed head and the copy of the newest one. It lists all findings; an error means that it
// could not look. A seal made meanwhile looks like damage, so then it looks again.
func VerifyTree(ctx context.Context, l Ledger, v *Verifier, copyPath string) (TreeReport, error) {
	for {
		report, err := verifyTree(ctx, l, v, copyPath)
		if err != nil || len(report.Findings) == 0 {
			return report, err
		}
		newest, err := l.NewestHead(ctx)
		if err != nil || newest.Size == report.Sealed {
			return report, err
		}
	}
}

func verifyTree(ctx context.Context, l Ledger, v *Verifier, copyPath string) (TreeReport, error) {
	// The copy first: it is never ahead of a database that is read later.
	kept, keptErr := ReadHeadCopy(copyPath)
	newest, err := l.NewestHead(ctx)
	if err != nil {
		return TreeReport{}, err
	}
	next, stop := iter.Pull2(l.Heads(ctx))
	defer stop()
	c := &treeCheck{ledger: l, verifier: v, next: next, report: TreeReport{Sealed: newest.Size}}
	if err := c.entries(ctx); err != nil {
		return c.report, err
	}
	if err := c.end(ctx); err != nil {
		return c.report, err
	}
	return c.report, c.judgeCopy(copyPath, kept, keptErr)
}

// treeCheck walks the entries once, with the tree growing beside them.
type treeCheck struct {
	ledger   Ledger
	verifier *Verifier
	next     func() (Head, error, bool)
	head     Head // the next one to be reached
	pending  bool
	sound    uint64   // size of the last head that agreed
	unsound  []uint64 // sizes of those that did not
	upper    []stretch
	broken   bool // an entry is missing or unreadable: what follows was not looked at
	tree     tree
	report   TreeReport
}

// stretch is a part of a tile above the leaves that differs: if a leaf below it differs too, it
// says nothing new.
type stretch struct {
	tile     Tile
	from, to uint64 // positions
}

func (c *treeCheck) find(pos uint64, format string, args ...any) {
	c.report.Findings = append(c.report.Findings, Finding{pos, fmt.Sprintf(format, args...)})
}

func (c *treeCheck) entries(ctx context.Context) error {
	if err := c.advance(); err != nil {
		return err
	}
	for leaf, err := range c.ledger.Leaves(ctx, 0) {
		want := c.tree.size + 1
		switch {
		case fault.Is(err, fault.Tampered):
			c.find(want, "%v", err)
			c.broken = true
			return nil
		case err != nil:
			return err
		case leaf.Pos != want:
			c.find(want, "entries %d to %d are missing", want, leaf.Pos-1)
			c.broken = true
			return nil
		}
		c.report.Entries = want
		c.tree.add(leaf.Hash)
		if err := c.compareTiles(ctx, c.tree.done); err != nil {
			return err
		}
		c.tree.done = nil
		if err := c.reach(ctx); err != nil {
			return err
		}
	}
	return nil
}

// advance takes the next head.
func (c *treeCheck) advance() error {
	h, err, ok := c.next()
	if err != nil {
		return err
	}
	if c.pending = ok; ok {
		c.head = h
		c.report.Heads++
	}
	return nil
}

// reach judges the heads of the tree's present size.
func (c *treeCheck) reach(ctx context.Context) error {
	for _, h := range c.verifier.chain {
		if h.Size == c.tree.size && h.Root != c.tree.root() {
			c.find(h.Size, "the handover to the key %s names another root at size %d than the entries give", h.New, h.Size)
		}
	}
	for c.pending && c.head.Size <= c.tree.size {
		c.judge()
		if c.head.Size == c.report.Sealed {
			if err := c.compareTiles(ctx, c.tree.take()); err != nil {
				return err
			}
		}
		if err := c.advance(); err != nil {
			return err
		}
	}
	return nil
}

func (c *treeCheck) judge() {
	signed, err := c.verifier.Check(c.head)
	switch {
	case err != nil:
		c.find(c.head.Size, "%v", err)
	case signed.Root == c.tree.root():
		c.sound = c.head.Size
	default:
		c.unsound = append(c.unsound, c.head.Size)
	}
}

// compareTiles compares recomputed tiles with those in the ledger, as far as these are sealed.
func (c *treeCheck) compareTiles(ctx context.Context, tiles []Tile) error {
	if c.tree.size > c.report.Sealed {
		return nil
	}
	for _, t := range tiles {
		there, err := c.ledger.Tile(ctx, t.Level, t.N)
		if err != nil {
			return err
		}
		if bytes.Equal(there, t.Hashes) {
			continue
		}
		c.differ(t, there)
	}
	return nil
}

// differ notes the first hash of a tile that is not the recomputed one.
func (c *treeCheck) differ(t Tile, there []byte) {
	i := 0
	for i < len(there) && i < len(t.Hashes) && there[i] == t.Hashes[i] {
		i++
	}
	n := t.N<<tileHeight + uint64(i/digest.Size)
	if t.Level > 0 {
		under := tileHeight * t.Level
		c.upper = append(c.upper, stretch{t, n<<under + 1, (n + 1) << under})
		return
	}
	c.find(n+1, "entry %d is not the one that was sealed (tile 0/%d, hash %d)", n+1, t.N, i/digest.Size)
}

// end judges what the entries did not reach.
func (c *treeCheck) end(ctx context.Context) error {
	for c.pending {
		if _, err := c.verifier.Check(c.head); err != nil {
			c.find(c.head.Size, "%v", err)
		}
		if err := c.advance(); err != nil {
			return err
		}
	}
	if n := c.report.Entries; !c.broken && n < c.report.Sealed {
		c.find(n+1, "the journal ends at %d, but %d entries were sealed", n, c.report.Sealed)
	}
	c.conclude()
	count, err := c.ledger.TileCount(ctx)
	if err == nil && count != tileCount(c.report.Sealed) {
		c.find(0, "the sealed tree has %d tiles instead of %d", count, tileCount(c.report.Sealed))
	}
	return err
}

// conclude adds what follows from several findings, and says it at the place of the first cause.
func (c *treeCheck) conclude() {
	leaves := c.report.Findings
	within := func(from, to uint64) (uint64, bool) {
		for _, f := range leaves {
			if f.Position >= from && f.Position <= to {
				return f.Position, true
			}
		}
		return from, false
	}
	for _, s := range c.upper {
		if _, explained := within(s.from, s.to); !explained {
			c.find(s.from, "tile %d/%d of the sealed tree does not agree with the entries %d to %d", s.tile.Level, s.tile.N, s.from, s.to)
		}
	}
	if len(c.unsound) > 0 {
		size := c.unsound[0]
		pos, found := within(1, size)
		if !found {
			pos = c.sound + 1
		}
		c.find(pos, "%d signed heads, the first of size %d, do not agree with the entries", len(c.unsound), size)
	}
}

// judgeCopy compares the newest head with its copy outside the database.
func (c *treeCheck) judgeCopy(path string, kept Head, err error) error {
	if fault.Is(err, fault.Tampered) {
		c.find(0, "%v", err)
		return nil
	}
	if err != nil || kept.Size == 0 {
		return err
	}
	if _, err := c.verifier.Check(kept); err != nil {
		c.find(kept.Size, "%s: %v", path, err)
	} else if kept.Size > c.report.Sealed {
		c.find(c.report.Sealed+1, "%v", cutBack(path, kept.Size, c.report.Sealed))
	}
	return nil
}
