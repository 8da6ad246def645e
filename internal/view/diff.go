package view

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// FileChange is one file of a unified diff as git writes it.
type FileChange struct {
	Path    string `json:"path"`
	From    string `json:"from,omitempty"` // its name before, if it had another
	How     string `json:"how"`            // added, deleted, renamed or changed
	Added   int    `json:"added"`          // lines
	Removed int    `json:"removed"`
	Binary  bool   `json:"binary,omitempty"`
}

// hunk counts down the lines that belong to a hunk, so that a line of a file is never taken for a heading.
type hunk struct{ old, new int }

func (h *hunk) inside() bool { return h.old > 0 || h.new > 0 }

// begin reads @@ -a,b +c,d @@.
func (h *hunk) begin(line string) bool {
	words := strings.Fields(line)
	if len(words) < 3 || words[0] != "@@" {
		return false
	}
	h.old, h.new = extent(words[1]), extent(words[2])
	return true
}

func extent(s string) int {
	_, n, ok := strings.Cut(s, ",")
	if !ok {
		return 1
	}
	v, err := strconv.Atoi(n)
	if err != nil {
		return 0
	}
	return v
}

// take counts a line of the hunk: + and - as they are, all else on both sides.
func (h *hunk) take(line string) byte {
	c := byte(' ')
	if line != "" {
		c = line[0]
	}
	switch c {
	case '+':
		h.new--
	case '-':
		h.old--
	case '\\': // no newline at the end of the file
	default:
		h.old--
		h.new--
	}
	return c
}

// Changes lists the files of a diff.
func Changes(diff []byte) []FileChange {
	out := []FileChange{}
	var h hunk
	for line := range strings.Lines(string(diff)) {
		line = strings.TrimSuffix(line, "\n")
		if h.inside() {
			switch f := &out[len(out)-1]; h.take(line) {
			case '+':
				f.Added++
			case '-':
				f.Removed++
			}
			continue
		}
		if names, ok := strings.CutPrefix(line, "diff --git "); ok {
			out = append(out, FileChange{Path: bothNames(names), How: "changed"})
			continue
		}
		if len(out) > 0 && !h.begin(line) {
			out[len(out)-1].heading(line)
		}
	}
	return out
}

// heading reads one line between the name of a file and its first hunk.
func (f *FileChange) heading(line string) {
	key, rest, _ := strings.Cut(line, " ")
	switch {
	case strings.HasPrefix(line, "new file"):
		f.How = "added"
	case strings.HasPrefix(line, "deleted file"):
		f.How = "deleted"
	case strings.HasPrefix(line, "rename from "):
		f.How, f.From = "renamed", unquoted(strings.TrimPrefix(line, "rename from "))
	case strings.HasPrefix(line, "rename to "):
		f.Path = unquoted(strings.TrimPrefix(line, "rename to "))
	case strings.HasPrefix(line, "Binary files "), strings.HasPrefix(line, "GIT binary patch"):
		f.Binary = true
	case (key == "---" || key == "+++") && rest != "/dev/null":
		if _, name, ok := strings.Cut(unquoted(strings.TrimSuffix(rest, "\t")), "/"); ok && f.From == "" {
			f.Path = name
		}
	}
}

// bothNames is the name in `a/NAME b/NAME`, which is all there is of a file whose mode alone changed.
func bothNames(s string) string {
	if strings.HasPrefix(s, `"`) {
		if name, err := strconv.QuotedPrefix(s); err == nil {
			return strings.TrimPrefix(unquoted(name), "a/")
		}
	}
	return strings.TrimPrefix(s[:len(s)/2], "a/")
}

// unquoted takes the quotes off that git puts around names with strange characters.
func unquoted(s string) string {
	if name, err := strconv.Unquote(s); err == nil && strings.HasPrefix(s, `"`) {
		return name
	}
	return s
}

// Diff writes a unified diff for a terminal: coloured where that is wanted, and harmless.
func Diff(w io.Writer, diff []byte, color bool) error {
	var b bytes.Buffer
	var h hunk
	for line := range strings.Lines(string(diff)) {
		line = strings.TrimSuffix(line, "\n")
		hue := bold
		switch {
		case h.inside():
			hue = map[byte]string{'+': green, '-': red}[h.take(line)]
		case h.begin(line):
			hue = cyan
		case strings.HasPrefix(line, `\`):
			hue = dim
		}
		if line = harmless(line); color && hue != none {
			line = "\x1b[" + hue + "m" + line + "\x1b[0m"
		}
		b.WriteString(line + "\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// harmless shows control characters, and those that turn the direction of writing, instead of sending them.
func harmless(s string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '\t':
			b.WriteRune(r)
		case r < ' ':
			b.WriteString("^" + string(r+'@'))
		case unicode.IsControl(r), r >= 0x2028 && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
			b.WriteString("\uFFFD")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// maxMarks is how many + and - a line of a summary has.
const maxMarks = 40

// Stat writes how much of each file changed, and sums it up.
func Stat(w io.Writer, files []FileChange, color bool) error {
	rows := [][]string{}
	added, removed, most := 0, 0, 1
	for _, f := range files {
		added, removed, most = added+f.Added, removed+f.Removed, max(most, f.Added+f.Removed)
		name := harmless(f.Path)
		if f.From != "" {
			name = harmless(f.From) + " -> " + name
		}
		rows = append(rows, []string{name, f.How})
	}
	var b strings.Builder
	for i, f := range files { // numbers stand to the right
		n := strconv.Itoa(f.Added + f.Removed)
		rows[i] = append(rows[i], strings.Repeat(" ", len(strconv.Itoa(most))-len(n))+n)
	}
	lines := strings.Split(strings.TrimSuffix(columns(rows), "\n"), "\n")
	for i, f := range files {
		scale := func(n int) int { return (n*min(most, maxMarks) + most - 1) / most }
		marks := []piece{{"  " + lines[i] + "  ", none}, {strings.Repeat("+", scale(f.Added)), green}, {strings.Repeat("-", scale(f.Removed)), red}}
		if f.Binary {
			marks = []piece{{"  " + lines[i] + "  binary", none}}
		}
		b.WriteString(paint(marks, 0, color) + "\n")
	}
	b.WriteString(plural(len(files), "file") + " changed, " + plural(added, "line") + " added, " + plural(removed, "line") + " removed\n")
	_, err := io.WriteString(w, b.String())
	return err
}
