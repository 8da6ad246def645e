package risk_test

import (
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/risk"
)

func TestPrograms(t *testing.T) {
	for text, want := range map[string]string{
		"go test ./...":                             "go",
		"cd x && make -j4 | tee log; make":          "make tee",
		"A=1 B=$(git rev-parse HEAD) go build":      "git go",
		"if grep -q x f; then ./run; fi":            "grep ./run",
		"echo 'curl x'; # curl y":                   "",
		"for f in *; do gzip $f; done":              "gzip",
		"$TOOL x; \"$A/b\" y":                       "",
		"work() { sort f; }; work":                  "sort",
		"while read l; do awk 1; done < <(find .)":  "awk find",
		"case $x in a) sed p ;; esac; /usr/bin/env": "sed /usr/bin/env",
		"cat <<E\ncurl in a text\nE\ndate":          "cat date",
		"":                                          "",
	} {
		if got := strings.Join(risk.Programs(text), " "); got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}
