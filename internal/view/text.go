package view

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// wide lists the ranges that a terminal draws two cells wide: East Asian wide and full width, and emoji.
var wide = [][2]rune{{0x1100, 0x115F}, {0x231A, 0x231B}, {0x2329, 0x232A}, {0x23E9, 0x23EC}, {0x23F0, 0x23F0}, {0x23F3, 0x23F3},
	{0x25FD, 0x25FE}, {0x2614, 0x2615}, {0x2630, 0x2637}, {0x2648, 0x2653}, {0x267F, 0x267F}, {0x268A, 0x268F}, {0x2693, 0x2693},
	{0x26A1, 0x26A1}, {0x26AA, 0x26AB}, {0x26BD, 0x26BE}, {0x26C4, 0x26C5}, {0x26CE, 0x26CE}, {0x26D4, 0x26D4}, {0x26EA, 0x26EA},
	{0x26F2, 0x26F3}, {0x26F5, 0x26F5}, {0x26FA, 0x26FA}, {0x26FD, 0x26FD}, {0x2705, 0x2705}, {0x270A, 0x270B}, {0x2728, 0x2728},
	{0x274C, 0x274C}, {0x274E, 0x274E}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797}, {0x27B0, 0x27B0}, {0x27BF, 0x27BF},
	{0x2B1B, 0x2B1C}, {0x2B50, 0x2B50}, {0x2B55, 0x2B55}, {0x2E80, 0x303E}, {0x3041, 0x33FF}, {0x3400, 0x4DBF}, {0x4DC0, 0xA4CF},
	{0xA960, 0xA97C}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF}, {0xFE10, 0xFE19}, {0xFE30, 0xFE6F}, {0xFF01, 0xFF60}, {0xFFE0, 0xFFE6},
	{0x16FE0, 0x18CFF}, {0x1AFF0, 0x1B2FF}, {0x1D300, 0x1D376}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E},
	{0x1F191, 0x1F19A}, {0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA},
	{0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC},
	{0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E}, {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4},
	{0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC}, {0x1F6D0, 0x1F6DF}, {0x1F6EB, 0x1F6FF}, {0x1F7E0, 0x1F7FF},
	{0x1F90C, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}}

// runeWidth is how many cells a character takes. What a sequence joins to one picture counts in full: a terminal
// that cannot join draws it so, and a line must never be too long.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1 // plain leaves no control character
	case r == 0xFE0F:
		return 1 // turns the narrow character before it into an emoji
	case r >= 0x1160 && r <= 0x11FF, r >= 0xD7B0 && r <= 0xD7FF:
		return 0 // drawn into the syllable that a leading consonant began
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	for lo, hi := 0, len(wide); lo < hi; {
		switch mid := (lo + hi) / 2; {
		case r < wide[mid][0]:
			hi = mid
		case r > wide[mid][1]:
			lo = mid + 1
		default:
			return 2
		}
	}
	return 1
}

// width is how many cells a text takes that plain has seen.
func width(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			for _, r := range s[i:] {
				n += runeWidth(r)
			}
			return n
		}
		n++
	}
	return n
}

// plain makes a text one harmless line: control characters, and those that turn the direction of writing, become
// spaces, and what is not UTF-8 a mark.
func plain(s string) string {
	clean := utf8.ValidString(s)
	for i := 0; i < len(s) && clean; i++ {
		clean = s[i] >= ' ' && s[i] < 0x7F
	}
	if clean {
		return s
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r >= 0x2028 && r <= 0x202E || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD")))
}

// dots stands for what was cut off. They are ASCII because the one character for them is wide in some terminals.
const dots = "..."

// cut shortens a text that plain has seen to a number of cells.
func cut(s string, cells int) string {
	if width(s) <= cells {
		return s
	}
	mark := dots
	if cells < len(dots)+2 {
		mark = ""
	}
	n, room := 0, max(cells, 0)-len(mark)
	for i, r := range s {
		if n += runeWidth(r); n > room {
			return strings.TrimRight(s[:i], " ") + mark
		}
	}
	return s
}

// pad fills a text with spaces to a number of cells.
func pad(s string, cells int) string {
	if n := cells - width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}
