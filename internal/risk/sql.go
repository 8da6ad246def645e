package risk

import "slices"

// SQL reports what SQL statements may do that cannot be taken back, in the order of the text.
func SQL(text string) []Finding {
	s := newScan(text)
	s.sql(script{text: text}, 0)
	return s.sorted()
}

// sql judges every statement of a text.
func (s *scan) sql(sc script, level int) {
	if level > maxWrapping {
		s.add(tooDeep, sc.origin(0), sc.origin(len(sc.text)))
		return
	}
	all := tokens(sc.text)
	from, body := 0, false // body: inside a routine that is being defined, not run
	for i := 0; i <= len(all); i++ {
		if i < len(all) && !(all[i].text == ";" && !all[i].str) {
			continue
		}
		st := statement{s, sc, all[from:i], level}
		from = i + 1
		st.skip("BEGIN", "THEN", "ELSE", "LOOP", "DECLARE")
		switch {
		case body:
			body = !st.starts("END")
		case st.defines():
			body = st.has("BEGIN") && !st.has("END")
		default:
			st.judge()
		}
	}
}

// statement is one statement, without its semicolon.
type statement struct {
	*scan
	in    script
	words []token
	level int
}

func (st *statement) skip(words ...string) {
	for len(st.words) > 0 && !st.words[0].str && slices.Contains(words, st.words[0].text) {
		st.words = st.words[1:]
	}
}

func (st *statement) word(i int) string {
	if i < 0 || i >= len(st.words) || st.words[i].str {
		return ""
	}
	return st.words[i].text
}

func (st *statement) starts(words ...string) bool { return st.at(0, words...) }

func (st *statement) at(i int, words ...string) bool {
	for k, w := range words {
		if st.word(i+k) != w {
			return false
		}
	}
	return true
}

func (st *statement) has(words ...string) bool {
	for i := range st.words {
		if st.at(i, words...) {
			return true
		}
	}
	return false
}

func (st *statement) found(v verdict, from int) {
	at := st.in.origin(st.words[from].at)
	st.add(v, at, st.in.origin(st.words[len(st.words)-1].end-1)+1)
}

// defines reports whether the statement makes a routine, whose body runs another day.
func (st *statement) defines() bool {
	if !st.starts("CREATE") && !st.starts("ALTER") {
		return false
	}
	for i := 1; i < min(len(st.words), 8); i++ {
		switch st.word(i) {
		case "FUNCTION", "PROCEDURE", "TRIGGER", "EVENT", "RULE":
			return true
		case "TABLE", "INDEX", "VIEW", "DATABASE", "SCHEMA", "USER", "ROLE", "SYSTEM":
			return false
		}
	}
	return false
}

// judge says what the statement does: by its first word, and then by the writes inside it.
func (st *statement) judge() {
	if st.starts("EXPLAIN") {
		if !st.has("ANALYZE") && !st.has("ANALYSE") {
			return
		}
		st.skip("EXPLAIN", "ANALYZE", "ANALYSE", "VERBOSE")
		for st.starts("(") || len(st.words) > 0 && st.words[0].depth > 0 || st.starts(")") {
			st.words = st.words[1:]
		}
	}
	if len(st.words) == 0 {
		return
	}
	if st.runsText() || st.leads() {
		return
	}
	st.rows()
}

// begins reports whether a statement can begin at i: at the start, in parentheses, or after those of WITH.
func (st *statement) begins(i int) bool {
	if i == 0 {
		return true
	}
	prev := st.word(i - 1)
	return prev == "(" || prev == ")" && st.starts("WITH") && st.words[i].depth == 0
}

var (
	deleteAll  = verdict{"sql-delete-all", Deletion, Critical, "deletes every row of a table"}
	deleteSome = verdict{"sql-delete", Deletion, Moderate, "deletes rows of a table"}
	updateAll  = verdict{"sql-update-all", Migration, Critical, "changes every row of a table"}
	updateSome = verdict{"sql-update", Migration, Moderate, "changes rows of a table"}
)

// rows judges every DELETE and UPDATE in the statement by whether a condition limits it. One may stand
// inside another, so those whose condition is still to come wait, the innermost last.
func (st *statement) rows() {
	var open []int
	settle := func(i int, limited bool) {
		v := map[string][2]verdict{"DELETE": {deleteAll, deleteSome}, "UPDATE": {updateAll, updateSome}}[st.word(i)]
		if limited {
			st.found(v[1], i)
		} else {
			st.found(v[0], i)
		}
	}
	for i := range st.words {
		for n := len(open); n > 0 && st.words[i].depth < st.words[open[n-1]].depth; n = len(open) {
			settle(open[n-1], false)
			open = open[:n-1]
		}
		w, n := st.word(i), len(open)
		switch {
		case (w == "DELETE" || w == "UPDATE") && st.begins(i):
			open = append(open, i)
		case n > 0 && st.words[i].depth == st.words[open[n-1]].depth && (w == "LIMIT" || w == "WHERE" && !st.always(i+1)):
			settle(open[n-1], true)
			open = open[:n-1]
		}
	}
	for _, i := range open {
		settle(i, false)
	}
}

// always reports whether the condition at i holds for every row: TRUE, 1, 1=1.
func (st *statement) always(i int) bool {
	rest := st.words[min(i, len(st.words)):]
	ends := func(n int) bool {
		return len(rest) == n || len(rest) > n && (rest[n].text == "RETURNING" || rest[n].text == ")")
	}
	switch {
	case len(rest) == 0:
		return true
	case rest[0].text == "TRUE" || rest[0].text == "1" || rest[0].text == "NOT" && len(rest) > 1 && rest[1].text == "FALSE":
		if ends(1) || rest[0].text == "NOT" && ends(2) {
			return true
		}
	}
	return len(rest) >= 3 && rest[1].text == "=" && rest[0].text == rest[2].text && rest[0].str == rest[2].str && ends(3)
}

// runsText looks into strings that a statement runs.
func (st *statement) runsText() bool {
	switch st.word(0) {
	case "DO", "EXECUTE", "EXEC", "PREPARE":
	default:
		return false
	}
	for _, w := range st.words {
		if w.str && w.end-w.at > 2 {
			from := w.at + (w.end-w.at-len(w.text))/2
			st.sql(st.in.slice(from, from+len(w.text)), st.level+1)
		}
	}
	if st.has("XP_CMDSHELL") {
		st.found(sqlProgram, 0)
	}
	return true
}
