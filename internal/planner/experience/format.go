package experience

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/cairn-plan/cairn/internal/fault"
)

const longestLine = 1 << 20

// line is a case, or a prediction, as a file has it.
type line struct {
	ID    string `json:"id"`
	Goal  string `json:"goal"`
	Steps []struct {
		Capability string `json:"capability"`
	} `json:"steps"`
	Links [][]string `json:"links"`
}

// ReadCases reads goals with known plans, one JSON object a line. The name is that of the file, for messages.
func ReadCases(name string, r io.Reader) ([]Case, error) {
	return readLines(name, r, `{"id": "1", "goal": "Tell Ann", "steps": [{"capability": "send_mail"}], "links": []}`, func(c Case) string {
		if c.Goal == "" {
			return "has no goal"
		}
		if len(c.Steps) == 0 {
			return "has no steps"
		}
		return ""
	})
}

// ReadPredictions reads plans that some program drafted, one JSON object a line, as cases without goals.
func ReadPredictions(name string, r io.Reader) ([]Case, error) {
	return readLines(name, r, `{"id": "1", "steps": [{"capability": "send_mail"}], "links": []}`, func(Case) string { return "" })
}

func readLines(name string, r io.Reader, example string, lacks func(Case) string) ([]Case, error) {
	var all []Case
	seen := map[string]int{}
	s := bufio.NewScanner(r)
	s.Buffer(nil, longestLine)
	for n := 1; s.Scan(); n++ {
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		c, why := parseLine(s.Bytes())
		if why == "" {
			why = lacks(c)
		}
		if why != "" {
			return nil, fault.New(fault.Invalid, "%s:%d: the line %s", name, n, why).Remedy("write one object a line, such as %s", example)
		}
		if before, ok := seen[c.ID]; ok {
			return nil, fault.New(fault.Invalid, "%s:%d: the id %q was used on line %d already", name, n, c.ID, before).Remedy("give every line an id of its own")
		}
		seen[c.ID], c.Line = n, n
		all = append(all, c)
	}
	if err := s.Err(); err != nil {
		return nil, unreadable(name, len(all)+1, err)
	}
	if len(all) == 0 {
		return nil, fault.New(fault.Invalid, "%s: the file has no lines", name).Remedy("write one object a line, such as %s", example)
	}
	return all, nil
}

// parseLine reads one line, or says what is wrong with it.
func parseLine(b []byte) (Case, string) {
	var l line
	if err := json.Unmarshal(b, &l); err != nil {
		return Case{}, "is no such JSON object: " + err.Error()
	}
	c := Case{ID: l.ID, Goal: l.Goal}
	if l.ID == "" {
		return c, "has no id"
	}
	for _, s := range l.Steps {
		if s.Capability == "" {
			return c, "has a step without capability"
		}
		c.Steps = append(c.Steps, s.Capability)
	}
	for _, k := range l.Links {
		if len(k) != 2 {
			return c, "has a link that is not a pair [from, to]"
		}
		c.Links = append(c.Links, Link{k[0], k[1]})
	}
	return c, ""
}

func unreadable(name string, line int, err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return fault.New(fault.Invalid, "%s:%d: the line is longer than %d bytes", name, line, longestLine).Remedy("write one object a line")
	}
	return fault.Wrap(fault.Invalid, err, "read %s", name).Remedy("name a file that you can read")
}

// ReadTools reads a menu of capabilities, a JSON array.
func ReadTools(name string, r io.Reader) ([]Tool, error) {
	const example = `[{"id": "send_mail", "description": "Send an e-mail", "tags": ["mail"]}]`
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, unreadable(name, 0, err)
	}
	var tools []Tool
	if err := json.Unmarshal(b, &tools); err != nil {
		return nil, fault.New(fault.Invalid, "%s:%d: the menu is no such JSON array: %s", name, lineOf(b, err), err).Remedy("write %s", example)
	}
	seen := map[string]bool{}
	for i, t := range tools {
		switch {
		case t.ID == "":
			return nil, fault.New(fault.Invalid, "%s: tool %d has no id", name, i+1).Remedy("write %s", example)
		case seen[t.ID]:
			return nil, fault.New(fault.Invalid, "%s: tool %d has the id %q of another", name, i+1, t.ID).Remedy("give every tool an id of its own")
		}
		seen[t.ID] = true
	}
	if len(tools) == 0 {
		return nil, fault.New(fault.Invalid, "%s: the menu is empty", name).Remedy("write %s", example)
	}
	return tools, nil
}

// lineOf is the line on which JSON went wrong.
func lineOf(b []byte, err error) int {
	at := int64(0)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	return 1 + bytes.Count(b[:min(int64(len(b)), at)], []byte("\n"))
}
