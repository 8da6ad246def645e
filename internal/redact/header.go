package redact

import "bytes"

const urlMost = 512 // the longest name and password in a URL

// urlEnd is what ends the part of a URL that may hold a password.
var urlEnd = set("/?#\"'`<>\\ \t\r\n,;()|{}[]")

// lookURL finds the password of scheme://user:password@host, or a token that stands in the user's place.
func lookURL(t text, _, after int) verdict {
	colon, amp, pos := -1, -1, after
	for ; ; pos++ {
		if pos == len(t.b) {
			if !t.last {
				return verdict{answer: more, from: after}
			}
			break
		}
		if pos-after == urlMost {
			return verdict{}
		}
		c := t.b[pos]
		if urlEnd[c] {
			break
		}
		if c == ':' && colon < 0 && amp < 0 {
			colon = pos
		}
		if c == '@' {
			amp = pos // the last one counts: some passwords hold one that ought to be escaped
		}
	}
	switch {
	case amp < 0:
		return verdict{}
	case colon >= 0:
		if amp-colon < 2 || isPlaceholder(t.b[colon+1:amp]) {
			return verdict{}
		}
		return verdict{answer: yes, from: colon + 1, to: amp}
	case amp-after >= 20 && mixed(t.b[after:amp]):
		return verdict{answer: yes, from: after, to: amp}
	}
	return verdict{}
}

var (
	headerSpace = set(" \t\"'`:=,[\\>")
	schemeWord  = set("0-9", "a-z", "A-Z")
)

// schemes are the words before the credential of an Authorization header.
var schemes = [][]byte{[]byte("basic"), []byte("bearer"), []byte("token"), []byte("apikey"), []byte("negotiate"), []byte("bot"), []byte("key")}

// lookHeader finds the credential of an Authorization header, as HTTP, JSON or a command writes it.
func lookHeader(t text, _, after int) verdict {
	const mostSpace, mostScheme, least, leastBare = 12, 12, 6, 16
	pos, open := t.run(after, headerSpace, mostSpace)
	if open {
		return verdict{answer: more, from: pos}
	}
	if !bytes.ContainsAny(t.b[after:pos], ":=>,") {
		return verdict{}
	}
	word, open := t.run(pos, schemeWord, mostScheme)
	if open {
		return verdict{answer: more, from: pos}
	}
	value := word
	for ; value < len(t.b) && t.b[value] == ' ' && value-word < 4; value++ {
	}
	if value == len(t.b) {
		return t.unsettled(pos)
	}
	if value == word || !isScheme(t.b[pos:word]) {
		to, open := t.run(pos, graph, leastBare)
		if open {
			return verdict{answer: more, from: pos}
		}
		if to-pos < leastBare || !mixed(t.b[pos:to]) {
			return verdict{}
		}
		return verdict{answer: flows, from: pos, to: to}
	}
	to, open := t.run(value, graph, least)
	if open {
		return verdict{answer: more, from: value}
	}
	if to-value < least {
		return verdict{}
	}
	return verdict{answer: flows, from: value, to: to}
}

func isScheme(b []byte) bool {
	for _, s := range schemes {
		if bytes.EqualFold(s, b) {
			return true
		}
	}
	return false
}

// lookBearer finds a token behind the word Bearer, wherever it stands.
func lookBearer(t text, _, after int) verdict {
	const least = 20
	to, open := t.run(after, graph, least)
	if open {
		return verdict{answer: more, from: after}
	}
	if to-after < least || !mixed(t.b[after:to]) {
		return verdict{}
	}
	return verdict{answer: flows, from: after, to: to}
}
