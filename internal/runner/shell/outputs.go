package shell

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/fault"
)

// maxOutputs is how much a command may write to CAIRN_OUTPUT.
const maxOutputs = 1 << 20

// outputs are what a command wrote to CAIRN_OUTPUT: JSON values by name, in the order of the names'
// first mention.
type outputs struct {
	names  []string
	values map[string]json.RawMessage
}

func (o *outputs) set(name string, v json.RawMessage) {
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = v
}

// readOutputs reads the file whose name a command was given. One that it did not write holds nothing.
func readOutputs(path string) (outputs, error) {
	o := outputs{values: map[string]json.RawMessage{}}
	st, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, fault.Wrap(fault.Failed, err, "what the command wrote to CAIRN_OUTPUT cannot be read")
	}
	if !st.Mode().IsRegular() || st.Size() > maxOutputs {
		return o, fault.New(fault.Failed, "what the command wrote to CAIRN_OUTPUT cannot be read: it is no file, or over %d bytes", maxOutputs).
			Remedy("write large outputs to a file of the project and declare its path")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return o, fault.Wrap(fault.Failed, err, "what the command wrote to CAIRN_OUTPUT cannot be read")
	}
	if !utf8.Valid(b) {
		return o, fault.New(fault.Failed, "what the command wrote to CAIRN_OUTPUT is not UTF-8").
			Remedy("write binary outputs to a file of the project and declare its path")
	}
	err = o.parse(string(b))
	return o, err
}

// parse reads one JSON object, or lines of name=value and blocks of name<<END.
func (o *outputs) parse(s string) error {
	if strings.HasPrefix(strings.TrimSpace(s), "{") {
		return o.object(s)
	}
	rest := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for n := 0; n < len(rest); n++ {
		line := rest[n]
		if strings.TrimSpace(line) == "" {
			continue
		}
		i := strings.IndexAny(line, "=<")
		name := ""
		if i > 0 {
			name = strings.TrimSpace(line[:i])
		}
		switch {
		case name == "" || strings.ContainsAny(name, " \t"):
			return bad(n, "%q is not name=value", line)
		case line[i] == '=':
			o.text(name, line[i+1:])
		default:
			end, ok := strings.CutPrefix(line[i:], "<<")
			if end = strings.TrimSpace(end); !ok || end == "" {
				return bad(n, "%q is not name=value, nor name<<END", line)
			}
			body := rest[n+1:]
			size := index(body, end)
			if size < 0 {
				return bad(n, "the block of %s has no line %s at its end", name, end)
			}
			o.text(name, strings.Join(body[:size], "\n"))
			n += size + 1
		}
	}
	return nil
}

func (o *outputs) text(name, value string) {
	v, _ := json.Marshal(value) // a string always can be
	o.set(name, v)
}

func (o *outputs) object(s string) error {
	d := json.NewDecoder(strings.NewReader(s))
	if _, err := d.Token(); err != nil {
		return bad(0, "%v", err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return bad(0, "%v", err)
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return bad(0, "%v", err)
		}
		if key, ok := name.(string); ok {
			o.set(key, v)
		}
	}
	if _, err := d.Token(); err != nil {
		return bad(0, "%v", err)
	}
	if d.More() {
		return bad(0, "there is more than one JSON object")
	}
	return nil
}

func index(lines []string, end string) int {
	for i, l := range lines {
		if l == end {
			return i
		}
	}
	return -1
}

func bad(line int, format string, args ...any) error {
	f := fault.New(fault.Failed, format, args...)
	f.Msg = "what the command wrote to CAIRN_OUTPUT is wrong in line " + strconv.Itoa(line+1) + ": " + f.Msg
	return f.Remedy("write lines of name=value, blocks from name<<END to END, or one JSON object")
}
