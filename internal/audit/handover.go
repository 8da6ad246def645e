package audit

import (
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Handover is the statement by which a key names its successor: heads up to Size are the old key's, all
// later ones the new key's. Its text, which the old key signs as a note, is seven lines:
//
//	cairn key v1
//	<number of entries that the old key answers for, decimal>
//	<root of the tree over them, base64>
//	<time, RFC 3339 with nanoseconds, UTC>
//	<verifier of the old key>
//	<verifier of the new key>
//	<why>
type Handover struct {
	Size uint64
	Root tlog.Hash
	Time time.Time
	Old  string
	New  string
	Why  string

	note string
}

const (
	handoverTitle = "cairn key v1"
	handoverLines = 9 // seven, an empty one and the signature
)

func (h Handover) text() string {
	return strings.Join([]string{handoverTitle, strconv.FormatUint(h.Size, 10), base64.StdEncoding.EncodeToString(h.Root[:]),
		h.Time.UTC().Format(time.RFC3339Nano), h.Old, h.New, h.Why}, "\n") + "\n"
}

// chain is all handovers of a home, in order.
type chain []Handover

// chainPath is where the handovers of a key are kept, one after the other.
func chainPath(keyPath string) string { return keyPath + ".chain" }

func (c chain) text() string {
	var b strings.Builder
	for _, h := range c {
		b.WriteString(h.note)
	}
	return b.String()
}

func (c chain) lines() []string {
	if len(c) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(c.text(), "\n"), "\n")
}

// last is the verifier of the key that the chain leads to, none when nothing was handed over.
func (c chain) last() string {
	if len(c) == 0 {
		return ""
	}
	return c[len(c)-1].New
}

// parseChain reads handovers and checks each of them: its signature, that it goes on where the one before ended, and
// that no key is handed entries that another answers for.
func parseChain(lines []string) (c chain, ok bool) {
	for len(lines) >= handoverLines {
		h, ok := parseHandover(strings.Join(lines[:handoverLines], "\n") + "\n")
		if !ok || len(c) > 0 && (c.last() != h.Old || h.Size < c[len(c)-1].Size) {
			return nil, false
		}
		c = append(c, h)
		lines = lines[handoverLines:]
	}
	return c, len(lines) == 0
}

func parseHandover(msg string) (h Handover, ok bool) {
	lines := strings.Split(msg, "\n")
	size, err1 := strconv.ParseUint(lines[1], 10, 63)
	root, err2 := tlog.ParseHash(lines[2])
	at, err3 := time.Parse(time.RFC3339Nano, lines[3])
	h = Handover{Size: size, Root: root, Time: at, Old: lines[4], New: lines[5], Why: lines[6], note: msg}
	if errors.Join(err1, err2, err3) != nil || h.Old == h.New {
		return h, false
	}
	old, err := note.NewVerifier(h.Old)
	if err != nil {
		return h, false
	}
	if _, err := note.NewVerifier(h.New); err != nil {
		return h, false
	}
	n, err := note.Open([]byte(msg), note.VerifierList(old))
	return h, err == nil && n.Text == h.text() && oneSpelling([]byte(msg), n)
}

// readChain reads the handovers beside a key; there are none when there is no such file.
func readChain(keyPath string) (chain, error) {
	path := chainPath(keyPath)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, keyFault(err, path)
	}
	c, ok := parseChain(strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"))
	if !ok {
		return nil, fault.New(fault.Tampered, "%s does not lead from key to key: it was altered or cut", path).
			Remedy("put it back from a copy of the home")
	}
	return c, nil
}

// handOver signs a statement that next follows k.
func (k *Key) handOver(next string, at Checkpoint, why string) (Handover, error) {
	h := Handover{Size: at.Size, Root: at.Root, Time: at.Time.UTC(), Old: k.text, New: next, Why: why}
	msg, err := note.Sign(&note.Note{Text: h.text()}, k.signer)
	if err != nil {
		return h, fault.Wrap(fault.Internal, err, "sign a handover")
	}
	h.note = string(msg)
	return h, nil
}
