package journal

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// Append appends the canonical bytes of r: the RFC 8785 form of an object with exactly these
// members, which are written here in that form's order.
func (r *Record) Append(dst []byte) []byte {
	dst = digest.AppendString(append(dst, `{"actor":`...), r.Actor)
	dst = strconv.AppendInt(append(dst, `,"attempt":`...), int64(r.Attempt), 10)
	dst = append(append(dst, `,"body":`...), r.body()...)
	dst = strconv.AppendUint(append(dst, `,"cause":`...), uint64(r.Cause), 10)
	dst = digest.AppendString(append(dst, `,"kind":`...), string(r.Kind))
	dst = digest.AppendString(append(dst, `,"plan":`...), r.Plan)
	dst = append(r.Prev.AppendHex(append(dst, `,"prev":"`...)), '"')
	dst = strconv.AppendInt(append(dst, `,"rev":`...), int64(r.Rev), 10)
	dst = strconv.AppendUint(append(dst, `,"seq":`...), uint64(r.Seq), 10)
	dst = digest.AppendString(append(dst, `,"task":`...), r.Task)
	dst = r.Time.UTC().AppendFormat(append(dst, `,"time":"`...), time.RFC3339Nano)
	return append(dst, '"', '}')
}

func (r *Record) body() []byte {
	if len(r.Body) == 0 {
		return []byte("{}")
	}
	return r.Body
}

// Decode reads an entry back. It accepts exactly what Append writes: any other spelling of the same
// JSON is a different record and so damage.
func Decode(e Entry) (Record, error) {
	p := parser{rest: e.Bytes}
	var r Record
	r.Actor = p.text(`{"actor":`)
	r.Attempt = int(p.number(`,"attempt":`))
	r.Body = p.object(`,"body":`)
	r.Cause = Seq(p.number(`,"cause":`))
	r.Kind = Kind(p.text(`,"kind":`))
	r.Plan = p.text(`,"plan":`)
	prev := p.text(`,"prev":`)
	r.Rev = int(p.number(`,"rev":`))
	r.Seq = Seq(p.number(`,"seq":`))
	r.Task = p.text(`,"task":`)
	when := p.text(`,"time":`)
	p.expect("}")
	if !p.bad && len(p.rest) == 0 {
		var err1, err2 error
		r.Prev, err1 = digest.Parse(prev)
		r.Time, err2 = time.Parse(time.RFC3339Nano, when)
		var spelt [2 * digest.Size]byte // hex and times have other spellings, which are not ours
		if err1 == nil && err2 == nil && string(r.Prev.AppendHex(spelt[:0])) == prev &&
			string(r.Time.UTC().AppendFormat(spelt[:0], time.RFC3339Nano)) == when {
			return r, nil
		}
	}
	return Record{}, fault.New(fault.Tampered, "record %s#%d is not in the journal's format", e.Plan, e.Seq)
}

// parser walks the fixed layout of a record. After the first surprise it stays bad.
type parser struct {
	rest []byte
	bad  bool
}

func (p *parser) expect(lit string) {
	if p.bad || len(p.rest) < len(lit) || string(p.rest[:len(lit)]) != lit {
		p.bad = true
		return
	}
	p.rest = p.rest[len(lit):]
}

func (p *parser) number(key string) (n int64) {
	p.expect(key)
	i := 0
	for ; i < len(p.rest) && p.rest[i] >= '0' && p.rest[i] <= '9' && i < 16; i++ {
		n = 10*n + int64(p.rest[i]-'0')
	}
	if i == 0 || (i > 1 && p.rest[0] == '0') {
		p.bad = true
	}
	p.rest = p.rest[i:]
	return n
}

func (p *parser) text(key string) string {
	p.expect(key)
	end := p.stringEnd(0)
	if p.bad {
		return ""
	}
	raw := p.rest[1 : end-1]
	p.rest = p.rest[end:]
	s := string(raw)
	if bytes.IndexByte(raw, '\\') >= 0 {
		var err error
		if s, err = strconv.Unquote(`"` + s + `"`); err != nil {
			p.bad = true
			return ""
		}
	} else if plain(s) {
		return s
	}
	if string(digest.AppendString(nil, s)) != `"`+string(raw)+`"` {
		p.bad = true
	}
	return s
}

// plain reports whether s is its own canonical form, as far as that can be told quickly.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// stringEnd finds the index after the string that begins at from.
func (p *parser) stringEnd(from int) int {
	if p.bad || from >= len(p.rest) || p.rest[from] != '"' {
		p.bad = true
		return from
	}
	for i := from + 1; i < len(p.rest); i++ {
		switch p.rest[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	p.bad = true
	return from
}

// object takes the object after key as it stands.
func (p *parser) object(key string) []byte {
	p.expect(key)
	if p.bad || len(p.rest) == 0 || p.rest[0] != '{' {
		p.bad = true
		return nil
	}
	depth := 0
	for i := 0; i < len(p.rest); i++ {
		switch p.rest[i] {
		case '"':
			i = p.stringEnd(i) - 1
			if p.bad {
				return nil
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				body := p.rest[:i+1]
				p.rest = p.rest[i+1:]
				return body
			}
		}
	}
	p.bad = true
	return nil
}
