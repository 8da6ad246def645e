package redact

import "bytes"

const (
	awsSecret = 40  // letters of a secret access key
	awsNear   = 240 // how far behind the key's id it is looked for
)

var awsLetters = set("0-9", "a-z", "A-Z", "+/")

// lookAWS finds the secret access key that follows the id of a key. It has no mark of its own, only a
// length, so it is looked for nowhere else.
func lookAWS(t text, at, after int) verdict {
	id, open := t.run(after, bech32, 17)
	if open {
		return verdict{answer: more, from: id}
	}
	if id-after != 16 || !t.starts(at, word) {
		return verdict{}
	}
	pos, limit := id, id+awsNear
	for pos < limit {
		if isID(t.b[pos:]) {
			return verdict{} // it is looked for behind that one
		}
		to, open := t.run(pos, awsLetters, awsSecret+1)
		if open {
			return verdict{answer: more, from: pos}
		}
		if to-pos == awsSecret && isRandom(t.b[pos:to]) {
			return verdict{answer: yes, from: pos, to: to}
		}
		for to < len(t.b) && awsLetters[t.b[to]] { // too long
			if to++; to-pos > awsNear {
				return verdict{}
			}
		}
		if to == len(t.b) {
			return t.unsettled(pos)
		}
		pos = to + 1
	}
	return verdict{}
}

// isID reports whether b begins as the id of a key does, or may yet.
func isID(b []byte) bool {
	return bytes.HasPrefix(b, []byte("AKIA")) || bytes.HasPrefix(b, []byte("ASIA"))
}

// isRandom reports whether b has what 40 random letters have and a hash or a path has not.
func isRandom(b []byte) bool {
	digit, upper, lower := count(b)
	return digit > 0 && upper > 2 && lower > 2
}
