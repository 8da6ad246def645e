package audit

import (
	"context"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
)

const (
	receiptWord  = "cairn receipt "
	receiptTitle = receiptWord + "v1"
)

// how tells a stranger what to do with a receipt.
func how(verifier string) []string {
	return []string{
		"This is a receipt: what became of one plan, with all records of it. Its last line signs everything above that line.",
		"With cairn:    cairn audit verify FILE --key KEY     (needs no network and nothing but this file)",
		"Without cairn: docs/proofs.md at https://github.com/cairn-plan/cairn tells how, by SHA-256, JSON and Ed25519 alone.",
		"It says itself that KEY is " + verifier,
		"A file cannot vouch for its own key: ask whoever gave it to you, by another way, whether that key is theirs.",
	}
}

// Receipt makes one signed file of all that is recorded of a plan: what it came to, the records that this follows
// from, the proof that they stand under the signed head, and that head. What is not sealed yet is sealed first.
func Receipt(ctx context.Context, h Home, name string) ([]byte, error) {
	s, err := h.Sealer()
	if err != nil {
		return nil, err
	}
	if err := s.Seal(ctx); err != nil {
		return nil, err
	}
	key := s.Key()
	head, signed, err := newestHead(ctx, h.Ledger, key.Verifier)
	if err != nil {
		return nil, err
	}
	entries, _, err := covered(ctx, h, name, head.Size)
	if err != nil {
		return nil, err
	}
	hist, err := foldAll(name, entries, func(id digest.ID) ([]byte, error) { return artifact.ReadAll(ctx, h.Artifacts, id, unpackTo) })
	if err != nil {
		return nil, err
	}
	sum, err := hist.summarize()
	if err != nil {
		return nil, err
	}
	shown, err := sum.lines()
	if err != nil {
		return nil, err
	}
	paper := &sheet{title: receiptTitle}
	paper.add("how", how(key.text)...)
	paper.add("summary", shown...)
	paper.add("plans", hist.texts...)
	if err := paper.addPacked("records", recordLines(entries)); err != nil {
		return nil, err
	}
	if err := paper.addProof(ctx, h.Ledger, entries, signed); err != nil {
		return nil, err
	}
	paper.addHead(key.Verifier, head)
	file, err := note.Sign(&note.Note{Text: paper.text()}, key.signer)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "sign a receipt")
	}
	return file, nil
}

// newestHead is the last head that was signed, checked.
func newestHead(ctx context.Context, l Ledger, v *Verifier) (Head, Checkpoint, error) {
	head, err := l.NewestHead(ctx)
	if err != nil {
		return head, Checkpoint{}, err
	}
	if head.Size == 0 {
		return head, Checkpoint{}, fault.New(fault.NotFound, "nothing was signed yet in this home").
			Remedy("carry out a plan with: cairn run FILE")
	}
	signed, err := v.Check(head)
	return head, signed, err
}

func recordLines(entries []journal.Entry) []string {
	lines := make([]string, len(entries))
	for i, e := range entries {
		lines[i] = string(e.Bytes)
	}
	return lines
}

// addProof adds where the entries stand in the tree, and the hashes that prove it.
func (s *sheet) addProof(ctx context.Context, l Ledger, entries []journal.Entry, signed Checkpoint) error {
	positions := make([]uint64, len(entries))
	ids := make([]digest.ID, len(entries))
	for i, e := range entries {
		positions[i], ids[i] = e.Pos, e.Hash
	}
	proof, err := newTiles(ctx, l).prove(signed.Size, positions)
	if err != nil {
		return err
	}
	if root, ok := provenRoot(signed.Size, positions, ids, proof); !ok || root != signed.Root {
		return unsound(signed.Size)
	}
	s.add("positions", spans(positions)...)
	s.add("hashes", hashLines(proof)...)
	return nil
}

func unsound(size uint64) error {
	return fault.New(fault.Tampered, "the records do not lead to the root that was signed at size %d, so nothing can be proved by it", size).
		Remedy("see everything that is wrong with: cairn audit verify")
}

// addHead adds the signed head, and by which keys it can be checked.
func (s *sheet) addHead(v *Verifier, head Head) {
	s.add("keys", v.chain.lines()...)
	s.add("signer", v.text)
	s.add("head", noteLines(head.Note)...)
}

func noteLines(msg []byte) []string {
	return strings.Split(strings.TrimSuffix(string(msg), "\n"), "\n")
}

// Key is the key in use.
func (s *Sealer) Key() *Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.key
}
