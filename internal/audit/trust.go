package audit

import (
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Trust is the keys that a reader believes in: one, or all that a chain of handovers names. A key that was replaced is
// believed as far as it answered for.
type Trust struct {
	keys map[string]uint64 // the size up to which it is believed
}

const always = 1<<64 - 1

// ParseTrust reads a verifier, as in journal.key.pub, or handovers, as in journal.key.chain.
func ParseTrust(text string) (*Trust, error) {
	text = strings.TrimSpace(text)
	if v, err := newVerifier("", text); err == nil {
		return &Trust{map[string]uint64{v.text: always}}, nil
	}
	c, ok := parseChain(strings.Split(text, "\n"))
	if !ok || len(c) == 0 {
		return nil, fault.New(fault.Invalid, "this is no public key: %q", clip(text)).
			Remedy("it looks like %s+1a2b3c4d+AbC...; `cairn audit key` shows it where the journal is, and keys/journal.key.pub holds it", keyName)
	}
	t := &Trust{map[string]uint64{c.last(): always}}
	for _, h := range c {
		t.keys[h.Old] = h.Size
	}
	return t, nil
}

// judge reports whether what a key signed at a size is believed: because the reader knows the key, or because one that
// he knows leads to it.
func (t *Trust) judge(v *Verifier, size uint64) error {
	if upto, known := t.keys[v.text]; known {
		if size > upto {
			return fault.New(fault.Tampered, "it was signed at size %d by the key %s, which was replaced at size %d", size, v.text, upto)
		}
		return nil
	}
	for _, h := range v.chain {
		if upto, known := t.keys[h.Old]; known && h.Size <= upto {
			return nil
		}
	}
	return fault.New(fault.Tampered, "it was signed by the key %s, which is not the one that you named, nor does yours lead to it", v.text)
}
