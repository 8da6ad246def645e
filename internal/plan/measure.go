package plan

import (
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/plan/source"
)

func (d *decoder) duration(n source.Node, key string) Duration {
	v, err := ParseDuration(n.Text)
	if n.Kind == source.String && err == nil {
		return v
	}
	switch {
	case n.Kind == source.Number && n.Text == "0":
		return 0
	case n.Kind == source.Number:
		d.fault(n, CodeDuration, "write "+n.Text+"s, "+n.Text+"m or "+n.Text+"h", "%s is %s without a unit", key, n.Text)
	case n.Kind != source.String:
		d.wrong(n, key, "a duration, such as 90s, 10m, 2h30m or 3d")
	default:
		d.fault(n, CodeDuration, "write a duration such as 90s, 10m, 2h30m or 3d", "%s: %v", key, err)
	}
	return 0
}

func (d *decoder) money(n source.Node, key string) Money {
	v, err := ParseMoney(n.Text)
	if n.Kind == source.String && err == nil {
		return v
	}
	switch {
	case n.Kind == source.Number:
		d.fault(n, CodeMoney, "write "+n.Text+" USD", "%s is %s without a currency", key, n.Text)
	case n.Kind != source.String:
		d.wrong(n, key, "an amount of money, such as 5 USD")
	default:
		d.fault(n, CodeMoney, "write an amount and a currency, such as 5 USD or 0.25 EUR", "%s: %v", key, err)
	}
	return Money{}
}

func (d *decoder) backoff(n source.Node, key string) Backoff {
	v, err := ParseBackoff(n.Text)
	switch {
	case n.Kind != source.String:
		d.wrong(n, key, "a duration or a range, such as 2s..30s")
	case err != nil:
		d.fault(n, CodeDuration, "write a duration or a range, such as 2s..30s", "%s: %v", key, err)
	}
	return v
}

// special reads keys that are no field of their own, and reports whether key is one.
func (d *decoder) special(key, value source.Node, into any) bool {
	switch v := into.(type) {
	case *Plan:
		if key.Text == "gates" && !d.trust {
			d.gates = list(d, value, "gates", func(n source.Node, _ int) source.Node { return n })
			return true
		}
	case *Task:
		if key.Text == "on_success" || key.Text == "on_failure" {
			if v.Next == nil {
				v.Next = &Next{}
			}
			d.route(value, strings.TrimPrefix(key.Text, "on_"), v.Next)
			return true
		}
	case *Budget:
		return d.specialBudget(key, value, v)
	}
	return false
}

func (d *decoder) specialBudget(key, value source.Node, b *Budget) bool {
	as := value
	switch key.Text {
	case "timeMin", "time_min":
		if as.Kind == source.Number {
			as.Kind, as.Text = source.String, as.Text+"m"
		}
		b.Time = d.duration(as, key.Text)
	case "costUSD", "cost_usd":
		if as.Kind == source.Number {
			as.Kind, as.Text = source.String, as.Text+" USD"
		}
		b.Cost = d.money(as, key.Text)
	default:
		return false
	}
	return true
}

// kind reads the kind of a task. Several left open are taken as the first.
func (d *decoder) kind(n source.Node) Kind {
	if n.Kind != source.String {
		d.wrong(n, "kind", "a word, one of "+kindList())
		return ""
	}
	if d.trust {
		return Kind(n.Text)
	}
	first, _, open := strings.Cut(n.Text, "|")
	if k := Kind(strings.TrimSpace(first)); slices.Contains(Kinds, k) {
		if open {
			d.warn(n, WarnOpen, "choose one", "the kind is left open (%s) and taken as %s", n.Text, k)
		}
		return k
	}
	remedy := "write one of " + kindList()
	if near := nearest(n.Text, kindNames); near != "" {
		remedy = "did you mean " + near + "?"
	}
	d.fault(n, CodeKind, remedy, "there is no kind %q", n.Text)
	return ""
}

func kindNames(yield func(string) bool) {
	for _, k := range Kinds {
		if !yield(string(k)) {
			return
		}
	}
}

func kindList() string { return strings.Join(slices.Collect(kindNames), ", ") }
