package audit

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Origin is the first line of every checkpoint: what is signed, and in which form.
const Origin = "cairn journal v1"

// Checkpoint is what a head says. Its text, which is signed as a note, is four lines:
//
//	cairn journal v1
//	<number of entries, decimal>
//	<root of the Merkle tree over them, base64>
//	<time of the signature, RFC 3339 with nanoseconds, UTC>
type Checkpoint struct {
	Size uint64
	Root tlog.Hash
	Time time.Time
}

// Text is the signed text.
func (c Checkpoint) Text() string {
	return Origin + "\n" + strconv.FormatUint(c.Size, 10) + "\n" + base64.StdEncoding.EncodeToString(c.Root[:]) + "\n" +
		c.Time.UTC().Format(time.RFC3339Nano) + "\n"
}

// parseCheckpoint accepts exactly what Text writes.
func parseCheckpoint(text string) (Checkpoint, bool) {
	lines := strings.Split(text, "\n")
	if len(lines) != 5 {
		return Checkpoint{}, false
	}
	size, err1 := strconv.ParseUint(lines[1], 10, 63)
	root, err2 := tlog.ParseHash(lines[2])
	at, err3 := time.Parse(time.RFC3339Nano, lines[3])
	c := Checkpoint{Size: size, Root: root, Time: at}
	return c, err1 == nil && err2 == nil && err3 == nil && c.Text() == text
}

// Sign makes a head of the checkpoint.
func (k *Key) Sign(c Checkpoint) (Head, error) {
	msg, err := note.Sign(&note.Note{Text: c.Text()}, k.signer)
	if err != nil {
		return Head{}, fault.Wrap(fault.Internal, err, "sign a head")
	}
	return Head{Size: c.Size, Note: msg}, nil
}

// oneSpelling reports whether msg is n as Sign writes it. The note form itself leaves room: other
// signatures beside ours, and spare bits in base64.
func oneSpelling(msg []byte, n *note.Note) bool {
	if len(n.Sigs) != 1 || len(n.UnverifiedSigs) != 0 {
		return false
	}
	sig := n.Sigs[0]
	_, err := base64.StdEncoding.Strict().DecodeString(sig.Base64)
	return err == nil && string(msg) == n.Text+"\n— "+sig.Name+" "+sig.Base64+"\n"
}
