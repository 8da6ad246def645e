package audit

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
)

const (
	proofWord  = "cairn proof "
	proofTitle = proofWord + "v1"
	proofHow   = "check it with: cairn audit verify FILE --key KEY"
)

// ProveRecords writes a proof that records of a plan stand under the signed head: all of them, or those that which
// names, a number or a task.
func ProveRecords(ctx context.Context, h Home, name, which string) ([]byte, error) {
	if err := sealFor(ctx, h, name); err != nil {
		return nil, err
	}
	head, signed, err := newestHead(ctx, h.Ledger, h.Verifier)
	if err != nil {
		return nil, err
	}
	entries, beyond, err := covered(ctx, h, name, head.Size)
	if err != nil {
		return nil, err
	}
	if which != "" {
		if entries, err = choose(entries, beyond, name, which); err != nil {
			return nil, err
		}
	}
	if len(entries) == 0 {
		return nil, fault.New(fault.NotFound, "no record of plan %s stands under a signed head yet", name).
			Remedy("put the signing key in its place, and ask again")
	}
	paper := &sheet{title: proofTitle}
	paper.add("how", proofHow)
	paper.add("plan", name)
	paper.add("records", recordLines(entries)...)
	if err := paper.addProof(ctx, h.Ledger, entries, signed); err != nil {
		return nil, err
	}
	paper.addHead(h.Verifier, head)
	return []byte(paper.text()), nil
}

// sealFor seals what a plan has beyond the newest head. Whoever has no key can still prove what was sealed.
func sealFor(ctx context.Context, h Home, name string) error {
	head, err := h.Ledger.NewestHead(ctx)
	if err != nil {
		return err
	}
	_, beyond, err := covered(ctx, h, name, head.Size)
	if err != nil || beyond == 0 || h.Sealer == nil {
		return err
	}
	s, err := h.Sealer()
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.Seal(ctx)
}

// choose finds the record of a number, or the records of a task.
func choose(entries []journal.Entry, beyond int, name, which string) (chosen []journal.Entry, err error) {
	if seq, err := strconv.ParseUint(which, 10, 64); err == nil {
		last := uint64(len(entries) + beyond)
		switch {
		case seq == 0 || seq > last:
			return nil, fault.New(fault.NotFound, "plan %s has no record %s: they go from 1 to %d", name, which, last).
				Remedy("see them with: cairn log %s", name)
		case seq > uint64(len(entries)):
			return nil, fault.New(fault.NotFound, "record %s of plan %s stands under no signed head yet", which, name).
				Remedy("put the signing key in its place, and ask again")
		}
		return entries[seq-1 : seq], nil
	}
	for _, e := range entries {
		r, err := journal.Decode(e)
		if err != nil {
			return nil, err
		}
		if r.Task == which {
			chosen = append(chosen, e)
		}
	}
	if len(chosen) == 0 {
		return nil, fault.New(fault.NotFound, "no record of plan %s concerns a task %s", name, which).
			Remedy("see the tasks with: cairn show %s, or name a record by its number", name)
	}
	return chosen, nil
}

// HeadOfSize is the head that was signed at a size.
func HeadOfSize(ctx context.Context, l Ledger, size uint64) (Head, error) {
	var sizes []uint64
	for h, err := range l.Heads(ctx) {
		if err != nil {
			return Head{}, err
		}
		if h.Size == size {
			return h, nil
		}
		sizes = append(sizes, h.Size)
	}
	if len(sizes) == 0 {
		return Head{}, fault.New(fault.NotFound, "nothing was signed yet in this home").Remedy("carry out a plan with: cairn run FILE")
	}
	at, _ := slices.BinarySearch(sizes, size)
	near := sizes[min(at, len(sizes)-1)]
	return Head{}, fault.New(fault.NotFound, "no head of size %d was signed; the nearest is of size %d", size, near).
		Remedy("name a size that was signed, or a file that holds a signed head, such as a copy of keys/head")
}

// ParseHead reads a head out of a file.
func ParseHead(text []byte) (Head, error) {
	lines := noteLines(text)
	if len(lines) < 2 || lines[0] != Origin {
		return Head{}, fault.New(fault.Invalid, "this is no signed head: it does not begin with %q", Origin).
			Remedy("name a copy of keys/head, or a size")
	}
	size, err := strconv.ParseUint(lines[1], 10, 62)
	if err != nil || size == 0 {
		return Head{}, fault.New(fault.Invalid, "this head has no size: %q", clip(lines[1])).Remedy("name another copy of keys/head")
	}
	return Head{Size: size, Note: text}, nil
}

// ProveGrowth writes a proof that the journal of today only added to what an older head had signed.
func ProveGrowth(ctx context.Context, h Home, older Head) ([]byte, error) {
	before, err := h.Verifier.Check(older)
	if err != nil {
		return nil, err
	}
	head, signed, err := newestHead(ctx, h.Ledger, h.Verifier)
	if err != nil {
		return nil, err
	}
	if older.Size > head.Size {
		return nil, fault.New(fault.Tampered, "the journal was cut back: a head was signed at size %d, the newest here is of size %d", older.Size, head.Size).
			Remedy("put back the newer database")
	}
	proof, err := tlog.ProveTree(int64(head.Size), int64(older.Size), newTiles(ctx, h.Ledger))
	if err != nil {
		return nil, err
	}
	if tlog.CheckTree(proof, int64(signed.Size), signed.Root, int64(before.Size), before.Root) != nil {
		return nil, fault.New(fault.Tampered, "the journal was rewritten: what was signed at size %d is not the beginning of what was signed at size %d", before.Size, signed.Size).
			Remedy("see everything that is wrong with: cairn audit verify, and put back a sound copy of the home")
	}
	paper := &sheet{title: proofTitle}
	paper.add("how", proofHow)
	paper.add("older", noteLines(older.Note)...)
	paper.add("hashes", hashLines(proof)...)
	paper.addHead(h.Verifier, head)
	return []byte(paper.text()), nil
}

// IsProof reports whether a text begins as receipts and proofs do.
func IsProof(text []byte) bool {
	return strings.HasPrefix(string(text), receiptWord) || strings.HasPrefix(string(text), proofWord)
}
