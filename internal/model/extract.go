package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/capability"
)

// invisible are characters that models put around JSON and no parser forgives. Inside of strings they stay.
const invisible = " \t\r\n\uFEFF\u200B\u200C\u200D\u2060\u00A0"

// mostStarts bounds how often JSON is looked for in a text: each time may read all of it.
const mostStarts = 50

// extract finds the one JSON object in a text, alone, fenced or in the midst of prose. Several are none: nobody can tell which
// was meant.
func extract(text string) (json.RawMessage, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("the answer is no valid UTF-8")
	}
	text = strings.Trim(text, invisible)
	if json.Valid([]byte(text)) {
		return single([]json.RawMessage{json.RawMessage(text)})
	}
	var found []json.RawMessage
	for starts := 0; starts < mostStarts; starts++ {
		i := strings.IndexByte(text, '{')
		if i < 0 {
			break
		}
		text = text[i:]
		d := json.NewDecoder(strings.NewReader(text))
		var raw json.RawMessage
		switch err := d.Decode(&raw); {
		case err == nil:
			found = append(found, raw)
			text = text[d.InputOffset():]
		case errors.Is(err, io.ErrUnexpectedEOF): // what is inside of something that was cut off is not the answer
			return nil, fmt.Errorf("the JSON in the answer is cut off")
		default:
			text = text[1:] // a brace in prose
		}
	}
	return single(found)
}

func single(found []json.RawMessage) (json.RawMessage, error) {
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("there is no JSON object in the answer")
	case len(found) > 1:
		return nil, fmt.Errorf("there are %d JSON objects in the answer, and one was asked for", len(found))
	}
	if name, ok := repeated(found[0]); ok {
		return nil, fmt.Errorf("the key %q is there twice in one object", name)
	}
	return found[0], nil
}

// repeated finds a key that an object has twice: readers disagree on which of the two counts.
func repeated(raw json.RawMessage) (string, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	type level struct {
		keys map[string]bool // nil: an array
		key  bool            // a key comes next
	}
	var open []level
	for {
		t, err := d.Token()
		if err != nil {
			return "", false // its end: it was decoded before
		}
		top := len(open) - 1
		if t == json.Delim('}') || t == json.Delim(']') {
			open = open[:top]
			continue
		}
		if top >= 0 && open[top].keys != nil {
			if name, ok := t.(string); ok && open[top].key {
				if open[top].keys[name] {
					return name, true
				}
				open[top].keys[name], open[top].key = true, false
				continue
			}
			open[top].key = true
		}
		switch t {
		case json.Delim('{'):
			open = append(open, level{map[string]bool{}, true})
		case json.Delim('['):
			open = append(open, level{})
		}
	}
}

// fit reads an answer by a schema: the JSON, or all that is wrong with it.
func fit(s *capability.Schema, a Answer) (json.RawMessage, []string) {
	if a.Finish == CutOff {
		return nil, []string{fmt.Sprintf("the answer was cut off after %d tokens: be shorter", a.Out)}
	}
	raw, err := extract(a.Text)
	if err != nil {
		return nil, []string{err.Error()}
	}
	return raw, s.Check(raw)
}

// refusals are how models begin to say no when no field of the protocol says it.
var refusals = []string{"i'm sorry", "i’m sorry", "i am sorry", "sorry,", "i can't", "i can’t", "i cannot", "i can not", "i won't", "i won’t", "i'm unable", "i am unable", "i'm not able", "as an ai"}

// refuses reports whether a text that should be JSON is a no.
func refuses(text string) bool {
	text = strings.ToLower(strings.Trim(text, invisible))
	if strings.Contains(text, "{") {
		return false
	}
	for _, r := range refusals {
		if strings.HasPrefix(text, r) {
			return true
		}
	}
	return false
}
