package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Duration is a span of time at a glance: 120ms, 1.4s, 2m3s, 5h7m, 3d4h.
func Duration(d time.Duration) string {
	switch {
	case d <= 0:
		return "0s"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < 10*time.Second:
		return strings.Replace(fmt.Sprintf("%.1fs", float64(d/(100*time.Millisecond))/10), ".0s", "s", 1)
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return pair(int(d.Minutes()), "m", int(d.Seconds())%60, "s")
	case d < 24*time.Hour:
		return pair(int(d.Hours()), "h", int(d.Minutes())%60, "m")
	}
	return pair(int(d.Hours())/24, "d", int(d.Hours())%24, "h")
}

func pair(a int, unitA string, b int, unitB string) string {
	if b == 0 {
		return strconv.Itoa(a) + unitA
	}
	return strconv.Itoa(a) + unitA + strconv.Itoa(b) + unitB
}

// Size is a number of bytes at a glance: 912 B, 1.4 KiB, 20 MiB.
func Size(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	f, unit := float64(n)/1024, "KiB"
	for _, u := range []string{"MiB", "GiB", "TiB", "PiB"} {
		if f < 1023.5 {
			break
		}
		f, unit = f/1024, u
	}
	if f < 9.95 {
		return strings.Replace(fmt.Sprintf("%.1f", f), ".0", "", 1) + " " + unit
	}
	return fmt.Sprintf("%.0f ", f) + unit
}

// Time is a time of day, in the zone that t carries: 14:05:09.
func Time(t time.Time) string { return t.Format("15:04:05") }

// Date is a day and a time: 2026-01-02 14:05:09.
func Date(t time.Time) string { return t.Format("2006-01-02 15:04:05") }

// number writes a count with its thousands apart.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
