package source

import (
	"math"
	"strconv"
	"strings"
)

// plain decides what an unquoted YAML scalar is: the core schema of YAML 1.2, except that what
// JSON cannot write as a number (007, 1_000, .inf) stays the text that it is.
func plain(s string) (Kind, string) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return Null, ""
	case "true", "True", "TRUE":
		return Bool, "true"
	case "false", "False", "FALSE":
		return Bool, "false"
	}
	if c := s[0]; c != '-' && c != '+' && c != '.' && (c < '0' || c > '9') {
		return String, s
	}
	if n, ok := number(s); ok {
		return Number, n
	}
	return String, s
}

func number(s string) (string, bool) {
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0o") {
		if n, err := strconv.ParseUint(s, 0, 63); err == nil && !strings.Contains(s, "_") {
			return strconv.FormatUint(n, 10), true
		}
		return "", false
	}
	body := strings.TrimPrefix(s, "+")
	digits := strings.TrimPrefix(body, "-")
	if digits == "" || len(body) < len(s) && len(digits) < len(body) || strings.Trim(digits, "0123456789.eE+-") != "" {
		return "", false
	}
	whole, _, _ := strings.Cut(digits, ".")
	if len(whole) > 1 && whole[0] == '0' && strings.Trim(whole, "0123456789") == "" {
		return "", false
	}
	if strings.Trim(digits, "0123456789") == "" {
		return body, true
	}
	f, err := strconv.ParseFloat(body, 64)
	if err != nil || math.IsInf(f, 0) {
		return "", false
	}
	if isJSONNumber(body) {
		return body, true
	}
	return strconv.FormatFloat(f, 'g', -1, 64), true
}

func isJSONNumber(s string) bool {
	r := jsonReader{text: s}
	var n Node
	return r.number(&n) && r.at == len(s)
}
