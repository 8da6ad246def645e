package budget

// Purse is what was taken from one budget so far. The zero Purse is full.
type Purse struct {
	Spent  Amount
	Held   Amount // reserved and not settled
	Raised Amount // added to the limit since
}

// Answer is what a purse says to somebody who wants something of it.
type Answer uint8

// The answers.
const (
	Yes   Answer = iota
	Later        // what others hold may come back
	Never        // not before the limit is raised
)

// Ask tells whether want can be had now under a limit, and if not, which unit is short. A unit that is wanted at all is wanted at
// least once: of what is spent to the last, nothing can be had.
func (p *Purse) Ask(limit, want Amount) (Answer, Unit) {
	limit = limit.Raised(p.Raised)
	answer, short := Yes, Unit("")
	for _, u := range Units {
		top, need := limit.Of(u), want.Of(u)
		if top == 0 || need == 0 {
			continue
		}
		if p.Spent.Of(u)+need > top {
			return Never, u
		}
		if answer == Yes && p.Spent.Of(u)+p.Held.Of(u)+need > top {
			answer, short = Later, u
		}
	}
	return answer, short
}

// Reserve sets an amount aside. Whether it may be had was asked before.
func (p *Purse) Reserve(a Amount) { p.Held = p.Held.Plus(a) }

// Settle turns what was reserved into what was spent, which may be less, or more.
func (p *Purse) Settle(held, spent Amount) {
	p.Held, p.Spent = p.Held.Minus(held), p.Spent.Plus(spent)
}

// Left is what may still be had of what is limited.
func (p *Purse) Left(limit Amount) Amount {
	return limit.Raised(p.Raised).Minus(p.Spent).Minus(p.Held).Bound(limit)
}
