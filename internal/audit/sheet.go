package audit

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// sheet is the text that receipts and proofs are written on: a title, which says what it is and in which
// version, and sections of counted lines.
//
//	cairn proof v1
//
//	== plan 1
//	release
//
// The count makes it plain where a section ends, whatever its lines hold, and that nothing was cut off. There is one
// spelling of a sheet; parsing refuses any other.
type sheet struct {
	title    string
	sections []section
}

type section struct {
	name  string
	lines []string
}

func (s *sheet) add(name string, lines ...string) {
	s.sections = append(s.sections, section{name, lines})
}

// text is the sheet as it is written.
func (s *sheet) text() string {
	var b strings.Builder
	b.WriteString(s.title + "\n")
	for _, sec := range s.sections {
		b.WriteString("\n== " + sec.name + " " + strconv.Itoa(len(sec.lines)) + "\n")
		for _, l := range sec.lines {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// parseSheet accepts exactly what text writes.
func parseSheet(text string) (*sheet, error) {
	lines := strings.Split(text, "\n")
	if len(lines) < 2 || lines[len(lines)-1] != "" {
		return nil, cutShort("the last line")
	}
	lines = lines[:len(lines)-1]
	s := &sheet{title: lines[0]}
	for lines = lines[1:]; len(lines) > 0; {
		if len(lines) < 2 {
			return nil, cutShort("the line before a section")
		}
		name, count, ok := strings.Cut(strings.TrimPrefix(lines[1], "== "), " ")
		n, err := strconv.ParseUint(count, 10, 31)
		if lines[0] != "" || !ok || err != nil || !strings.HasPrefix(lines[1], "== ") || strconv.FormatUint(n, 10) != count {
			return nil, fault.New(fault.Tampered, "where a section has to begin there is %q", clip(lines[0]+lines[1])).Remedy(askAgain)
		}
		if uint64(len(lines)-2) < n {
			return nil, cutShort("section " + clip(name))
		}
		s.add(name, lines[2:2+n]...)
		lines = lines[2+n:]
	}
	return s, nil
}

// askAgain is the remedy for a file that is not as it was made.
const askAgain = "ask whoever gave you the file for it once more, by a way on which nobody else can change it"

func cutShort(where string) error {
	return fault.New(fault.Tampered, "the file was cut short: it ends in %s", where).Remedy(askAgain)
}

// clip keeps a foreign text short enough for a message.
func clip(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "..."
	}
	return s
}

// take removes the section that has to come next.
func (s *sheet) take(name string) ([]string, error) {
	if len(s.sections) == 0 {
		return nil, cutShort("front of section " + name)
	}
	next := s.sections[0]
	if next.name != name {
		return nil, fault.New(fault.Tampered, "section %s stands where section %s has to be", clip(next.name), name).Remedy(askAgain)
	}
	s.sections = s.sections[1:]
	return next.lines, nil
}

// packFrom is the size in bytes from which lines are packed.
const packFrom = 64 << 10

// packed marks the name of a section whose lines are those of a gzip file in base64.
const packed = ".gz"

// addPacked adds lines, compressed when they are long.
func (s *sheet) addPacked(name string, lines []string) error {
	size := 0
	for _, l := range lines {
		size += len(l) + 1
	}
	if size < packFrom {
		s.add(name, lines...)
		return nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for _, l := range lines {
		if _, err := io.WriteString(z, l+"\n"); err != nil {
			return fault.Wrap(fault.Internal, err, "pack a section")
		}
	}
	if err := z.Close(); err != nil {
		return fault.Wrap(fault.Internal, err, "pack a section")
	}
	const width = 57 // bytes that fill a line of 76
	rows := make([]string, 0, b.Len()/width+1)
	for part := range slices.Chunk(b.Bytes(), width) {
		rows = append(rows, base64.StdEncoding.EncodeToString(part))
	}
	s.add(name+packed, rows...)
	return nil
}

// unpackTo bounds what a packed section may come to, so that a small file cannot fill the memory.
const unpackTo = 1 << 30

// takePacked removes the section that has to come next, packed or not.
func (s *sheet) takePacked(name string) ([]string, error) {
	if len(s.sections) == 0 || s.sections[0].name != name+packed {
		return s.take(name)
	}
	rows, err := s.take(name + packed)
	if err != nil {
		return nil, err
	}
	bad := fault.New(fault.Tampered, "section %s cannot be unpacked", name).Remedy(askAgain)
	b, err := base64.StdEncoding.Strict().DecodeString(strings.Join(rows, ""))
	if err != nil {
		return nil, bad
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, bad
	}
	text, err := io.ReadAll(io.LimitReader(z, unpackTo+1))
	if err != nil || len(text) > unpackTo || len(text) == 0 || text[len(text)-1] != '\n' {
		return nil, bad
	}
	return strings.Split(string(text[:len(text)-1]), "\n"), nil
}
