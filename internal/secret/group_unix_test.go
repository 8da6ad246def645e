//go:build unix

package secret_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/secret"
)

// A child that keeps the pipe open must not keep us, and must not outlive its time.
func TestChildrenOfACommandEndWithIt(t *testing.T) {
	for name, c := range map[string]struct {
		source secret.Source
		want   string
	}{
		"left":  {secret.Source{Command: []string{"/bin/sh", "-c", `(exec 3>"$FIFO"; sleep 300) & exec 3>"$FIFO"; echo left-behind`}}, "left-behind"},
		"stuck": {secret.Source{Command: []string{"/bin/sh", "-c", `(exec 3>"$FIFO"; sleep 300) & wait`}, Timeout: "200ms"}, ""},
	} {
		fifo := filepath.Join(t.TempDir(), "fifo")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			f, err := os.Open(fifo)
			if err == nil {
				defer f.Close()
				_, err = io.ReadAll(f) // to the end: when nobody holds it any more
			}
			ended <- err
		}()
		s := open(t, secret.Config{"A": c.source}, secret.Options{Environ: []string{"PATH=/usr/bin:/bin", "FIFO=" + fifo}})
		got, err := s.Value(t.Context(), "A")
		if got != c.want || (err != nil) != (c.want == "") {
			t.Error(name, got, err)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s: a child outlived its command", name)
		}
	}
}

func TestCommandEndedByASignal(t *testing.T) {
	s := open(t, secret.Config{"A": {Command: []string{"/bin/sh", "-c", "kill -9 $$"}}}, secret.Options{})
	if _, err := s.Value(t.Context(), "A"); !fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), "by a signal") {
		t.Error(err)
	}
}
