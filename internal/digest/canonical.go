package digest

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Canonical encodes v, anything encoding/json accepts, in the RFC 8785 form: members sorted by
// UTF-16 code units, no white space, shortest numbers, minimal escapes.
func Canonical(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encode %T", v)
	}
	return Canonicalize(raw)
}

// Canonicalize rewrites a JSON text in the RFC 8785 form. Numbers are IEEE doubles there, so one
// that a double cannot hold is refused rather than rounded in silence.
func Canonicalize(raw []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "read JSON")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fault.New(fault.Invalid, "read JSON: something follows the first value")
	}
	return appendValue(make([]byte, 0, len(raw)), v)
}

func appendValue(dst []byte, v any) ([]byte, error) {
	var err error
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case string:
		return AppendString(dst, v), nil
	case json.Number:
		return appendNumber(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = appendValue(dst, e); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, CompareUTF16)
		dst = append(dst, '{')
		for i, k := range keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(AppendString(dst, k), ':')
			if dst, err = appendValue(dst, v[k]); err != nil {
				return nil, err
			}
		}
		return append(dst, '}'), nil
	}
	return nil, fault.New(fault.Internal, "canonical form of %T is not defined", v)
}

// maxExact is the largest integer below which every integer is a double.
const maxExact = 1 << 53

func appendNumber(dst []byte, n json.Number) ([]byte, error) {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil && i <= maxExact && i >= -maxExact {
		return strconv.AppendInt(dst, i, 10), nil
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, fault.New(fault.Invalid, "the number %s is out of range", n).Remedy("write it as a string")
	}
	start := len(dst)
	dst = appendFloat(dst, f)
	// A whole number that a double rounds is refused; one that it holds, such as our own
	// 100000000000000000 for 1e17, is not.
	if !strings.ContainsAny(string(n), ".eE") && string(dst[start:]) != string(n) {
		return nil, fault.New(fault.Invalid, "the integer %s is beyond what JSON carries exactly", n).
			Remedy("write it as a string")
	}
	return dst, nil
}

// appendFloat writes f as ECMAScript's Number::toString does.
func appendFloat(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0')
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	b := strconv.AppendFloat(nil, f, 'e', -1, 64)
	// strconv pads the exponent to two digits, ECMAScript does not.
	if i := bytes.IndexByte(b, 'e'); b[i+2] == '0' {
		b = slices.Delete(b, i+2, i+3)
	}
	return append(dst, b...)
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a canonical JSON string. What is not UTF-8 becomes U+FFFD: callers
// that must not lose bytes keep them in an artifact.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// CompareUTF16 orders strings by UTF-16 code units, which differs from byte order only where a
// surrogate pair meets U+E000 and above.
func CompareUTF16(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			if a[i] < utf8.RuneSelf || b[i] < utf8.RuneSelf {
				return int(a[i]) - int(b[i])
			}
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		}
	}
	return len(a) - len(b)
}
