package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a span of time written as people write it: 90s, 10m, 2h30m, 3d, 1w.
type Duration time.Duration

// ParseDuration reads a duration; days are 24 hours and weeks seven days.
func ParseDuration(s string) (Duration, error) {
	text := strings.ReplaceAll(strings.TrimSpace(s), " ", "")
	var days time.Duration
	for _, u := range []struct {
		suffix string
		is     time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		head, rest, found := strings.Cut(text, u.suffix)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(head, 10, 12) // 4,095 weeks fit with room to spare
		if err != nil {
			return 0, fmt.Errorf("%q is no duration", s)
		}
		days, text = days+time.Duration(n)*u.is, rest
	}
	if text == "" && days > 0 {
		return Duration(days), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d+days < 0 {
		return 0, fmt.Errorf("%q is no duration", s)
	}
	return Duration(d + days), nil
}

// D is the duration as the standard library has it.
func (d Duration) D() time.Duration { return time.Duration(d) }

func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Backoff is the wait before a retry, from Min and doubling up to Max: "2s..30s", or one figure.
type Backoff struct{ Min, Max Duration }

// ParseBackoff reads "2s..30s" or "2s".
func ParseBackoff(s string) (Backoff, error) {
	lo, hi, ranged := strings.Cut(s, "..")
	if !ranged {
		hi = lo
	}
	least, err := ParseDuration(lo)
	if err != nil {
		return Backoff{}, err
	}
	most, err := ParseDuration(hi)
	if err != nil {
		return Backoff{}, err
	}
	if most < least {
		return Backoff{}, fmt.Errorf("%q ends before it begins", s)
	}
	return Backoff{least, most}, nil
}

func (b Backoff) String() string {
	if b.Min == b.Max {
		return b.Min.String()
	}
	return b.Min.String() + ".." + b.Max.String()
}

// MarshalText implements encoding.TextMarshaler.
func (b Backoff) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// Money is an amount in micro-units of a currency: exact, and small enough for JSON's integers.
type Money struct {
	Micro    int64
	Currency string
}

// ParseMoney reads "5 USD", "USD 5", "0.25 EUR".
func ParseMoney(s string) (Money, error) {
	f := strings.Fields(s)
	if len(f) == 2 && isCurrency(f[0]) {
		f[0], f[1] = f[1], f[0]
	}
	if len(f) != 2 || !isCurrency(f[1]) {
		return Money{}, fmt.Errorf("%q is no amount of money", s)
	}
	whole, frac, _ := strings.Cut(f[0], ".")
	if whole == "" || strings.Trim(whole+frac, "0123456789") != "" {
		return Money{}, fmt.Errorf("%q is no amount of money", s)
	}
	if len(frac) > 6 {
		return Money{}, fmt.Errorf("%q has more than six decimals", s)
	}
	n, err := strconv.ParseInt(whole+(frac + "000000")[:6], 10, 64)
	if err != nil || n > 1<<53 {
		return Money{}, fmt.Errorf("%q is no amount of money", s)
	}
	return Money{n, f[1]}, nil
}

func isCurrency(s string) bool {
	return len(s) == 3 && strings.ToUpper(s) == s && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func (m Money) String() string {
	s := strconv.FormatInt(m.Micro/1e6, 10)
	if frac := m.Micro % 1e6; frac != 0 {
		s += "." + strings.TrimRight(fmt.Sprintf("%06d", frac), "0")
	}
	return s + " " + m.Currency
}

// MarshalText implements encoding.TextMarshaler.
func (m Money) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// sizeUnits in the order in which a suffix is looked for.
var sizeUnits = []struct {
	suffix string
	bytes  float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"KB", 1e3}, {"kB", 1e3}, {"MB", 1e6},
	{"GB", 1e9}, {"TB", 1e12}, {"B", 1}}

// ParseSize reads a number of bytes: 50MB, 4 KiB, 100.
func ParseSize(s string) (int64, error) {
	text, unit := strings.TrimSpace(s), 1.0
	for _, u := range sizeUnits {
		if head, ok := strings.CutSuffix(text, u.suffix); ok {
			text, unit = strings.TrimSpace(head), u.bytes
			break
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if n := f * unit; err == nil && f >= 0 && n < 1<<53 && n == math.Trunc(n) {
		return int64(n), nil
	}
	return 0, fmt.Errorf("%q is no size", s)
}
