package view

import (
	"strings"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// Colours are of the sixteen that every terminal lets its user choose, and of those the ones that are read well both
// on dark and on light: no yellow, no blue, no white. A glyph or a word always says the same again.
const (
	none    = ""
	dim     = "2"
	green   = "32"
	red     = "31"
	boldRed = "1;31"
	cyan    = "36"
	magenta = "35"
	bold    = "1"
)

// look is how a status is drawn. Glyphs are taken from those that no terminal draws two cells wide.
type look struct{ glyph, ascii, color string }

var looks = map[lifecycle.Status]look{
	lifecycle.Pending:    {"◦", ".", dim},
	lifecycle.Ready:      {"▸", ">", none},
	lifecycle.Running:    {"»", "*", cyan},
	lifecycle.Waiting:    {"⧖", "~", none},
	lifecycle.Completed:  {"✓", "+", green},
	lifecycle.FailedTask: {"✗", "x", boldRed},
	lifecycle.Skipped:    {"↷", "-", dim},
	lifecycle.Abandoned:  {"∅", "#", dim},
	lifecycle.RolledBack: {"↶", "<", dim},
	Blocked:              {"⊘", "!", red},
}

// asks is how a task is drawn that waits for a person.
var asks = look{"?", "?", magenta}

var spinner = [2][]string{{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}, {"|", "/", "-", "\\"}}

// lookOf is how a task is drawn; frame turns the spinner, and below zero there is none.
func lookOf(t lifecycle.Task, ascii bool, frame int) (glyph, color string) {
	l := looks[shown(t)]
	if t.Wait.NeedsPerson() {
		l = asks
	}
	glyph = l.glyph
	if ascii {
		glyph = l.ascii
	}
	if t.Status == lifecycle.Running && frame >= 0 {
		frames := spinner[0]
		if ascii {
			frames = spinner[1]
		}
		glyph = frames[frame%len(frames)]
	}
	return glyph, l.color
}

// piece is a stretch of one colour in a line.
type piece struct{ text, color string }

// paint joins pieces to a line of at most so many cells; 0 is no limit. Nothing trails it.
func paint(pieces []piece, cells int, color bool) string {
	if cells > 0 {
		pieces = fit(pieces, cells)
	}
	for len(pieces) > 0 {
		last := &pieces[len(pieces)-1]
		if last.text = strings.TrimRight(last.text, " "); last.text != "" {
			break
		}
		pieces = pieces[:len(pieces)-1]
	}
	var b strings.Builder
	for _, p := range pieces {
		if color && p.color != none && p.text != "" {
			b.WriteString("\x1b[" + p.color + "m" + p.text + "\x1b[0m")
			continue
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// scant is too little room to begin another piece in, once a line has its glyph and its name.
const scant = 5

// fit cuts the piece that goes beyond the cells, and drops what follows.
func fit(pieces []piece, cells int) []piece {
	for i := range pieces {
		n := width(pieces[i].text)
		if n > cells && i > 2 && cells < scant {
			return pieces[:i]
		}
		if n > cells {
			pieces[i].text = cut(pieces[i].text, cells)
			return pieces[:i+1]
		}
		cells -= n
	}
	return pieces
}

// bar draws progress in so many cells.
func bar(done, total, cells int, ascii bool) string {
	full, rest := "▰", "▱"
	if ascii {
		full, rest = "#", "."
	}
	n := 0
	if total > 0 {
		n = done * cells / total
	}
	return strings.Repeat(full, n) + strings.Repeat(rest, cells-n)
}
