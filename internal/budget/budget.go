// Package budget is the arithmetic of spending: amounts of time, money, calls and tokens, the purse that they are set
// aside in and taken from, and the port of the ledger that all plans of a home share.
//
// What may be spent is reserved before it is, and settled after: a purse never hands out more than its limit allows,
// however many ask at once. What was reserved and never settled, because somebody died in between, stays charged in full.
// Nothing here decides what happens to whoever is refused.
package budget

import (
	"strconv"
	"time"
)

// Amount is a sum of everything that can be spent. As a limit, a zero field is no limit.
type Amount struct {
	Time     time.Duration `json:"time,omitempty"`
	Cost     int64         `json:"cost,omitempty"` // micro-units of the currency
	Currency string        `json:"currency,omitempty"`
	Calls    int64         `json:"calls,omitempty"`
	Tokens   int64         `json:"tokens,omitempty"`
}

// Unit is one of the things that can be spent.
type Unit string

// The units, in the order in which they are looked at and shown.
const (
	Calls  Unit = "calls"
	Cost   Unit = "cost"
	Tokens Unit = "tokens"
	Time   Unit = "time"
)

// Units lists them all.
var Units = []Unit{Calls, Cost, Tokens, Time}

// most is the largest figure: what JSON numbers carry exactly. Sums stop there instead of turning over.
const most = 1 << 53

// IsZero reports whether nothing is in it; a currency alone is nothing.
func (a Amount) IsZero() bool { return a.Time == 0 && a.Cost == 0 && a.Calls == 0 && a.Tokens == 0 }

// Of is the figure of one unit: nanoseconds, micro-units, or a count.
func (a Amount) Of(u Unit) int64 {
	switch u {
	case Time:
		return int64(a.Time)
	case Cost:
		return a.Cost
	case Calls:
		return a.Calls
	default:
		return a.Tokens
	}
}

// With is a with another figure for one unit.
func (a Amount) With(u Unit, n int64) Amount {
	switch u {
	case Time:
		a.Time = time.Duration(n)
	case Cost:
		a.Cost = n
	case Calls:
		a.Calls = n
	default:
		a.Tokens = n
	}
	return a
}

// Plus adds. Money is added as it stands: who mixes currencies has to decide first what that means.
func (a Amount) Plus(b Amount) Amount {
	for _, u := range Units {
		a = a.With(u, min(a.Of(u)+b.Of(u), most))
	}
	if a.Currency == "" {
		a.Currency = b.Currency
	}
	return a
}

// Minus takes away, down to nothing and not below.
func (a Amount) Minus(b Amount) Amount {
	for _, u := range Units {
		a = a.With(u, max(a.Of(u)-b.Of(u), 0))
	}
	return a
}

// Most is the larger figure of each unit.
func (a Amount) Most(b Amount) Amount {
	for _, u := range Units {
		a = a.With(u, max(a.Of(u), b.Of(u)))
	}
	if a.Currency == "" {
		a.Currency = b.Currency
	}
	return a
}

// Bound drops every unit that a limit leaves open.
func (a Amount) Bound(limit Amount) Amount {
	for _, u := range Units {
		if limit.Of(u) == 0 {
			a = a.With(u, 0)
		}
	}
	if a.Cost == 0 {
		a.Currency = ""
	}
	return a
}

// Strictest is the limit of both: what either leaves open, the other decides.
func (a Amount) Strictest(b Amount) Amount {
	for _, u := range Units {
		if top := b.Of(u); top > 0 && (a.Of(u) == 0 || top < a.Of(u)) {
			a = a.With(u, top)
			if u == Cost {
				a.Currency = b.Currency
			}
		}
	}
	return a
}

// Raised is the limit with more in it. What has no limit needs none.
func (a Amount) Raised(by Amount) Amount {
	for _, u := range Units {
		if a.Of(u) > 0 {
			a = a.With(u, min(a.Of(u)+by.Of(u), most))
		}
	}
	return a
}

// Text is the figure of one unit as people write it.
func (a Amount) Text(u Unit) string {
	switch u {
	case Time:
		return a.Time.Round(time.Millisecond).String()
	case Cost:
		s := strconv.FormatInt(a.Cost/1e6, 10)
		if frac := a.Cost % 1e6; frac != 0 {
			digits := strconv.FormatInt(1e6+frac, 10)[1:]
			for digits[len(digits)-1] == '0' {
				digits = digits[:len(digits)-1]
			}
			s += "." + digits
		}
		if a.Currency != "" {
			s += " " + a.Currency
		}
		return s
	default:
		return strconv.FormatInt(a.Of(u), 10)
	}
}
