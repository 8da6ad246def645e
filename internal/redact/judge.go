package redact

import "bytes"

// isPlaceholder reports whether a value stands for one that is elsewhere.
func isPlaceholder(v []byte) bool {
	switch v[0] {
	case '$', '<', '{', '*', '[', '(', '&', '|', '#':
		return true
	case '%':
		return len(v) < 3 || !anyHex[v[1]] || !anyHex[v[2]]
	}
	same := true
	for _, c := range v {
		same = same && c == v[0]
	}
	return same || isWord(v) || bytes.HasPrefix(v, []byte("secret:"))
}

func isWord(v []byte) bool {
	var lower [longestWord]byte
	return len(v) <= longestWord && notSecrets[string(fold(lower[:0], v))]
}

// fold appends b in small letters.
func fold(to, b []byte) []byte {
	for _, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

const longestWord = 12

// notSecrets are words that stand where a secret could, and are none.
var notSecrets = func() map[string]bool {
	all := map[string]bool{}
	for _, w := range []string{
		"true", "false", "null", "none", "nil", "undefined", "unknown", "required", "optional", "default", "string", "number",
		"boolean", "integer", "object", "empty", "unset", "missing", "invalid", "expired", "revoked", "redacted", "hidden",
		"masked", "secret", "secrets", "password", "passwd", "token", "tokens", "identifier", "inherit", "changed", "disabled",
		"enabled", "example", "placeholder", "changeme", "prompt", "cookie", "session", "bearer", "header", "headers", "return",
	} {
		all[w] = true
	}
	return all
}()

// isPath reports whether v names a file or an address.
func isPath(v []byte) bool {
	if bytes.Contains(v, []byte("://")) || len(v) > 2 && v[1] == ':' && (v[2] == '\\' || v[2] == '/') {
		return true
	}
	if bytes.HasPrefix(v, []byte("./")) || bytes.HasPrefix(v, []byte("../")) || bytes.HasPrefix(v, []byte("~/")) {
		return true
	}
	return v[0] == '/' && !bytes.ContainsAny(v, "+=") && bytes.IndexByte(v[1:], '/') >= 0
}

// isReference reports whether v is a path of identifiers, such as config.Token or os.environ.KEY.
func isReference(v []byte) bool {
	dots, fresh := 0, true
	for _, c := range v {
		switch {
		case c == '.':
			if fresh {
				return false
			}
			dots, fresh = dots+1, true
			continue
		case !isAlnum(c) && c != '_', fresh && digits[c]:
			return false
		}
		fresh = false
	}
	digit, _, _ := count(v)
	return dots > 0 && !fresh && digit <= 2
}

// isNamed reports whether v is made of words and small numbers, such as my-app-secret-v2.
func isNamed(v []byte) bool {
	parts := bytes.FieldsFunc(v, func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == '/' || r == ':' })
	if len(parts) < 2 {
		return false
	}
	for _, p := range parts {
		if !isNumbered(p) {
			return false
		}
	}
	return true
}

// isIdentifier reports whether v might be a name in a program, such as test2048Key: letters, and few
// numbers among them. Random letters have many.
func isIdentifier(v []byte) bool {
	runs := 0
	for i, c := range v {
		switch {
		case !isAlnum(c) && c != '_' || i == 0 && digits[c]:
			return false
		case digits[c] && !digits[v[i-1]]:
			runs++
		}
	}
	return runs < 3
}

// isNumbered reports whether v is an identifier that ends in a small number, such as token2.
func isNumbered(v []byte) bool {
	i := 0
	for i < len(v) && (isAlnum(v[i]) && !digits[v[i]] || v[i] == '_') {
		i++
	}
	rest := v[i:]
	digit, _, _ := count(rest)
	return digit == len(rest) && digit <= 3
}

// isDate reports whether v begins as a date or a version does, or names a hash.
func isDate(v []byte) bool {
	if len(v) > 4 && digits[v[0]] && digits[v[1]] && digits[v[2]] && digits[v[3]] && v[4] == '-' {
		return true
	}
	return bytes.HasPrefix(v, []byte("sha1")) || bytes.HasPrefix(v, []byte("sha256")) || bytes.HasPrefix(v, []byte("sha512"))
}
