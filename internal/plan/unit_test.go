package plan

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "10m": 10 * time.Minute, "2h30m": 150 * time.Minute, "3d": 72 * time.Hour,
		"1w": 168 * time.Hour, "1w2d3h": 219 * time.Hour, "5 m": 5 * time.Minute, "0s": 0, "250ms": 250 * time.Millisecond,
	} {
		d, err := ParseDuration(text)
		if err != nil || d.D() != want {
			t.Errorf("%q is %v, %v; want %v", text, d, err, want)
		}
		if again, err := ParseDuration(d.String()); err != nil || again != d {
			t.Errorf("%q is written %q, which reads as %v, %v", text, d, again, err)
		}
	}
	for _, text := range []string{"", "soon", "-5m", "5", "5x", "d", "9999w", "4000w2000000h", "9999999h", "3d2w"} {
		if d, err := ParseDuration(text); err == nil {
			t.Errorf("%q passes as %v", text, d)
		}
	}
}

func TestBackoff(t *testing.T) {
	for _, text := range []string{"2s", "2s..30s", "1m..1h"} {
		if b, err := ParseBackoff(text); err != nil || b.String() != text {
			t.Errorf("%q is written %q, %v", text, b, err)
		}
	}
	for _, text := range []string{"", "30s..2s", "x..2s", "2s..x"} {
		if b, err := ParseBackoff(text); err == nil {
			t.Errorf("%q passes as %v", text, b)
		}
	}
}

func TestMoney(t *testing.T) {
	for text, want := range map[string]string{"5 USD": "5 USD", "USD 5": "5 USD", "0.25 EUR": "0.25 EUR", "0 USD": "0 USD", "1.500000 CHF": "1.5 CHF"} {
		if m, err := ParseMoney(text); err != nil || m.String() != want {
			t.Errorf("%q is %v, %v; want %s", text, m, err, want)
		}
	}
	for _, text := range []string{"", "5", "$5", "5 usd", "-5 USD", "+5 USD", ". USD", ".5 USD", "1.2345678 USD", "5 USD now", "9999999999999999 USD"} {
		if m, err := ParseMoney(text); err == nil {
			t.Errorf("%q passes as %v", text, m)
		}
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]int64{"50MB": 50e6, "4 KiB": 4096, "100": 100, "1.5kB": 1500, "2TiB": 2 << 40} {
		if n, err := ParseSize(text); err != nil || n != want {
			t.Errorf("%q is %d, %v; want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "MB", "-1B", "0.5B", "50mb", "1e30"} {
		if n, err := ParseSize(text); err == nil {
			t.Errorf("%q passes as %d", text, n)
		}
	}
}

// TestPlainJSON is what a view gets that embeds parts of a plan: the same words as the canonical form.
func TestPlainJSON(t *testing.T) {
	task := Task{ID: "a", Timeout: Duration(time.Minute), Retry: &Retry{Times: 2, Backoff: Backoff{Duration(time.Second), Duration(time.Minute)}},
		Budget:  &Budget{Cost: Money{250_000, "EUR"}},
		Expect:  []Criterion{{Says: "exit == 0"}, {"fine", true}},
		Outputs: Outputs{{Name: "n", Type: "number"}, {Name: "o"}}}
	got, err := json.Marshal(task)
	want := `{"id":"a","expect":["exit == 0",{"judge":"fine"}],"outputs":{"n":{"type":"number"},"o":{}},"budget":{"cost":"0.25 EUR"},"timeout":"1m","retry":{"times":2,"backoff":"1s..1m"}}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestReads(t *testing.T) {
	task := Task{Run: "echo ${a.x} ${HOME}", Each: "${b/c.list}", With: json.RawMessage(`{"x":"${a.y} ${inputs.q} ${item}"}`)}
	if got := task.Reads(); !slices.Equal(got, []string{"a", "b/c"}) {
		t.Errorf("got %v", got)
	}
}
