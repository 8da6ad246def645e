package budget

import "context"

// Reading is how a day's budget stands.
type Reading struct {
	Spent  Amount
	Held   Amount // of attempts under way, and of those whose engine died
	Raised Amount // added to the day's limit by somebody
	Short  Unit   // what there was not enough of; empty: there was
}

// Days is the ledger of what all plans of a home spend in a day. Of two processes that reserve at once, both see what the
// other has. An implementation passes budgettest.Run.
type Days interface {
	// Reserve sets want aside under a key of the caller's choice, if it fits into what is left of limit, with what the day was raised
	// by; else it says what is short and changes nothing. A key that is reserved already is so once.
	Reserve(ctx context.Context, day, key string, want, limit Amount) (Reading, error)
	// Settle replaces a reservation by what was spent. A key that is not reserved, or no more, is left alone.
	Settle(ctx context.Context, key string, spent Amount) error
	// Raise adds to what may be spent on a day.
	Raise(ctx context.Context, day string, by Amount) error
	// Day tells how a day stands.
	Day(ctx context.Context, day string) (Reading, error)
}
