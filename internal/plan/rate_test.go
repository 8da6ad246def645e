package plan

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRates(t *testing.T) {
	for text, want := range map[string]Rate{"2/s": {2, time.Second}, "10/min": {10, time.Minute}, "100 / h": {100, time.Hour}, "1000000/day": {1e6, 24 * time.Hour}} {
		r, err := ParseRate(text)
		if err != nil || r != want {
			t.Errorf("%s is read as %+v (%v)", text, r, err)
		}
		if again, err := ParseRate(r.String()); err != nil || again != r {
			t.Errorf("%s is written %s", text, r)
		}
	}
	for _, text := range []string{"", "/", "1", "1/", "/s", "0/s", "-1/s", "1.5/s", "1/m", "1/week", "1000001/s", "1/s/s"} {
		if r, err := ParseRate(text); err == nil {
			t.Errorf("%q is read as %s", text, r)
		}
	}
}

func TestLimitsAreFoundByWhatIsReached(t *testing.T) {
	p, faults := Read("p.yaml", []byte("plan: p\npolicy: {limits: {api.example.com: 10/min, '*.example.com': 2/s, shell: 100/h, 'http.*': 5/s, '*': 1000/day}}\ntasks: [{id: a}]\n"), Options{})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ names, hosts, want string }{
		{"shell", "*", "* shell"},
		{"http.request", "API.example.com", "* *.example.com api.example.com http.*"},
		{"http.get", "www.example.com", "* *.example.com http.*"},
		{"http.get", "example.com", "* http.*"},
		{"noop tools/a.yaml", "", "*"},
	} {
		var got []string
		for _, l := range p.Policy.LimitsFor(strings.Fields(c.names), strings.Fields(c.hosts)) {
			got = append(got, l.To)
		}
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s to %s: %v", c.names, c.hosts, got)
		}
	}
	if l := (*Policy)(nil).LimitsFor([]string{"shell"}, nil); l != nil {
		t.Errorf("no policy limits by %v", l)
	}
	b, err := p.Encode()
	if err != nil || !strings.Contains(string(b), `"shell":"100/h"`) {
		t.Fatalf("%s (%v)", b, err)
	}
	again, err := Decode(b)
	if err != nil || again.Policy.Limits["*.example.com"] != (Rate{2, time.Second}) {
		t.Errorf("%+v (%v)", again.Policy, err)
	}
}
