package audit_test

import (
	"os"
	"testing"

	"github.com/cairn-plan/cairn/internal/audit"
)

// Whatever a stranger is handed, checking it ends, and only what was signed is sound.
func FuzzCheck(f *testing.F) {
	whole, err := os.ReadFile("testdata/v1-release.receipt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte("cairn proof v1\n\n== how 1\ncheck it with: cairn audit verify FILE --key KEY\n\n== older 0\n\n== hashes 0\n\n== keys 0\n\n== signer 0\n\n== head 0\n"))
	f.Add([]byte("cairn proof v1\n\n== how 1\ncheck it with: cairn audit verify FILE --key KEY\n\n== plan 1\nx\n\n== records 0\n\n== positions 1\n1-9\n\n== hashes 1\nx\n"))
	key, err := os.ReadFile("testdata/v1-release.pub")
	if err != nil {
		f.Fatal(err)
	}
	trust, err := audit.ParseTrust(string(key))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		c, err := audit.Check(file, trust)
		if err == nil && c.Sound() && c.Of == audit.OfReceipt && string(file) != string(whole) {
			t.Errorf("another receipt is sound under the same key:\n%s", file)
		}
	})
}
