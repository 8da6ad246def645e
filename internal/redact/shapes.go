package redact

// shapes lists every kind of credential that is told by its look, in order of precedence: where two
// begin together, the more telling one names them.
var shapes = func() (all []shape) {
	for _, t := range tokens {
		all = append(all, t.shape())
	}
	all = append(all,
		shape{kind: "private key", marks: []string{"-----BEGIN "}, look: lookPEM, flow: flowPEM, alone: true},
		shape{kind: "aws secret key", marks: []string{"AKIA", "ASIA"}, look: lookAWS},
		shape{kind: "jwt", marks: []string{"eyJ"}, look: lookJWT, flow: along(dotted)},
		shape{kind: "discord token", marks: discordMarks(), look: lookDiscord},
		shape{kind: "telegram token", marks: []string{":AA"}, look: lookTelegram},
		shape{kind: "azure client secret", marks: []string{"0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"}, look: lookAzure},
		shape{kind: "url password", marks: []string{"://"}, look: lookURL},
		shape{kind: "authorization", marks: []string{"uthorization", "UTHORIZATION"}, look: lookHeader, flow: along(graph)},
		shape{kind: "bearer token", marks: []string{"Bearer ", "bearer ", "BEARER "}, look: lookBearer, flow: along(graph)},
	)
	for _, k := range keys {
		all = append(all, k.shape())
	}
	return all
}()

// lookJWT: header.payload.signature, where header and payload are JSON.
func lookJWT(t text, at, after int) verdict {
	const leastPart, mostHeader = 8, 1024
	if !t.starts(at, dotted) {
		return verdict{}
	}
	to, open := t.run(after, word, mostHeader)
	if open {
		return verdict{answer: more, from: at}
	}
	if to-after < leastPart {
		return verdict{}
	}
	found, open := t.has(to, ".eyJ")
	if open {
		return verdict{answer: more, from: at}
	}
	if !found {
		return verdict{}
	}
	end, open := t.run(to+4, word, leastPart)
	if open {
		return verdict{answer: more, from: at}
	}
	if end-to-4 < leastPart {
		return verdict{}
	}
	return verdict{answer: flows, from: at, to: end}
}

// discordMarks: a bot's token begins with the base64 of its number, and all numbers begin like these.
func discordMarks() (all []string) {
	for _, a := range "MNO" {
		for _, b := range "DTjz" {
			for _, c := range "AEIMQUYcgk" {
				all = append(all, string([]rune{a, b, c}))
			}
		}
	}
	return all
}

// lookDiscord: the number, a time and a signature.
func lookDiscord(t text, at, _ int) verdict {
	if !t.starts(at, dotted) {
		return verdict{}
	}
	pos := at
	for i, part := range [][2]int{{24, 28}, {6, 7}, {27, 45}} {
		if i > 0 {
			if found, open := t.has(pos, "."); open {
				return verdict{answer: more, from: at}
			} else if !found {
				return verdict{}
			}
			pos++
		}
		to, open := t.run(pos, word, part[1]+1)
		if open {
			return verdict{answer: more, from: at}
		}
		if to-pos < part[0] || to-pos > part[1] {
			return verdict{}
		}
		pos = to
	}
	if !mixed(t.b[at:pos]) {
		return verdict{}
	}
	return verdict{answer: yes, from: at, to: pos}
}

// lookTelegram: the number of a bot, a colon, and 35 letters of which the first two are AA.
func lookTelegram(t text, at, after int) verdict {
	const length = 33
	first := at
	for first > 0 && at-first <= 12 && digits[t.b[first-1]] {
		first--
	}
	if n := at - first; n < 6 || n > 12 {
		return verdict{}
	}
	to, open := t.run(after, word, length+1)
	if open {
		return verdict{answer: more, from: at + 1}
	}
	if to-after != length {
		return verdict{}
	}
	return verdict{answer: yes, from: at + 1, to: to}
}

// lookAzure: three letters stand before the mark, about 34 behind it.
func lookAzure(t text, at, after int) verdict {
	const least, most = 31, 34
	if at < 3 || !tilde[t.b[at-1]] || !tilde[t.b[at-2]] || !tilde[t.b[at-3]] || !t.starts(at-3, tilde) {
		return verdict{}
	}
	to, open := t.run(after, tilde, most+1)
	if open {
		return verdict{answer: more, from: at}
	}
	if n := to - after; n < least || n > most {
		return verdict{}
	}
	return verdict{answer: yes, from: at, to: to}
}
