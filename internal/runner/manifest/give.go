package manifest

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

const inline = 4 << 10 // what is longer is stored as an artifact

// giving turns what a tool printed into the outputs that its manifest promises.
type giving struct {
	schema *capability.Schema
	sole   string // the one output, when there is just one
	typ    string // its type, when the manifest says so
}

func newGiving(raw json.RawMessage) (giving, error) {
	s, err := capability.ParseSchema(raw)
	g := giving{schema: s}
	var shape struct {
		Properties map[string]struct {
			Type json.RawMessage `json:"type"`
		} `json:"properties"`
	}
	if err == nil && json.Unmarshal(raw, &shape) == nil && len(shape.Properties) == 1 {
		for name, p := range shape.Properties {
			g.sole = name
			_ = json.Unmarshal(p.Type, &g.typ) // a list of types is as good as none
		}
	}
	return g, err
}

// read finds outputs in what was printed: a JSON object holds them by name; anything else is the
// sole output, or else the output named other.
func (g giving) read(printed []byte, other string) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	text := bytes.TrimSpace(printed)
	if len(text) > 0 && text[0] == '{' && json.Unmarshal(text, &all) == nil && (g.sole == "" || all[g.sole] != nil) {
		return all
	}
	name := g.sole
	if name == "" {
		if len(text) == 0 {
			return map[string]json.RawMessage{}
		}
		name = other
	}
	if g.sole != "" && g.typ != "string" && json.Valid(text) {
		return map[string]json.RawMessage{name: json.RawMessage(text)}
	}
	return map[string]json.RawMessage{name: asText(strings.TrimRight(string(printed), "\r\n"))}
}

// put checks outputs against what is promised and stores the texts among them that are long.
func (g giving) put(ctx context.Context, call capability.Call, res *capability.Result, outputs map[string]json.RawMessage) error {
	res.Outputs = map[string]json.RawMessage{}
	whole, err := json.Marshal(outputs)
	if err != nil {
		return fault.Wrap(fault.Failed, err, "the outputs are no JSON")
	}
	found := g.schema.Check(whole)
	for name, v := range outputs {
		var text string
		if len(v) <= inline || json.Unmarshal(v, &text) != nil {
			res.Outputs[name] = v
			continue
		}
		ref, err := call.Host.Put(ctx, name, "text", strings.NewReader(text))
		if err != nil {
			return err
		}
		res.Artifacts = append(res.Artifacts, ref)
	}
	if len(found) > 0 {
		return fault.New(fault.Failed, "the outputs are not what the manifest promises: %s", strings.Join(found, "; ")).
			Remedy("correct the tool, or the outputs of its manifest")
	}
	return nil
}

func asText(s string) json.RawMessage {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // text is always JSON
	}
	return raw
}
