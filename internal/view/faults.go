package view

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/cairn-plan/cairn/internal/plan"
)

// Faults writes what is wrong with plan files, each with its place, what to do, and the line itself where its source
// is given by file name; then how many there are.
func Faults(w io.Writer, fs plan.Faults, color bool, sources map[string][]byte) error {
	lines := map[string][][]byte{}
	for file, src := range sources {
		lines[file] = bytes.Split(src, []byte("\n"))
	}
	var b strings.Builder
	for _, f := range fs {
		hue := red
		if f.Severity == plan.Warning {
			hue = magenta
		}
		place := fmt.Sprintf("%d:%d: ", f.Line, f.Col)
		if f.File != "" {
			place = plain(f.File) + ":" + place
		}
		b.WriteString(paint([]piece{{place, bold}, {string(f.Severity) + " " + f.Code, hue}, {": " + plain(f.Msg), none}}, 0, color) + "\n")
		if src := lines[f.File]; f.Line >= 1 && f.Line <= len(src) {
			b.WriteString(excerpt(string(src[f.Line-1]), f.Col, hue, color))
		}
		if f.Remedy != "" {
			b.WriteString("    " + plain(f.Remedy) + "\n")
		}
	}
	if n := len(fs.Errors()); len(fs) > 1 {
		b.WriteString(tally(n, len(fs)-n) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func tally(errors, warnings int) string {
	var out []string
	if errors > 0 {
		out = append(out, plural(errors, "error"))
	}
	if warnings > 0 {
		out = append(out, plural(warnings, "warning"))
	}
	return strings.Join(out, ", ")
}

// maxExcerpt is how many cells of a source line are shown.
const maxExcerpt = 100

// excerpt is a line of source with a caret under a column, which counts characters from 1.
func excerpt(line string, col int, hue string, color bool) string {
	line = strings.ToValidUTF8(strings.TrimRight(line, "\r\n "), "\uFFFD")
	runes := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return ' '
		}
		return r
	}, line))
	at := min(max(col, 1)-1, len(runes))
	from := 0
	if width(string(runes[:at])) > maxExcerpt-20 { // keep the place in sight
		from = at - min(at, 30)
	}
	before := string(runes[from:at])
	shown := cut(plain(before+string(runes[at:])), maxExcerpt)
	// plain drops white space at the ends; what stands before the caret counts as it was.
	shown = strings.Repeat(" ", len(before)-len(strings.TrimLeft(before, " "))) + strings.TrimLeft(shown, " ")
	return "    " + shown + "\n    " + strings.Repeat(" ", width(before)) + paint([]piece{{"^", hue}}, 0, color) + "\n"
}
