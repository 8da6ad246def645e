package file

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// change is what a unified diff does to one file. An empty from makes the file, an empty to
// deletes it.
type change struct {
	from, to string
	hunks    []hunk
}

// hunk is one place of a change. Lines carry their line ends; the last may have none.
type hunk struct {
	line     int // where the old lines begin, counted from 1
	old, new []string
}

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

func broken(n int, format string, args ...any) error {
	return fault.New(fault.Invalid, "line %d of the diff: "+format, append([]any{n}, args...)...).
		Remedy("make it with: diff -u old new, or git diff")
}

// parseDiff reads a unified diff of one or more files, as diff -u and git write them.
func parseDiff(diff string) ([]change, error) {
	lines := split([]byte(diff))
	var all []change
	for i := 0; i < len(lines); {
		line := lines[i]
		switch {
		case strings.HasPrefix(line, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ "):
			all = append(all, change{from: headName(line), to: headName(lines[i+1])})
			i += 2
		case strings.HasPrefix(line, "@@"):
			if len(all) == 0 {
				all = append(all, change{from: unnamed, to: unnamed})
			}
			h, next, err := parseHunk(lines, i)
			if err != nil {
				return nil, err
			}
			c := &all[len(all)-1]
			c.hunks = append(c.hunks, h)
			i = next
		case strings.HasPrefix(line, "Binary files "), strings.HasPrefix(line, "GIT binary patch"):
			return nil, broken(i+1, "it changes a binary file, which is not done here")
		default:
			i++ // what git says about modes and indices
		}
	}
	if len(all) == 0 {
		return nil, fault.New(fault.Invalid, "the diff holds no change").Remedy("make it with: diff -u old new, or git diff")
	}
	return all, nil
}

// unnamed is the file of hunks that no header announces: the one that the call names.
const unnamed = "\x00"

func headName(line string) string {
	name, _, _ := strings.Cut(strings.TrimRight(line[4:], "\r\n"), "\t")
	if name == "/dev/null" {
		return ""
	}
	if rest, ok := strings.CutPrefix(name, "a/"); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(name, "b/"); ok {
		return rest
	}
	return name
}

func parseHunk(lines []string, at int) (hunk, int, error) {
	m := hunkHead.FindStringSubmatch(lines[at])
	if m == nil {
		return hunk{}, 0, broken(at+1, "it is no head of a hunk")
	}
	h := hunk{line: count(m[1])}
	olds, news := 1, 1
	if m[2] != "" {
		olds = count(m[2])
	}
	if m[4] != "" {
		news = count(m[4])
	}
	i := at + 1
	for ; i < len(lines) && (len(h.old) < olds || len(h.new) < news || strings.HasPrefix(lines[i], `\`)); i++ {
		switch line := lines[i]; line[0] {
		case ' ':
			h.old, h.new = append(h.old, line[1:]), append(h.new, line[1:])
		case '\n', '\r': // an editor took the blank off an empty line
			h.old, h.new = append(h.old, line), append(h.new, line)
		case '-':
			h.old = append(h.old, line[1:])
		case '+':
			h.new = append(h.new, line[1:])
		case '\\':
			h.endWithout(lines[i-1][0])
		default:
			return h, 0, broken(i+1, "it begins neither with a blank nor with + or -")
		}
	}
	if len(h.old) != olds || len(h.new) != news {
		return h, 0, broken(at+1, "the hunk has %d old and %d new lines, its head says %d and %d", len(h.old), len(h.new), olds, news)
	}
	return h, i, nil
}

// endWithout takes the line end off the last line, as "\ No newline at end of file" says.
func (h *hunk) endWithout(sign byte) {
	cut := func(lines []string) {
		if n := len(lines); n > 0 {
			lines[n-1] = strings.TrimSuffix(lines[n-1], "\n")
		}
	}
	if sign != '+' {
		cut(h.old)
	}
	if sign != '-' {
		cut(h.new)
	}
}

func count(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1 // too long to be a line number: nothing matches it
	}
	return n
}

// split cuts content into lines that keep their ends.
func split(b []byte) []string {
	var lines []string
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\n') + 1
		if n == 0 {
			n = len(b)
		}
		lines = append(lines, string(b[:n]))
		b = b[n:]
	}
	return lines
}

// apply makes the change on the content of its file. Hunks match exactly; where lines were added or
// taken away before them they are found elsewhere, if there is only one place. A change that is
// made already gives the content as it is.
func (c change) apply(content []byte) ([]byte, error) {
	lines, shift, done := split(content), 0, 0
	for i, h := range c.hunks {
		at, made, err := h.find(lines, h.start()+shift)
		if err != nil {
			return nil, fault.Wrap(fault.Failed, err, "hunk %d of %d does not fit", i+1, len(c.hunks)).
				Remedy("the file is not the one the diff was made from: make the diff anew")
		}
		shift = at - h.start() + len(h.new) - len(h.old)
		if made {
			done++
			continue
		}
		lines = slices.Concat(lines[:at], h.new, lines[at+len(h.old):])
	}
	if done > 0 && done < len(c.hunks) {
		return nil, fault.New(fault.Failed, "%d of %d hunks are in the file already", done, len(c.hunks)).Remedy("make the diff anew")
	}
	return []byte(strings.Join(lines, "")), nil
}

// start is the index of the first old line; a hunk without old lines names the line before it.
func (h hunk) start() int {
	if len(h.old) == 0 {
		return h.line
	}
	return h.line - 1
}

// find tells where a hunk belongs, and whether it is made there already. Where it fits as the old
// and as the new text, for one is a part of the other, the longer of the two is believed.
func (h hunk) find(lines []string, expected int) (at int, made bool, err error) {
	longer := len(h.new) > len(h.old)
	switch was := fit(lines, h.old, expected); {
	case fit(lines, h.new, expected) && len(h.new) > 0 && (longer || !was):
		return expected, true, nil
	case was:
		return expected, false, nil
	}
	at, n := only(lines, h.old)
	if n == 1 {
		return at, longer && fit(lines, h.new, at), nil
	}
	if at, m := only(lines, h.new); n == 0 && m == 1 {
		return at, true, nil
	}
	if n > 1 {
		return 0, false, fault.New(fault.Failed, "its lines are not at line %d, and in more than one other place", h.line)
	}
	return 0, false, fault.New(fault.Failed, "its lines are not in the file")
}

// only finds where some lines are, and in how many places: none, one, or more.
func only(lines, part []string) (at, n int) {
	for i := 0; len(part) > 0 && i+len(part) <= len(lines) && n < 2; i++ {
		if fit(lines, part, i) {
			at = i
			n++
		}
	}
	return at, n
}

func fit(lines, part []string, at int) bool {
	return at >= 0 && at+len(part) <= len(lines) && slices.Equal(lines[at:at+len(part)], part)
}
