package fault_test

import (
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
)

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{"qery": "query", "query": "", "zzz": "", "exc": "exec", "uqery": "query", "colour": "", "": "",
		strings.Repeat("q", 70): ""} {
		if got := fault.Nearest(name, []string{"query", "exec", "loud"}); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
