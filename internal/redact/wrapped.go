package redact

// Base64 is often cut into lines of 64 or 76 letters, and a value in it falls where it may. Its first
// letters, with a line break anywhere among them, are the marks of a shape of its own.

const (
	wrappedMark = 6  // letters of a mark
	wrappedSkip = 2  // letters that may stay
	wrappedGap  = 40 // the widest break and indentation between two letters
)

// wrapped makes the shapes of what base64 makes of a value, cut into lines. Where the cut comes after one or two
// letters and an indented line follows, those letters stay: looking for so little would be looking everywhere.
func wrapped(encoded string, label int) []shape {
	if len(encoded) < wrappedSkip+wrappedMark {
		return nil
	}
	marks := []string{encoded[:wrappedMark]}
	for _, lineBreak := range []string{"\n", "\r\n", `\n`} {
		for i := 1; i < wrappedMark; i++ {
			marks = append(marks, encoded[:i]+lineBreak+encoded[i:wrappedMark])
			if i > wrappedSkip {
				marks = append(marks, encoded[:i]+lineBreak+" ", encoded[:i]+lineBreak+"\t")
			}
		}
	}
	spell := func(s string, marks ...string) shape {
		return shape{marks: marks, label: label, look: func(t text, at, _ int) verdict { return t.spells(at, s) }}
	}
	rest := encoded[wrappedSkip:]
	return []shape{spell(encoded, marks...), spell(rest, rest[:wrappedMark])}
}

// spells compares text with s, leaving out line breaks and the indentation behind them.
func (t text) spells(at int, s string) verdict {
	pos := at
	for i := range len(s) {
		end := min(pos+wrappedGap, len(t.b))
		for start := pos; pos < end && t.breaks(pos, start); pos++ {
			if t.b[pos] == '\\' {
				pos++ // and the n of \n
			}
		}
		if pos >= len(t.b) {
			return t.unsettled(at)
		}
		if t.b[pos] != s[i] {
			return verdict{}
		}
		pos++
	}
	return verdict{answer: yes, from: at, to: pos}
}

// breaks reports whether the letter at pos belongs to a line break, or to the indentation behind the one
// that began at start.
func (t text) breaks(pos, start int) bool {
	switch t.b[pos] {
	case '\n', '\r', '\\':
		return true
	case ' ', '\t':
		return pos > start
	}
	return false
}
