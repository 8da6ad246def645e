package file

import (
	"bytes"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// edit puts one text in the place of another, which must be there exactly once unless All is set.
type edit struct {
	Find    string `json:"find"`
	Replace string `json:"replace"`
	All     bool   `json:"all"`
}

type edits []edit

// plain reports whether making the edits twice gives what making them once gives. A deletion is not
// plain: of a text that is not there, nobody can tell whether it ever was. Nor is adding to each of
// many places.
func (es edits) plain() bool {
	for _, e := range es {
		if e.Replace == "" || e.All && strings.Contains(e.Replace, e.Find) {
			return false
		}
	}
	return true
}

// apply makes the edits in order. Those that are made already change nothing.
func (es edits) apply(content []byte) ([]byte, error) {
	if es.undoable(content) {
		return content, nil
	}
	for i, e := range es {
		now, err := e.apply(content)
		if err != nil {
			return nil, fault.Wrap(fault.CodeOf(err), err, "edit %d", i+1).Remedy("%s", fault.HintOf(err))
		}
		content = now
	}
	return content, nil
}

func (e edit) apply(content []byte) ([]byte, error) {
	find, replace := []byte(e.Find), []byte(e.Replace)
	switch n := bytes.Count(content, find); {
	case e.Find == "":
		return nil, fault.New(fault.Invalid, "it says nothing to find").Remedy("give the text that is to be replaced in find")
	case n == 0 && e.Replace != "" && bytes.Contains(content, replace):
		return content, nil // made already
	case n == 0:
		return nil, fault.New(fault.Failed, "%.80q is not in the file", e.Find).
			Remedy("read the file and copy the text exactly, blanks and line ends included")
	case n > 1 && !e.All:
		return nil, fault.New(fault.Failed, "%.80q is in the file %d times", e.Find, n).
			Remedy("take more of the text around it into find, or set all: true")
	}
	return bytes.ReplaceAll(content, find, replace), nil
}

// undoable reports whether taking the edits back and making them again gives the content as it is:
// then they were made.
func (es edits) undoable(content []byte) bool {
	was := content
	for i := len(es) - 1; i >= 0; i-- {
		e := es[i]
		if e.All || e.Replace == "" || bytes.Count(was, []byte(e.Replace)) != 1 {
			return false
		}
		was = bytes.Replace(was, []byte(e.Replace), []byte(e.Find), 1)
	}
	for _, e := range es {
		if bytes.Count(was, []byte(e.Find)) != 1 {
			return false
		}
		was = bytes.Replace(was, []byte(e.Find), []byte(e.Replace), 1)
	}
	return bytes.Equal(was, content)
}

// made tells whether the edits were made already; known is false where nobody can tell. Files change
// in one step, so either all were made or none.
func (es edits) made(content []byte) (done, known bool) {
	if es.undoable(content) {
		return true, true
	}
	for _, e := range es {
		found := bytes.Contains(content, []byte(e.Find))
		switch {
		case found && e.All && strings.Contains(e.Replace, e.Find):
			return false, false
		case found || e.Replace != "" && !bytes.Contains(content, []byte(e.Replace)):
			return false, true
		}
	}
	return true, true
}
