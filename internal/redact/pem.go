package redact

import "bytes"

const (
	pemLabel = 48      // the longest between BEGIN and the dashes
	pemSkip  = 48      // what may stand between the dashes and the key: newlines, quotes, indentation
	pemLeast = 16      // letters of the first line
	pemMost  = 1 << 16 // the longest key
)

var (
	pemWords = set("A-Z", "0-9", " ")
	pemSpace = set(" \t\r\n\"'`+,>|\\-")
	pemBody  = set("0-9", "a-z", "A-Z", "+/=\r\n\t\"'`,\\:.()@")
	pemHead  = set("0-9", "a-z", "A-Z", "-")
	private  = []byte("PRIVATE KEY")
)

// lookPEM recognises the beginning of a private key: of RSA, EC, DSA, OpenSSH, PGP, encrypted or not.
// A key is hidden as it comes: its end may be long in coming, or be cut off.
func lookPEM(t text, at, after int) verdict {
	to, open := t.run(after, pemWords, pemLabel)
	if open {
		return verdict{answer: more, from: at}
	}
	if !bytes.Contains(t.b[after:to], private) {
		return verdict{}
	}
	dashes, open := t.has(to, "-----")
	if open {
		return verdict{answer: more, from: at}
	}
	if !dashes {
		return verdict{}
	}
	pos := to + 5
	for end := pos + pemSkip; pos < end; pos++ {
		if pos == len(t.b) {
			return t.unsettled(at)
		}
		if c := t.b[pos]; !pemSpace[c] && (c != 'n' && c != 'r' || t.b[pos-1] != '\\') {
			break
		}
	}
	if to, open = t.run(pos, base64s, pemLeast); open {
		return verdict{answer: more, from: at}
	}
	if to-pos < pemLeast { // no key yet; perhaps a heading
		if to, open = t.run(pos, pemHead, pemLeast); open || to == len(t.b) {
			return t.unsettled(at)
		}
		if to-pos < 4 || t.b[to] != ':' {
			return verdict{}
		}
	}
	return verdict{answer: flows, from: at, to: pos}
}

// The modes of flowPEM. The zero mode is the beginning of a line.
const (
	pemMargin = iota
	pemLine
	pemHeading // a line with a colon may have spaces
	pemDash
	pemEnd
	pemDone
)

// flowPEM follows a key to the dashes behind END, or to the first letter that no key has.
func flowPEM(t text, from int, f *flow) (int, bool) {
	for i := from; i < len(t.b); i++ {
		c := t.b[i]
		f.steps++
		switch {
		case f.mode == pemDone && c != '-', f.steps > pemMost:
			return i, true
		case f.mode == pemEnd || f.mode == pemDone:
			if c == '-' {
				f.mode = pemDone
			} else if !pemWords[c] {
				return i, true
			}
		case c == '-' && f.mode != pemHeading:
			f.mode = pemDash
		case f.mode == pemDash && c == 'E' && bytes.HasSuffix(t.b[:i], []byte("-----")):
			f.mode = pemEnd
		case c == '\n' || c == '\\':
			f.mode = pemMargin
		case c == ':':
			f.mode = pemHeading
		case c == ' ' && f.mode == pemLine, !pemBody[c] && c != ' ' && !(f.mode == pemHeading && (c == '-' || c == '<' || c == '>')):
			return i, true
		case c != ' ' && c != '\t' && f.mode != pemHeading:
			f.mode = pemLine
		}
	}
	return len(t.b), t.last
}
