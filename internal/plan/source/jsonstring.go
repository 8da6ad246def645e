package source

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string that begins at the quote under the cursor.
func (r *jsonReader) str() (string, bool) {
	r.at++
	begin := r.at
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '"':
			s := r.text[begin:r.at]
			r.at++
			return s, true
		case c == '\\':
			return r.escaped(begin)
		case c < 0x20:
			r.fail("a control character stands in a string", `write a line break as \n and a tab as \t`)
			return "", false
		case c&0xC0 == 0x80:
			r.start++ // a continuation byte is no column of its own
		}
		r.at++
	}
	r.fail("a string has no end", "close it with a double quote")
	return "", false
}

// escaped goes on with a string from its first backslash, copying.
func (r *jsonReader) escaped(begin int) (string, bool) {
	b := append(make([]byte, 0, r.at-begin+32), r.text[begin:r.at]...)
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			return string(b), true
		case c == '\\':
			var ok bool
			if b, ok = r.escape(b); !ok {
				return "", false
			}
			continue
		case c < 0x20:
			r.fail("a control character stands in a string", `write a line break as \n and a tab as \t`)
			return "", false
		case c&0xC0 == 0x80:
			r.start++
			b = append(b, c)
		default:
			b = append(b, c)
		}
		r.at++
	}
	r.fail("a string has no end", "close it with a double quote")
	return "", false
}

func (r *jsonReader) escape(b []byte) ([]byte, bool) {
	if r.at+1 < len(r.text) {
		c := r.text[r.at+1]
		switch c {
		case '"', '\\', '/':
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			return r.unicode(b)
		default:
			r.fail("this escape is not JSON's", `double the backslash: \\`)
			return b, false
		}
		r.at += 2
		return append(b, c), true
	}
	r.fail("a string has no end", "close it with a double quote")
	return b, false
}

func (r *jsonReader) unicode(b []byte) ([]byte, bool) {
	c, ok := r.hex(r.at)
	if !ok {
		r.fail(`four hexadecimal digits follow \u`, `double the backslash: \\`)
		return b, false
	}
	n := 6
	if utf16.IsSurrogate(c) {
		low, ok := r.hex(r.at + 6)
		if c = utf16.DecodeRune(c, low); !ok || c == utf8.RuneError {
			r.fail("half a surrogate pair is no character", "write both halves, or the character itself")
			return b, false
		}
		n = 12
	}
	r.at += n
	return utf8.AppendRune(b, c), true
}

func (r *jsonReader) hex(at int) (rune, bool) {
	if at+6 > len(r.text) || r.text[at] != '\\' || r.text[at+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(r.text[at+2:at+6], 16, 16)
	return rune(n), err == nil
}
