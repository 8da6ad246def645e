package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/cairn-plan/cairn/internal/fault"
)

// keyName is the signer's name in every note.
const keyName = "cairn-journal"

// Key signs heads and receipts. It is kept outside the database, so that whoever can change only the database
// cannot sign.
type Key struct {
	*Verifier
	signer note.Signer
	secret string // path of the secret half
}

// KeyPath is where a home keeps its key. The verifier lies beside it, with .pub added to the name, and the
// handovers from earlier keys, with .chain.
func KeyPath(home string) string { return filepath.Join(home, "keys", "journal.key") }

// Secret is where the secret half lies.
func (k *Key) Secret() string { return k.secret }

// LoadKey reads the key at path, and makes one, for its owner's eyes only, when there is neither a
// key nor a verifier. Of two processes that make one at once, one wins and both use it.
func LoadKey(path string) (*Key, error) {
	secret, err := readSecret(path)
	if errors.Is(err, fs.ErrNotExist) {
		secret, err = makeKey(path)
	}
	if err != nil {
		return nil, keyFault(err, path)
	}
	return openKey(path, path, secret)
}

// LoadKeyFrom reads a secret that is kept elsewhere; verifier and handovers lie at path all the same, so
// that the home can be verified without the secret. It makes no key.
func LoadKeyFrom(secretPath, path string) (*Key, error) {
	secret, err := readSecret(secretPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "the signing key %s is not there", secretPath).
			Remedy("put it there, or let CAIRN_KEY_FILE name another; one can be made with: openssl genpkey -algorithm ed25519 -out %s", secretPath)
	}
	if err != nil {
		return nil, keyFault(err, secretPath)
	}
	return openKey(secretPath, path, secret)
}

// readSecret reads a key that nobody but its owner can read.
func readSecret(path string) ([]byte, error) {
	secret, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	// Windows keeps rights elsewhere; there the folder of the home's owner is all there is.
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return nil, fault.New(fault.Invalid, "the signing key %s is open to others (mode %04o)", path, mode).
			Remedy("close it with: chmod 600 %s; if somebody may have read it, replace it then with: cairn audit key rotate --why TEXT", path)
	}
	return secret, nil
}

// openKey makes a key of its text and sees that it is the one that the home's verifier and handovers name.
func openKey(secretPath, path string, secret []byte) (*Key, error) {
	k, err := parseKey(secretPath, secret)
	if err != nil {
		return nil, err
	}
	k.path = path
	c, err := readChain(path)
	if err != nil {
		return nil, err
	}
	if len(c) > 0 && k.text == c[len(c)-1].Old {
		if k, err = finishHandover(k, c.last()); err != nil {
			return nil, err
		}
	}
	if err := k.matchVerifier(c); err != nil {
		return nil, err
	}
	k.Verifier, err = chained(path, k.text, c)
	return k, err
}

func parseKey(path string, secret []byte) (*Key, error) {
	bad := fault.New(fault.Invalid, "%s holds no signing key", path).
		Remedy("put the key of this home back from a copy")
	text := strings.TrimSpace(string(secret))
	if block, _ := pem.Decode(secret); block != nil {
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		private, ok := parsed.(ed25519.PrivateKey)
		if err != nil || !ok {
			return nil, bad.Remedy("it has to be an Ed25519 key, such as from: openssl genpkey -algorithm ed25519")
		}
		text = secretText(private.Seed())
	}
	signer, err := note.NewSigner(text)
	if err != nil {
		return nil, bad
	}
	// NewSigner has checked the form: the last part is the algorithm's byte and the seed.
	parts := strings.SplitN(text, "+", 5) // base64 may hold a + of its own
	seed, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(seed) != 1+ed25519.SeedSize || signer.Name() != keyName {
		return nil, bad
	}
	public, err := verifierText(seed[1:])
	if err != nil {
		return nil, bad
	}
	v, err := newVerifier(path, public)
	if err != nil {
		return nil, err
	}
	return &Key{Verifier: v, signer: signer, secret: path}, nil
}

// verifierText is the public half of the key that grows from a seed, in note form.
func verifierText(seed []byte) (string, error) {
	return note.NewEd25519VerifierKey(keyName, ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey))
}

// secretText is a key in note form.
func secretText(seed []byte) string {
	public, err := verifierText(seed)
	if err != nil {
		return ""
	}
	hash := strings.SplitN(public, "+", 3)[1]
	return fmt.Sprintf("PRIVATE+KEY+%s+%s+%s", keyName, hash, base64.StdEncoding.EncodeToString(append([]byte{1}, seed...)))
}

// makeKey writes a new key, never over another, and answers the one that is there in the end.
func makeKey(path string) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if _, err := os.Stat(verifierPath(path)); err == nil {
		// Unless it was made this moment, somebody has taken the key away.
		secret, err := readSecret(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fault.New(fault.NotFound, "the signing key %s is missing, but its verifier is there", path).
				Remedy("put it back from a copy of the home, or name it with CAIRN_KEY_FILE if it is kept elsewhere; without it this home can be read and verified, but nothing more can be carried out in it: begin another with --home")
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
func (k *Key) matchVerifier(c chain) error {
	there, err := readVerifier(k.path)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	switch {
	case len(c) > 0 && k.text != c.last():
		return k.stranger(chainPath(k.path))
	case err != nil, // it was never written
		len(c) > 0 && there != k.text && there == c[len(c)-1].Old: // a handover was cut off
		return k.writeVerifier()
	case there != k.text:
		return k.stranger(verifierPath(k.path))
	}
	return nil
}

func (k *Key) writeVerifier() error {
	err := os.MkdirAll(filepath.Dir(k.path), 0o700)
	if err == nil {
		err = replaceFile(verifierPath(k.path), []byte(k.text+"\n"), 0o644)
	}
	return keyFault(err, verifierPath(k.path))
}

func (k *Key) stranger(to string) error {
	return fault.New(fault.Conflict, "the key %s is not the one that %s verifies", k.secret, to).
		Remedy("put back the key that belongs to this home, or name it with CAIRN_KEY_FILE")
}

func keyFault(err error, path string) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return fault.Wrap(fault.Invalid, err, "use the key %s", path).
		Remedy("make %s readable and writable for you", filepath.Dir(path))
}
