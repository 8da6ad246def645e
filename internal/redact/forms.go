package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

const (
	shortestLine = 8   // of a value with several lines; shorter ones (braces, headings) are no secret
	longestWhole = 256 // of a value that might be met with each letter escaped; it takes many times its length
)

// forms gives the texts under which a value is met: as it is, and as programs encode it.
func forms(value string) iter.Seq[string] {
	return func(yield func(string) bool) {
		seen := map[string]bool{} // most values have no letter that needs encoding
		for _, encode := range []func(string) []string{plainForms, base64Forms, hexForms, urlForms, quotedForms} {
			for _, form := range encode(value) {
				if len(form) < Shortest || seen[form] {
					continue
				}
				seen[form] = true
				if !yield(form) {
					return
				}
			}
		}
	}
}

// plainForms gives a value, and its lines: tools print a key indented, or line by line.
func plainForms(v string) []string {
	all := []string{v}
	if trimmed := strings.TrimSpace(v); trimmed != v {
		all = append(all, trimmed)
	}
	if !strings.ContainsAny(v, "\r\n") {
		return all
	}
	for line := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); len(line) >= shortestLine && !isBanner(line) {
			all = append(all, line)
		}
	}
	return all
}

// isBanner reports whether a line is the same in everybody's key.
func isBanner(line string) bool { return strings.HasPrefix(line, "-----") }

var base64Encodings = []*base64.Encoding{base64.StdEncoding, base64.URLEncoding}

// base64Insides gives what base64 makes of a value wherever it stands in a longer text. Three bytes make
// four letters, so there are three ways to fall. The letters at the borders, which carry bits of the
// neighbours too, are left out.
func base64Insides(v string) (all []string) {
	for _, enc := range base64Encodings {
		for before := range 3 {
			whole := enc.EncodeToString([]byte("\x00\x00\x00"[:before] + v))
			inside := whole[(8*before+5)/6 : 8*(before+len(v))/6]
			if !slices.Contains(all, inside) {
				all = append(all, inside)
			}
		}
	}
	return all
}

// base64Forms gives the insides, and what they end with where the value ends the text.
func base64Forms(v string) []string {
	all := base64Insides(v)
	for _, enc := range base64Encodings {
		for before := range 3 {
			ending := enc.EncodeToString([]byte("\x00\x00\x00"[:before] + v))[(8*before+5)/6:]
			all = append(all, ending, strings.TrimRight(ending, "="))
		}
	}
	return all
}

func hexForms(v string) []string {
	lower := hex.EncodeToString([]byte(v))
	return []string{lower, strings.ToUpper(lower)}
}

// The letters that encoders of URLs leave alone beside letters and digits: RFC 3986, paths, forms, encodeURIComponent,
// Go's segments of paths, encodeURI.
var unescaped = []string{"-_.~", "-_.~/", "-_.*", "-_.!~*'()", "-_.~$&+=:@", "-_.!~*'();,/?:@&=+$#"}

func urlForms(v string) (all []string) {
	for _, upper := range []bool{true, false} {
		for _, safe := range unescaped {
			form := percent(v, upper, func(c byte) bool { return isAlnum(c) || strings.IndexByte(safe, c) >= 0 })
			all = append(all, form, strings.ReplaceAll(form, "%20", "+"), strings.ReplaceAll(form, "%", "%25"))
		}
		if len(v) <= longestWhole {
			all = append(all, percent(v, upper, func(byte) bool { return false }))
		}
	}
	return append(all, url.QueryEscape(v))
}

func percent(v string, upper bool, safe func(byte) bool) string {
	digits := "0123456789abcdef"
	if upper {
		digits = "0123456789ABCDEF"
	}
	var b strings.Builder
	for i := range len(v) {
		if c := v[i]; safe(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

// quotedForms gives a value as it stands inside the quotes of JSON (and of JSON inside JSON), of
// programming languages, of the shell and of markup.
func quotedForms(v string) (all []string) {
	for _, form := range jsonForms(v) {
		all = append(all, form, jsonText(form, false))
	}
	if len(v) <= longestWhole {
		each := unicodeEscapes(v, func(rune) bool { return false })
		all = append(all, each, upperEscapes(each))
	}
	all = append(all, trimQuotes(strconv.Quote(v)), trimQuotes(strconv.QuoteToASCII(v)))
	for _, quote := range []string{`'"'"'`, `'\''`, `\'`, `''`} {
		all = append(all, strings.ReplaceAll(v, `'`, quote))
	}
	var bare, double strings.Builder
	for i := range len(v) {
		if c := v[i]; c < 0x80 && !isAlnum(c) && strings.IndexByte("-_./,:@%+=\n", c) < 0 {
			bare.WriteByte('\\')
		}
		if strings.IndexByte("$`\"\\", v[i]) >= 0 {
			double.WriteByte('\\')
		}
		bare.WriteByte(v[i])
		double.WriteByte(v[i])
	}
	markup := html.EscapeString(v)
	named := strings.NewReplacer("&#39;", "&apos;", "&#34;", "&quot;").Replace(markup)
	return append(all, bare.String(), double.String(), markup, named, strings.ReplaceAll(named, "&apos;", "'"))
}

func jsonForms(v string) []string {
	bare, hard := jsonText(v, false), jsonText(v, true)
	lower, upper := unicodeEscapes(bare, isASCII), unicodeEscapes(hard, isASCII)
	return []string{
		bare, hard, lower, upper, strings.ReplaceAll(bare, "/", `\/`), strings.ReplaceAll(lower, "/", `\/`), upperEscapes(upper),
	}
}

// jsonText is v as encoders write it, with or without the letters that are special in markup escaped.
func jsonText(v string, markup bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(markup)
	if enc.Encode(v) != nil {
		return v
	}
	return trimQuotes(strings.TrimSuffix(b.String(), "\n"))
}

func isASCII(r rune) bool { return r < 0x80 }

// unicodeEscapes writes the letters that are not safe as \uXXXX.
func unicodeEscapes(v string, safe func(rune) bool) string {
	var b strings.Builder
	for _, r := range v {
		if safe(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			b.WriteString(`\u`)
			b.WriteString(hex.EncodeToString([]byte{byte(unit >> 8), byte(unit)}))
		}
	}
	return b.String()
}

// upperEscapes writes the digits of \uXXXX in capitals.
func upperEscapes(v string) string {
	parts := strings.Split(v, `\u`)
	for i := 1; i < len(parts); i++ {
		if n := min(4, len(parts[i])); n == 4 {
			parts[i] = strings.ToUpper(parts[i][:n]) + parts[i][n:]
		}
	}
	return strings.Join(parts, `\u`)
}

func trimQuotes(s string) string { return strings.TrimSuffix(strings.TrimPrefix(s, `"`), `"`) }
