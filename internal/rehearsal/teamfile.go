package rehearsal

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/plan/source"
)

var roleKeys = []string{"people", "response", "hours", "days", "approve"}

// ParseTeam reads a team file: a map of roles. What a role leaves out is that of the role anyone in the file or, if that is
// silent too, of the default team.
func ParseTeam(file string, text []byte) (Team, error) {
	root, problems := source.Read(source.FormOf(file, text), text)
	if len(problems) > 0 {
		return nil, fault.New(fault.Invalid, "%s:%d: %s", file, problems[0].Line, problems[0].Msg).Remedy("mend the team file")
	}
	f := teamFile{file}
	roles, ok := root.Get("roles")
	if !ok || roles.Kind != source.Map || root.Len() != 1 {
		return nil, f.wrong(root, "a team is a map with the one key roles").Remedy("write roles: {reviewer: {people: [ann], response: 1h}}")
	}
	t := DefaultTeam()
	if n, ok := roles.Get(Anyone); ok {
		if err := f.role(t, Anyone, n); err != nil {
			return nil, err
		}
	}
	for i := range roles.Len() {
		key, value := roles.Entry(i)
		if key.Text == Anyone {
			continue
		}
		if err := f.role(t, key.Text, value); err != nil {
			return nil, err
		}
	}
	return t, nil
}

type teamFile struct{ name string }

func (f teamFile) wrong(n source.Node, format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, "%s:%d: "+format, append([]any{f.name, n.Line}, args...)...)
}

func (f teamFile) role(t Team, name string, n source.Node) error {
	r := t[Anyone]
	r.People = nil
	if n.Kind != source.Map {
		return f.wrong(n, "the role %s is no map", name).Remedy("write %s: {response: 1h}", name)
	}
	for i := range n.Len() {
		key, value := n.Entry(i)
		wants, known := r.set(key.Text, value)
		if !known {
			remedy := "a role has " + strings.Join(roleKeys, ", ")
			if near := fault.Nearest(key.Text, roleKeys); near != "" {
				remedy = "did you mean " + near + "?"
			}
			return f.wrong(key, "the role %s has a key %q, which means nothing", name, key.Text).Remedy("%s", remedy)
		}
		if wants != "" {
			return f.wrong(value, "%s of %s is not %s", key.Text, name, wants).Remedy("see docs/rehearsal.md for what a team file says")
		}
	}
	t[name] = r
	return nil
}

// set takes one key of a role. wants says what should have stood there; it is empty when all is well.
func (r *Role) set(key string, v source.Node) (wants string, known bool) {
	var ok bool
	switch key {
	case "people":
		r.People, ok = texts(v)
		wants = "a list of different names"
	case "response":
		d, err := plan.ParseDuration(v.Text)
		r.Response, ok = d.D(), err == nil
		wants = "a duration such as 2h"
	case "hours":
		r.From, r.To, ok = parseHours(v.Text)
		wants = "a range of hours such as 9-17"
	case "days":
		r.Days, ok = parseDays(v.Text)
		wants = "a range of days such as mon-fri"
	case "approve":
		r.Approve, ok = parseShare(v.Text)
		wants = "a share such as 90%"
	default:
		return "", false
	}
	if ok {
		wants = ""
	}
	return wants, true
}

func texts(n source.Node) (all []string, ok bool) {
	seen := map[string]bool{}
	for _, item := range n.Items {
		if item.Kind != source.String || item.Text == "" || seen[item.Text] {
			return nil, false
		}
		seen[item.Text] = true
		all = append(all, item.Text)
	}
	return all, n.Kind == source.List && len(all) > 0
}

// parseHours reads 9-17 or 8:30-12.
func parseHours(s string) (from, to time.Duration, ok bool) {
	a, b, _ := strings.Cut(s, "-")
	from, okFrom := parseClock(a)
	to, okTo := parseClock(b)
	return from, to, okFrom && okTo && from < to
}

func parseClock(s string) (time.Duration, bool) {
	h, m, minutes := strings.Cut(strings.TrimSpace(s), ":")
	hours, err := strconv.Atoi(h)
	at := time.Duration(hours) * time.Hour
	if err == nil && minutes {
		var n int
		n, err = strconv.Atoi(m)
		at += time.Duration(n) * time.Minute
	}
	return at, err == nil && at >= 0 && at <= 24*time.Hour
}

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// parseDays reads mon-fri, or sat.
func parseDays(s string) (days [7]bool, ok bool) {
	a, b, ranged := strings.Cut(strings.ToLower(s), "-")
	if !ranged {
		b = a
	}
	from, to := slices.Index(weekdays, strings.TrimSpace(a)), slices.Index(weekdays, strings.TrimSpace(b))
	if from < 0 || to < 0 {
		return days, false
	}
	for d := from; ; d = (d + 1) % 7 {
		days[d] = true
		if d == to {
			return days, true
		}
	}
}
