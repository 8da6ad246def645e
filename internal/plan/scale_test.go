package plan

import (
	"fmt"
	"strings"
	"testing"
)

// TestShapes reads large plans of the shapes that make careless checks slow or deep.
func TestShapes(t *testing.T) {
	const n = 20_000
	shapes := map[string]func(i int) string{
		"chain":    func(i int) string { return fmt.Sprintf(`"needs":["t%d"]`, i-1) },
		"star":     func(int) string { return `"needs":["t0"]` },
		"backward": func(i int) string { return fmt.Sprintf(`"next":{"success":["t%d"]}`, (i+1)%n) },
		"far references": func(i int) string {
			return fmt.Sprintf(`"needs":["t%d"],"with":{"x":"${t%d.y}"}`, i-1, i/2)
		},
		"two back": func(i int) string {
			return fmt.Sprintf(`"needs":["t%d"],"with":{"x":"${t%d.y}"}`, i-1, max(i-2, 0))
		},
	}
	var needs, with []string
	for i := range n - 1 {
		needs = append(needs, fmt.Sprintf(`"t%d"`, i))
		with = append(with, fmt.Sprintf(`"x%d":"${t%d.y}"`, i, i))
	}
	shapes["join"] = func(i int) string {
		if i < n-1 {
			return `"kind":"design"`
		}
		return `"needs":[` + strings.Join(needs, ",") + `],"with":{` + strings.Join(with, ",") + "}"
	}
	for name, more := range shapes {
		p, faults := Read("p.json", []byte(shape(n, more)), Options{})
		if len(p.Tasks) != n {
			t.Errorf("%s: %d tasks", name, len(p.Tasks))
		}
		switch errs := faults.Errors(); {
		case name == "backward":
			// t0 has no route, so that the circle stays open: t1 -> ... -> t19999 -> t0.
			if len(errs) != 0 {
				t.Errorf("%s: %v", name, errs[0])
			}
		case len(errs) > 0:
			t.Errorf("%s: %v", name, errs[0])
		}
	}
}

func shape(n int, more func(i int) string) string {
	var b strings.Builder
	b.WriteString(`{"plan":"p","tasks":[{"id":"t0"}`)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, `,{"id":"t%d",%s}`, i, more(i))
	}
	b.WriteString("]}")
	return b.String()
}

// TestLargeFaults reads large plans that are wrong all over.
func TestLargeFaults(t *testing.T) {
	const n = 20_000
	for name, c := range map[string]struct {
		more func(i int) string
		code string
		want int
	}{
		"unknown needs": {func(i int) string { return fmt.Sprintf(`"needs":["u%d"]`, i) }, CodeUnknown, maxFaults},
		"one circle":    {func(i int) string { return fmt.Sprintf(`"needs":["t%d"]`, i%(n-1)+1) }, CodeCycle, 1},
		"circles of two": {func(i int) string {
			return fmt.Sprintf(`"needs":["t%d"]`, (i-1)^1+1)
		}, CodeCycle, maxFaults},
		"nothing in order": {func(i int) string { return fmt.Sprintf(`"with":{"x":"${t%d.y}"}`, i-1) }, CodeRef, maxFaults},
	} {
		_, faults := Read("p.json", []byte(shape(n-n%2+1, c.more)), Options{})
		found := 0
		for _, f := range faults {
			if f.Code == c.code {
				found++
			}
		}
		if found != c.want {
			t.Errorf("%s: %d of %s, want %d; %v", name, found, c.code, c.want, faults[:min(len(faults), 2)])
		}
		if len(faults[0].Msg) > 1000 {
			t.Errorf("%s: a message of %d bytes", name, len(faults[0].Msg))
		}
	}
}
