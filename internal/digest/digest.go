// Package digest names content: a SHA-256 identity, and the one canonical encoding (RFC 8785)
// under which equal values have equal bytes and so equal names.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Size is the length of an ID in bytes.
const Size = sha256.Size

// ID is the SHA-256 of some content. The zero ID names nothing.
type ID [Size]byte

// Sum names the bytes b.
func Sum(b []byte) ID { return sha256.Sum256(b) }

// Parts names a list of strings, unambiguously: each is preceded by its length.
func Parts(parts ...string) ID {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		for i, l := 0, uint64(len(p)); i < 8; i++ {
			n[i] = byte(l >> (56 - 8*i))
		}
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return From(h)
}

// From takes the ID out of a finished SHA-256.
func From(h hash.Hash) (id ID) {
	h.Sum(id[:0])
	return id
}

// New starts a SHA-256 to be finished by From.
func New() hash.Hash { return sha256.New() }

// Parse reads 64 hexadecimal digits.
func Parse(s string) (ID, error) {
	var id ID
	if len(s) != 2*Size {
		return id, fault.New(fault.Invalid, "%q is no content hash: it has %d characters, not %d", s, len(s), 2*Size)
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ID{}, fault.New(fault.Invalid, "%q is no content hash: %v", s, err)
	}
	return id, nil
}

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Short is enough of the ID for a person to tell it from others.
func (id ID) Short() string { return hex.EncodeToString(id[:6]) }

// IsZero reports whether id names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// AppendHex appends the 64 digits of id to dst.
func (id ID) AppendHex(dst []byte) []byte { return hex.AppendEncode(dst, id[:]) }

// MarshalText implements encoding.TextMarshaler.
func (id ID) MarshalText() ([]byte, error) { return id.AppendHex(nil), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *ID) UnmarshalText(b []byte) (err error) {
	*id, err = Parse(string(b))
	return err
}
