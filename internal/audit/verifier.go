package audit

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Verifier checks what the key of a home signed, and what the keys before it did, each within what it answered for.
// It holds no secret.
type Verifier struct {
	path     string // of the key
	verifier note.Verifier
	text     string
	chain    chain
	retired  []note.Verifier // the old key of each handover
}

func verifierPath(keyPath string) string { return keyPath + ".pub" }

// String is the verifier in note form, which may be given to anyone.
func (v *Verifier) String() string { return v.text }

// Handovers lists how the home came to its key, the first one first.
func (v *Verifier) Handovers() []Handover { return v.chain }

// LoadVerifier reads the verifier of the key at path, and the handovers to it, and makes nothing.
func LoadVerifier(path string) (*Verifier, error) {
	// In this order: a handover writes the chain before the verifier.
	text, err := readVerifier(path)
	if err != nil {
		return nil, err
	}
	c, err := readChain(path)
	if err != nil {
		return nil, err
	}
	if len(c) > 0 && text == c[len(c)-1].Old {
		text = c.last() // a handover that was cut off, which the next signature completes
	}
	if len(c) > 0 && text != c.last() {
		return nil, fault.New(fault.Tampered, "%s does not lead to the key that %s verifies", chainPath(path), verifierPath(path)).
			Remedy("put both back from a copy of the home")
	}
	return chained(path, text, c)
}

func readVerifier(path string) (string, error) {
	text, err := os.ReadFile(verifierPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.New(fault.NotFound, "the verifier %s is missing", verifierPath(path)).
			Remedy("put it back from a copy of the home, or ask whoever keeps the key")
	}
	if err != nil {
		return "", keyFault(err, verifierPath(path))
	}
	v, err := newVerifier(path, strings.TrimSpace(string(text)))
	if err != nil {
		return "", err
	}
	return v.text, nil
}

func newVerifier(path, text string) (*Verifier, error) {
	v, err := note.NewVerifier(text)
	if err != nil || v.Name() != keyName {
		return nil, fault.New(fault.Invalid, "%s holds no verifier", verifierPath(path)).
			Remedy("put it back from a copy of the home")
	}
	return &Verifier{path: path, verifier: v, text: text}, nil
}

// chained is the verifier of a key to which a chain of handovers leads.
func chained(path, text string, c chain) (*Verifier, error) {
	v, err := newVerifier(path, text)
	if err != nil {
		return nil, err
	}
	v.chain = c
	for _, h := range c {
		old, err := newVerifier(path, h.Old)
		if err != nil {
			return nil, err
		}
		v.retired = append(v.retired, old.verifier)
	}
	return v, nil
}

// at is the key that answers for a head of some size.
func (v *Verifier) at(size uint64) note.Verifier {
	for i, h := range v.chain {
		if size <= h.Size {
			return v.retired[i]
		}
	}
	return v.verifier
}

// Check reads a head back if its signature is that of the key that answers for its size.
func (v *Verifier) Check(h Head) (Checkpoint, error) {
	n, err := note.Open(h.Note, note.VerifierList(v.at(h.Size)))
	if err != nil {
		return Checkpoint{}, v.unsigned(h, err)
	}
	c, ok := parseCheckpoint(n.Text)
	if !ok || c.Size != h.Size || !oneSpelling(h.Note, n) {
		return Checkpoint{}, fault.New(fault.Tampered, "the signed head of size %d does not say what a head says", h.Size).
			Remedy("put back a sound copy of the home")
	}
	return c, nil
}

// unsigned says whose signature is missing, and whose is there instead.
func (v *Verifier) unsigned(h Head, err error) error {
	for i, old := range v.retired {
		if _, bad := note.Open(h.Note, note.VerifierList(old)); bad == nil && h.Size > v.chain[i].Size {
			return fault.New(fault.Tampered, "the head of size %d was signed by the key %s, which was replaced at size %d", h.Size, v.chain[i].Old, v.chain[i].Size).
				Remedy("whoever signed it had a key that was no longer in use: put back a sound copy of the home")
		}
	}
	where := v.path
	if where == "" {
		where = v.text
	}
	return fault.Wrap(fault.Tampered, err, "the head of size %d was not signed by the key %s", h.Size, where).
		Remedy("put back the key that belongs to this home; if it is the right one, the head was altered")
}
