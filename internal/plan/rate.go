package plan

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/plan/source"
)

// Rate is how often something may begin: at most Times in any stretch of Per. People write 10/min.
type Rate struct {
	Times int
	Per   time.Duration
}

// rateUnits are what a rate may be counted by, in the order in which they are named.
var rateUnits = []struct {
	name string
	is   time.Duration
}{{"s", time.Second}, {"min", time.Minute}, {"h", time.Hour}, {"day", 24 * time.Hour}}

// rateWords are units as others write them, and what they mean.
var rateWords = map[string]string{"sec": "s", "second": "s", "seconds": "s", "m": "min", "minute": "min", "minutes": "min",
	"hr": "h", "hour": "h", "hours": "h", "d": "day", "days": "day"}

// maxTimes bounds a rate: every start of the stretch is remembered.
const maxTimes = 1_000_000

// ParseRate reads 10/min: a number from 1 on, and one of s, min, h and day.
func ParseRate(s string) (Rate, error) {
	count, unit, _ := strings.Cut(s, "/")
	n, err := strconv.Atoi(strings.TrimSpace(count))
	if err != nil || n < 1 || n > maxTimes {
		return Rate{}, fmt.Errorf("%q is no rate", s)
	}
	for _, u := range rateUnits {
		if strings.TrimSpace(unit) == u.name {
			return Rate{n, u.is}, nil
		}
	}
	return Rate{}, fmt.Errorf("%q is no rate", s)
}

func (r Rate) String() string {
	for _, u := range rateUnits {
		if u.is == r.Per {
			return strconv.Itoa(r.Times) + "/" + u.name
		}
	}
	return strconv.Itoa(r.Times) + "/" + r.Per.String()
}

// MarshalText implements encoding.TextMarshaler.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// rates reads limits by what they are for.
func (d *decoder) rates(n source.Node, key string) map[string]Rate {
	if n.Kind != source.Map {
		d.wrong(n, key, "a map, such as {api.example.com: 10/min}")
		return nil
	}
	out := make(map[string]Rate, n.Len())
	for i := range n.Len() {
		to, v := n.Entry(i)
		out[to.Text] = d.rate(v, key+"."+to.Text)
	}
	return out
}

func (d *decoder) rate(n source.Node, key string) Rate {
	v, err := ParseRate(n.Text)
	switch {
	case n.Kind == source.Number:
		d.fault(n, CodeRate, "write "+n.Text+"/s, "+n.Text+"/min, "+n.Text+"/h or "+n.Text+"/day", "%s is %s, and does not say in how long", key, n.Text)
	case n.Kind != source.String:
		d.wrong(n, key, "a rate, such as 10/min")
	case err != nil:
		d.fault(n, CodeRate, rateRemedy(n.Text), "%s: %v", key, err)
	}
	return v
}

// rateRemedy tells what somebody who wrote no rate may have meant.
func rateRemedy(text string) string {
	count, unit, _ := strings.Cut(text, "/")
	count, unit = strings.TrimSpace(count), strings.ToLower(strings.TrimSpace(unit))
	meant := rateWords[unit]
	if meant == "" {
		meant = rateWords[nearest(unit, maps.Keys(rateWords))]
	}
	if _, err := ParseRate(count + "/" + meant); err == nil {
		return "did you mean " + count + "/" + meant + "?"
	}
	return "write how often from 1 to 1000000, and in how long: 2/s, 10/min, 100/h or 1000/day"
}

// rates checks what limits are for: whatever names no capability, provider or host would limit nothing.
func (c *checker) rates(p *Policy, policy source.Node) {
	n, _ := policy.Get("limits")
	for _, to := range slices.Sorted(maps.Keys(p.Limits)) {
		at := n
		if v, ok := n.Get(to); ok {
			at = v
		}
		if _, err := path.Match(to, ""); err != nil || strings.TrimSpace(to) != to || to == "" {
			c.fault(at, CodeRate, "name a host, a capability or a provider, with * for any characters: *.example.com, http.*", "limits: %q is no pattern", to)
			continue
		}
		if host, port, ok := strings.Cut(to, ":"); ok && !strings.Contains(port, ":") {
			c.fault(at, CodeRate, "write "+host, "limits: %q has a port, and hosts are counted without", to)
		}
	}
}

// Limit is one line of policy.limits.
type Limit struct {
	To string // the pattern: of a host, a capability or a provider
	Rate
}

// LimitsFor finds the limits that hold for a call, by the names and hosts that it reaches, in the order of their patterns.
func (p *Policy) LimitsFor(names, hosts []string) []Limit {
	if p == nil {
		return nil
	}
	var out []Limit
	for _, to := range slices.Sorted(maps.Keys(p.Limits)) {
		if slices.ContainsFunc(slices.Concat(names, hosts), func(s string) bool {
			_, hit := matches([]string{to}, s)
			return hit
		}) {
			out = append(out, Limit{to, p.Limits[to]})
		}
	}
	return out
}
