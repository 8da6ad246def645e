package redact

import (
	"bytes"
	"encoding/json"
)

// JSON hides the secrets in the strings, keys included, and in the numbers of raw, and keeps it valid: a
// number that is a secret becomes a string. Where a secret spans more than one of them (a key file that
// is JSON itself) the whole document gives way to a string. Text that is no JSON is treated as Bytes does.
func (r *Redactor) JSON(raw json.RawMessage) json.RawMessage {
	if !json.Valid(raw) {
		return r.Bytes(raw)
	}
	d := document{r: r, raw: raw}
	d.walk()
	out := raw
	if d.out != nil {
		d.out = append(d.out, raw[d.given:]...)
		out = d.out
	}
	for i, hit := range r.seen(out) {
		if hit && i < r.known && d.masksLack(i) {
			return quote(r.labels[i].mask)
		}
	}
	return out
}

// document is a JSON text on its way through a Redactor.
type document struct {
	r     *Redactor
	raw   []byte
	given int    // raw[:given] is in out
	out   []byte // nil as long as nothing changed
	masks []byte // those that were put in
}

// walk visits the strings and numbers of a valid document.
func (d *document) walk() {
	var name []byte // the key before a value
	for i := 0; i < len(d.raw); {
		switch c := d.raw[i]; {
		case c == '"':
			end := stringEnd(d.raw, i)
			next := end
			for next < len(d.raw) && isSpace(d.raw[next]) {
				next++
			}
			isKey := next < len(d.raw) && d.raw[next] == ':'
			d.text(i, end, name)
			name = nil
			if isKey {
				name, end = d.raw[i+1:end-1], next+1
			}
			i = end
		case isSpace(c):
			i++
		case bytes.IndexByte([]byte("{}[],:"), c) >= 0:
			name = nil
			i++
		default:
			end := i
			for end < len(d.raw) && !isSpace(d.raw[end]) && bytes.IndexByte([]byte("}],"), d.raw[end]) < 0 {
				end++
			}
			d.put(i, end, d.r.Bytes(d.raw[i:end]))
			name = nil
			i = end
		}
	}
}

// text hides what is in the string raw[from:to]. A name that says so makes all of it a secret.
func (d *document) text(from, to int, name []byte) {
	inner := d.raw[from+1 : to-1]
	if bytes.IndexByte(inner, '\\') >= 0 {
		var s string
		if json.Unmarshal(d.raw[from:to], &s) != nil {
			return
		}
		inner = []byte(s)
	}
	out := d.r.Bytes(inner)
	if name != nil && bytes.Equal(out, inner) {
		out = d.r.named(name, inner)
	}
	d.put(from, to, out)
}

// named gives the mask of a value if its name says that it is a secret.
func (r *Redactor) named(name, value []byte) []byte {
	for i, k := range keys {
		shape := r.shapes[len(r.shapes)-len(keys)+i]
		for _, mark := range shape.marks {
			if !bytes.HasSuffix(name, []byte(mark)) || len(value) == 0 {
				continue
			}
			judged := value[:min(len(value), valueJudged)]
			next := byte('"')
			if j := bytes.IndexAny(judged, " \t\r\n"); j >= 0 {
				judged, next = judged[:j], ' '
			}
			if len(judged) > 0 && k.judge(judged, []byte(mark), assigned{mode: '"'}, next) {
				return []byte(r.labels[shape.label].mask)
			}
		}
	}
	return value
}

// put gives out the token raw[from:to] as the string text, unless that is what it says.
func (d *document) put(from, to int, text []byte) {
	inner := d.raw[from:to]
	if d.raw[from] == '"' {
		if inner = inner[1 : len(inner)-1]; bytes.IndexByte(inner, '\\') >= 0 {
			var s string
			if json.Unmarshal(d.raw[from:to], &s) == nil {
				inner = []byte(s)
			}
		}
	}
	if bytes.Equal(inner, text) {
		return
	}
	d.out = append(d.out, d.raw[d.given:from]...)
	d.out = append(d.out, quote(string(text))...)
	d.masks = append(append(d.masks, text...), 0)
	d.given = to
}

// masksLack reports whether a value that is still in the document is there for another reason than that
// a mask, which is ours, happens to hold it.
func (d *document) masksLack(label int) bool {
	hits := d.r.seen(d.masks)
	return len(hits) == 0 || !hits[label]
}

// stringEnd is the position behind the string that begins at from.
func stringEnd(b []byte, from int) int {
	for i := from + 1; ; i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func quote(s string) []byte { return []byte(`"` + jsonText(s, false) + `"`) }
