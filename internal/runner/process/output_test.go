//go:build unix

package process

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// On a machine so busy that nothing was read before the wait was over, nothing is lost either.
func TestNothingInThePipeIsLost(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer shut(r, w) // the writer stays: there is no end of file
	text := strings.Repeat("x", 50000) + "end"
	if _, err := w.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := r.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	var kept bytes.Buffer
	s := stream{from: r, sink: &kept, limit: 1 << 20, beat: func() {}}
	s.drain()
	if kept.String() != text || s.seen != int64(len(text)) {
		t.Errorf("%d of %d bytes", kept.Len(), len(text))
	}
}
