package view

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 1500 * time.Microsecond: "1ms", 999 * time.Millisecond: "999ms", time.Second: "1s",
		1449 * time.Millisecond: "1.4s", 9999 * time.Millisecond: "9.9s", 10 * time.Second: "10s", 59900 * time.Millisecond: "59s",
		time.Minute: "1m", 123 * time.Second: "2m3s", time.Hour: "1h", 5*time.Hour + 7*time.Minute + 59*time.Second: "5h7m",
		76 * time.Hour: "3d4h", 48 * time.Hour: "2d",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v is shown as %s, want %s", d, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 912: "912 B", 1023: "1023 B", 1024: "1 KiB", 1434: "1.4 KiB", 10 << 10: "10 KiB",
		1<<20 - 1: "1 MiB", 20 << 20: "20 MiB", 3 << 30: "3 GiB", 5 << 40: "5 TiB", 1 << 50: "1 PiB"} {
		if got := Size(n); got != want {
			t.Errorf("%d is shown as %s, want %s", n, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		if got := number(n); got != want {
			t.Errorf("%d is shown as %s, want %s", n, got, want)
		}
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "한글": 4, "e\u0301": 1, "漢字": 4, "🔎": 2, "ｗ": 2, "✓": 1, "\u1112\u1161\u11ab": 2,
		"❤\ufe0f": 2, "👩‍💻": 4, "▰▱◦▸»⧖↷∅↶⊘✗⠋": 12} {
		if got := width(s); got != want {
			t.Errorf("%q is %d cells wide, want %d", s, got, want)
		}
	}
	for _, l := range looks {
		if width(l.glyph) != 1 || width(l.ascii) != 1 || l.ascii[0] > '~' {
			t.Errorf("glyph %q or %q", l.glyph, l.ascii)
		}
	}
}

func TestTheTableOfWideCharactersIsInOrder(t *testing.T) {
	for i, r := range wide {
		if r[0] > r[1] || i > 0 && r[0] <= wide[i-1][1] {
			t.Errorf("range %x", r)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s     string
		cells int
		want  string
	}{{"abcdef", 6, "abcdef"}, {"abcdefg", 6, "abc..."}, {"ab cdefg", 6, "ab..."}, {"한글입니다", 7, "한글..."}, {"한글입니다", 6, "한..."},
		{"한글", 1, ""}, {"abc", 2, "ab"}, {"abc", 0, ""}, {"abc", -3, ""}} {
		if got := cut(c.s, c.cells); got != c.want {
			t.Errorf("%q in %d cells is %q, want %q", c.s, c.cells, got, c.want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		s, n := plain(rapid.String().Draw(rt, "s")), rapid.IntRange(0, 30).Draw(rt, "cells")
		if got := cut(s, n); width(got) > n {
			rt.Fatalf("%q in %d cells is %q", s, n, got)
		}
	})
}

func TestPlain(t *testing.T) {
	for s, want := range map[string]string{"a\nb": "a b", "\x1b[31mred\x07": "[31mred", "a\r\nb": "a b", "\xffa": "\uFFFDa", "a\u202eb": "a b",
		"한글": "한글", "\u0085x": "x"} {
		if got := plain(s); got != want {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
	}
	if got := plain(" kept "); got != " kept " {
		t.Errorf("%q", got)
	}
}

func TestShort(t *testing.T) {
	for raw, want := range map[string]string{`"A"`: `"A"`, `212`: `212`, `"a\nb"`: `"a b"`, `{"a":1,"b":2}`: `{"a":1,...`, `"abcdefghijkl"`: `"abcde..."`,
		`"broken`: `"broken`} {
		if got := short(json.RawMessage(raw), 10); got != want {
			t.Errorf("%s becomes %s, want %s", raw, got, want)
		}
	}
}

func TestFew(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "a", 2: "a and b", 3: "a, b and c", 4: "a, b, c and 1 more"} {
		if got := few(strings.Split("abcd", "")[:n], 3); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestWho(t *testing.T) {
	for actor, want := range map[string]string{"engine": "engine", "person:ann": "ann", "agent:bot": "agent bot", "person:": "person:",
		"person:a\x1bb": "a b"} {
		if got := who(actor); got != want {
			t.Errorf("%s is %s, want %s", actor, got, want)
		}
	}
}
