package redact

// shape is how a kind of credential looks. Where one of its marks stands, look decides.
type shape struct {
	kind  string
	label int // of the Redactor that it is in
	marks []string
	look  func(t text, at, after int) verdict // the mark is t.b[at:after]
	flow  func(t text, from int, f *flow) (to int, ended bool)
	// alone: a flow remembers more than its mode. Two flows that do not end together where they meet.
	alone bool
}

// text is what there is to look at. Unless last, more may follow b; a look that reaches the end of b
// must then answer more, or the answer would depend on how the text was cut.
type text struct {
	b    []byte
	last bool
}

// verdict is what a look found. A look reads a bounded length, and begins where no earlier look of the
// same shape has read, or time would not stay linear.
type verdict struct {
	answer
	from, to int // what to hide; for more, from is where a secret could begin
	mode     int // for flow
}

type answer uint8

const (
	no    answer = iota
	more         // it depends on what follows
	yes          // [from, to) is to be hidden
	flows        // [from, to) is, and what follows as far as flow says
)

// flow is what a flow remembers from one piece of text to the next.
type flow struct{ mode, steps int }

// unsettled is the verdict on text that ended too early.
func (t text) unsettled(from int) verdict {
	if t.last {
		return verdict{}
	}
	return verdict{answer: more, from: from}
}

// run finds where the letters of set end, reading at most limit of them. open says that more of
// them may follow.
func (t text) run(from int, set *letters, limit int) (to int, open bool) {
	end := min(len(t.b), from+limit)
	for to = from; to < end && set[t.b[to]]; to++ {
	}
	return to, to == len(t.b) && to < from+limit && !t.last
}

// has reports whether s stands at a position; open says that it may, once more follows.
func (t text) has(at int, s string) (found, open bool) {
	for i := range len(s) {
		if at+i >= len(t.b) {
			return false, !t.last
		}
		if t.b[at+i] != s[i] {
			return false, false
		}
	}
	return true, false
}

// letters is a set of bytes.
type letters [256]bool

func set(ranges ...string) *letters {
	var l letters
	for _, r := range ranges {
		if len(r) == 3 && r[1] == '-' {
			for c := int(r[0]); c <= int(r[2]); c++ {
				l[c] = true
			}
			continue
		}
		for i := range len(r) {
			l[r[i]] = true
		}
	}
	return &l
}

// The sets that tokens are made of.
var (
	digits   = set("0-9")
	lowerHex = set("0-9", "a-f")
	anyHex   = set("0-9", "a-f", "A-F")
	alnum    = set("0-9", "a-z", "A-Z")
	word     = set("0-9", "a-z", "A-Z", "_-")
	dotted   = set("0-9", "a-z", "A-Z", "._-")
	base64s  = set("0-9", "a-z", "A-Z", "+/=")
	pathlike = set("0-9", "a-z", "A-Z", "_-/@.")
	bech32   = set("0-9", "A-Z")
	escaped  = set("0-9", "a-z", "A-Z", "%+/=")
	graph    = set("0-9", "a-z", "A-Z", "_-.~+/=")
	tilde    = set("0-9", "a-z", "A-Z", "_-.~")
)

func isAlnum(c byte) bool { return alnum[c] }

// starts reports whether a token may begin at a position: not in the middle of a longer word. The n
// of an escaped newline and the digits of %3D are no part of a word.
func (t text) starts(at int, inside *letters) bool {
	if at == 0 || !inside[t.b[at-1]] {
		return true
	}
	if at >= 2 && t.b[at-2] == '\\' {
		return t.b[at-1] == 'n' || t.b[at-1] == 't' || t.b[at-1] == 'r'
	}
	return at >= 3 && t.b[at-3] == '%' && anyHex[t.b[at-2]] && anyHex[t.b[at-1]]
}

// count tells the digits, the capitals and the small letters of b.
func count(b []byte) (digit, upper, lower int) {
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			digit++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		}
	}
	return digit, upper, lower
}

// along makes a flow of all the letters of a set.
func along(set *letters) func(text, int, *flow) (int, bool) {
	return func(t text, from int, _ *flow) (int, bool) {
		to, open := t.run(from, set, len(t.b))
		return to, !open
	}
}
