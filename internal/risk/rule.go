package risk

import (
	"slices"
	"strings"
)

// rule is a row of the tables: of the rows for a program, the first that matches speaks. So the worst
// stands first, and a row without conditions last.
type rule struct {
	verdict
	programs string            // names, separated by blanks
	verbs    string            // operands that it begins with; a|b is either, * anything
	flags    string            // at least one of these options is given
	unless   string            // options that make it harmless
	when     func(c call) bool // what else must hold
}

// harmless options make any command show what it would do instead of doing it.
var harmless = []string{"--help", "--dry-run", "--dryrun", "--version"}

func (r *rule) matches(c call, operands []word) bool {
	if !startsWith(operands, strings.Fields(r.verbs)) {
		return false
	}
	if r.flags != "" && !c.flag(strings.Fields(r.flags)...) {
		return false
	}
	if r.unless != "" && c.flag(strings.Fields(r.unless)...) {
		return false
	}
	return r.when == nil || r.when(c)
}

func startsWith(operands []word, verbs []string) bool {
	if len(operands) < len(verbs) {
		return false
	}
	for i, v := range verbs {
		if v != "*" && !slices.Contains(strings.Split(v, "|"), operands[i].text) {
			return false
		}
	}
	return true
}

// tables holds all rows, by program.
var tables = index(fileRules, gitRules, cloudRules, publishRules, machineRules, databaseRules, fetchRules)

func index(all ...[]rule) map[string][]*rule {
	by := map[string][]*rule{}
	for _, rules := range all {
		for i := range rules {
			for _, p := range strings.Fields(rules[i].programs) {
				by[p] = append(by[p], &rules[i])
			}
		}
	}
	return by
}

// judge finds the row that speaks for a call. A dry run is no run, unless it is said to be none.
func judge(c call) (verdict, bool) {
	rules := tables[c.name]
	if len(rules) == 0 || c.rehearses() {
		return verdict{}, false
	}
	operands := c.operands()
	for _, r := range rules {
		if r.matches(c, operands) {
			return r.verdict, true
		}
	}
	return verdict{}, false
}

// rehearses reports whether a call only shows what it would do.
func (c call) rehearses() bool {
	for _, a := range c.args() {
		if a.text == "--" {
			return false
		}
		before, value, _ := strings.Cut(a.text, "=")
		if slices.Contains(harmless, before) && value != "none" && value != "false" {
			return true
		}
	}
	return false
}

// anyOperand makes a condition: one of the operands is one of these.
func anyOperand(names string) func(call) bool {
	wanted := set(names)
	return func(c call) bool {
		return slices.ContainsFunc(c.operands(), func(w word) bool { return wanted[w.text] })
	}
}

// anyPrefix makes a condition: the operand at index begins with one of these.
func anyPrefix(i int, prefixes string) func(call) bool {
	wanted := strings.Fields(prefixes)
	return func(c call) bool {
		ops := c.operands()
		return i < len(ops) && slices.ContainsFunc(wanted, func(p string) bool { return strings.HasPrefix(ops[i].text, p) })
	}
}
