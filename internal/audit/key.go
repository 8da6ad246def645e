package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/cairn-plan/cairn/internal/fault"
)

// keyName is the signer's name in every note.
const keyName = "cairn-journal"

// Key signs heads. It is kept outside the database, so that whoever can change only the database
// cannot sign.
type Key struct {
	*Verifier
	signer note.Signer
}

// Verifier checks what a Key signed. It holds no secret.
type Verifier struct {
	path     string // of the key
	verifier note.Verifier
	text     string
}

// KeyPath is where a home keeps its key. The verifier lies beside it, with .pub added to the name.
func KeyPath(home string) string { return filepath.Join(home, "keys", "journal.key") }

func verifierPath(keyPath string) string { return keyPath + ".pub" }

// String is the verifier in note form, which may be given to anyone.
func (v *Verifier) String() string { return v.text }

// LoadKey reads the key at path, and makes one, for its owner's eyes only, when there is neither a
// key nor a verifier. Of two processes that make one at once, one wins and both use it.
func LoadKey(path string) (*Key, error) {
	secret, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		secret, err = makeKey(path)
	}
	if err != nil {
		return nil, keyFault(err, path)
	}
	k, err := parseKey(path, strings.TrimSpace(string(secret)))
	if err != nil {
		return nil, err
	}
	if err := k.matchVerifier(); err != nil {
		return nil, err
	}
	return k, nil
}

// LoadVerifier reads the verifier of the key at path and makes nothing.
func LoadVerifier(path string) (*Verifier, error) {
	text, err := os.ReadFile(verifierPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "the verifier %s is missing", verifierPath(path)).
			Remedy("put it back from a copy of the home, or ask whoever keeps the key")
	}
	if err != nil {
		return nil, keyFault(err, verifierPath(path))
	}
	return newVerifier(path, strings.TrimSpace(string(text)))
}

func newVerifier(path, text string) (*Verifier, error) {
	v, err := note.NewVerifier(text)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s holds no verifier", verifierPath(path)).
			Remedy("put it back from a copy of the home")
	}
	return &Verifier{path: path, verifier: v, text: text}, nil
}

func parseKey(path, secret string) (*Key, error) {
	bad := fault.New(fault.Invalid, "%s holds no signing key", path).
		Remedy("put the key of this home back from a copy")
	signer, err := note.NewSigner(secret)
	if err != nil {
		return nil, bad
	}
	// NewSigner has checked the form: the last part is the algorithm's byte and the seed.
	parts := strings.SplitN(secret, "+", 5) // base64 may hold a + of its own
	seed, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(seed) != 1+ed25519.SeedSize {
		return nil, bad
	}
	public := ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey)
	text, err := note.NewEd25519VerifierKey(signer.Name(), public)
	if err != nil {
		return nil, bad
	}
	v, err := newVerifier(path, text)
	if err != nil {
		return nil, err
	}
	return &Key{Verifier: v, signer: signer}, nil
}

// makeKey writes a new key, never over another, and answers the one that is there in the end.
func makeKey(path string) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if _, err := os.Stat(verifierPath(path)); err == nil {
		// Unless it was made this moment, somebody has taken the key away.
		secret, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fault.New(fault.NotFound, "the signing key %s is missing, but its verifier is there", path).
				Remedy("put it back from a copy of the home; without it this home can be read and verified, but nothing more can be carried out in it: begin another with --home")
		}
		return secret, err
	}
	secret, _, err := note.GenerateKey(rand.Reader, keyName)
	if err != nil {
		return nil, err
	}
	if err := createFile(path, []byte(secret+"\n")); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// matchVerifier makes the verifier beside the key, or refuses a key that is not the one it verifies.
func (k *Key) matchVerifier() error {
	there, err := LoadVerifier(k.path)
	if fault.Is(err, fault.NotFound) {
		return keyFault(replaceFile(verifierPath(k.path), []byte(k.text+"\n"), 0o644), verifierPath(k.path))
	}
	if err != nil {
		return err
	}
	if there.text != k.text {
		return fault.New(fault.Conflict, "the key %s is not the one that %s verifies", k.path, verifierPath(k.path)).
			Remedy("put back the key that belongs to this home")
	}
	return nil
}

func keyFault(err error, path string) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return fault.Wrap(fault.Invalid, err, "use the key %s", path).
		Remedy("make %s readable and writable for you", filepath.Dir(path))
}
