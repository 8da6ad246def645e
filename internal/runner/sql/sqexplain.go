package sql

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/cairn-plan/cairn/internal/fault"
)

// sayings are by SQLite's primary code.
var sayings = map[int]struct {
	code   fault.Code
	what   string
	remedy string
}{
	codes.SQLITE_READONLY:   {fault.Denied, "it may not be changed", "a query may not change anything: use sql.exec; for that the file must be writable"},
	codes.SQLITE_BUSY:       {fault.Conflict, "another program is writing to it", "wait for it to end, then resume"},
	codes.SQLITE_LOCKED:     {fault.Conflict, "it is locked", "wait for others to end, then resume"},
	codes.SQLITE_CONSTRAINT: {fault.Conflict, "the data forbids it", "correct the values, or the rows they refer to"},
	codes.SQLITE_CANTOPEN:   {fault.Failed, "it cannot be opened", "check the permissions of the file and of its folder"},
	codes.SQLITE_NOTADB:     {fault.Invalid, "it is no SQLite database", "check the path"},
	codes.SQLITE_CORRUPT:    {fault.Failed, "it is damaged", "restore it from a backup; sqlite3 FILE .recover may save some"},
	codes.SQLITE_FULL:       {fault.Failed, "the disk is full", "make room, then resume"},
	codes.SQLITE_MISMATCH:   {fault.Invalid, "a value does not fit", "check args and what the column takes"},
}

var prefix = regexp.MustCompile(`^(?:SQL logic error: |constraint failed: )?(.*?)(?: \(\d+\))?$`)

// explain says what SQLite did not like, and where in the statement.
func (s *sqlite) explain(text string, err error) error {
	if err == nil {
		return nil
	}
	var said *driver.Error
	if !errors.As(err, &said) {
		if strings.Contains(err.Error(), "argument") { // ?, :name and @name are not asked for
			return fault.Wrap(fault.Invalid, err, "the args do not fit the statement").Remedy("write $1, $2, ... and give one value for each")
		}
		return fault.Wrap(fault.Failed, err, "the database %s cannot be used", s.file)
	}
	message := prefix.ReplaceAllString(said.Error(), "$1")
	if say, ok := sayings[said.Code()&0xff]; ok {
		return fault.New(say.code, "the database %s: %s: %s", s.file, say.what, message).Remedy("%s", say.remedy)
	}
	switch {
	case strings.Contains(message, "no such table"), strings.Contains(message, "no such column"):
		return fault.New(fault.NotFound, "%s", message).Remedy("see what there is: SELECT name, sql FROM sqlite_schema")
	case strings.Contains(message, "syntax error"), strings.Contains(message, "incomplete input"), strings.Contains(message, "unrecognized token"):
		return fault.New(fault.Invalid, "%s%s", message, near(text, message)).Remedy("correct the statement")
	}
	return fault.New(fault.Failed, "%s", message).Remedy("correct the statement")
}

var token = regexp.MustCompile(`near "([^"]+)"|unrecognized token: "([^"]+)"`)

// near finds where in a statement SQLite stopped, which it tells by a word only; a word that is there more than
// once is no answer.
func near(text, message string) string {
	m := token.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	before, after, found := strings.Cut(text, m[1]+m[2])
	if !found || strings.Contains(after, m[1]+m[2]) {
		return ""
	}
	return at(text, utf8.RuneCountInString(before)+1)
}

// at shows where in a statement something is: position counts characters from 1.
func at(text string, position int) string {
	const around = 30
	runes := []rune(text)
	if position < 1 || position > len(runes)+1 {
		return ""
	}
	before := string(runes[:position-1])
	line := 1 + strings.Count(before, "\n")
	rest := string(runes[position-1:])
	rest, _, _ = strings.Cut(rest, "\n")
	if utf8.RuneCountInString(rest) > around {
		rest = string([]rune(rest)[:around]) + "..."
	}
	return " at character " + strconv.Itoa(position) + ", line " + strconv.Itoa(line) + ": " + strconv.Quote(rest)
}
