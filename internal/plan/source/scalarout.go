package source

import (
	"fmt"
	"strings"
	"unicode"
)

// yamlScalar writes a scalar so that it reads back the same, as plainly as that allows.
func yamlScalar(n Node, flow bool) string {
	switch {
	case n.Kind == Null:
		return "null"
	case n.Kind != String:
		return n.Text
	case plainFits(n.Text, flow):
		return n.Text
	case strings.ContainsAny(n.Text, `"\`) && printable(n.Text):
		return "'" + strings.ReplaceAll(n.Text, "'", "''") + "'"
	}
	return doubleQuoted(n.Text)
}

// plainFits reports whether a text can stand without quotes. It is stricter than YAML: what older
// readers take for something else (yes, 012, 1:30) is quoted too.
func plainFits(s string, flow bool) bool {
	if s == "" || !printable(s) || strings.TrimSpace(s) != s || strings.HasPrefix(s, "...") {
		return false
	}
	if strings.IndexByte("-?:,[]{}#&*!|>'\"%@`=~<", s[0]) >= 0 || strings.HasSuffix(s, ":") {
		return false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") || flow && strings.ContainsAny(s, ",[]{}?:") {
		return false
	}
	if kind, _ := plain(s); kind != String {
		return false
	}
	switch strings.ToLower(s) {
	case "yes", "no", "on", "off", "y", "n":
		return false
	}
	// Older readers know 0b11, 1_000 and 1:30 as numbers.
	return s[0] > '9' || s[0] < '0' || strings.Trim(s, "0123456789_.:+eExXoObB") != ""
}

func printable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

func doubleQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// literal reports whether a text can be a block of lines under |, and with which mark.
func literal(s string) (mark string, ok bool) {
	body, ended := strings.CutSuffix(s, "\n")
	if !strings.Contains(s, "\n") || body == "" || strings.HasSuffix(body, "\n") {
		return "", false
	}
	for i, line := range strings.Split(body, "\n") {
		if line != "" && strings.TrimSpace(line) == "" || strings.HasPrefix(line, "\t") || !printable(strings.ReplaceAll(line, "\t", "")) {
			return "", false
		}
		if i == 0 && (line == "" || line[0] == ' ') {
			return "", false
		}
	}
	if ended {
		return "|", true
	}
	return "|-", true
}
