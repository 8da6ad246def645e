package budget

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func amounts(most int64) *rapid.Generator[Amount] {
	return rapid.Custom(func(t *rapid.T) Amount {
		n := func(name string) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
		return Amount{Time: time.Duration(n("time")), Cost: n("cost"), Calls: n("calls"), Tokens: n("tokens")}
	})
}

// Whoever asks before reserving, and settles for no more than was reserved, never gets over a limit; and an answer of
// Never stays one until the limit is raised.
func TestNobodyGetsOverTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := amounts(20).Draw(t, "limit")
		var p Purse
		var open []Amount
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			want := amounts(6).Draw(t, "want")
			answer, short := p.Ask(limit, want)
			switch {
			case answer == Yes:
				p.Reserve(want)
				open = append(open, want)
			case short == "" || limit.Of(short) == 0:
				t.Fatalf("refused for %q of %+v", short, limit)
			case answer == Later && len(open) == 0:
				t.Fatal("told to wait for nobody")
			}
			if len(open) > 0 && rapid.Bool().Draw(t, "settle") {
				k := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				share := amounts(6).Draw(t, "spent")
				spent := open[k].Minus(share)
				p.Settle(open[k], spent)
				open = append(open[:k], open[k+1:]...)
			}
			if rapid.IntRange(0, 9).Draw(t, "raise") == 0 {
				p.Raised = p.Raised.Plus(amounts(3).Draw(t, "by"))
			}
			top := limit.Raised(p.Raised)
			for _, u := range Units {
				if limit.Of(u) > 0 && p.Spent.Of(u)+p.Held.Of(u) > top.Of(u) {
					t.Fatalf("%s: %d spent and %d held of %d", u, p.Spent.Of(u), p.Held.Of(u), top.Of(u))
				}
			}
		}
		var held Amount
		for _, a := range open {
			held = held.Plus(a)
		}
		if held != p.Held {
			t.Fatalf("%+v is held, %+v was reserved", p.Held, held)
		}
	})
}

func TestAsk(t *testing.T) {
	limit := Amount{Calls: 3, Cost: 100}
	for _, tc := range []struct {
		says   string
		p      Purse
		want   Amount
		answer Answer
		short  Unit
	}{
		{"all of it", Purse{}, Amount{Calls: 3, Cost: 100}, Yes, ""},
		{"what has no limit", Purse{Spent: Amount{Tokens: 1e9}}, Amount{Tokens: 1e9, Calls: 1}, Yes, ""},
		{"nothing of what is gone", Purse{Spent: Amount{Calls: 3}}, Amount{Cost: 1}, Yes, ""},
		{"what is gone", Purse{Spent: Amount{Calls: 3}}, Amount{Calls: 1}, Never, Calls},
		{"what others hold", Purse{Held: Amount{Calls: 3}}, Amount{Calls: 1}, Later, Calls},
		{"more than there ever was", Purse{}, Amount{Cost: 101}, Never, Cost},
		{"one thing later and another never", Purse{Held: Amount{Calls: 3}, Spent: Amount{Cost: 100}}, Amount{Calls: 1, Cost: 1}, Never, Cost},
		{"what was raised", Purse{Spent: Amount{Calls: 3}, Raised: Amount{Calls: 1}}, Amount{Calls: 1}, Yes, ""},
		{"what was raised and has no limit", Purse{Raised: Amount{Tokens: 1}}, Amount{Tokens: 5}, Yes, ""},
	} {
		if answer, short := tc.p.Ask(limit, tc.want); answer != tc.answer || short != tc.short {
			t.Errorf("%s: answered %d for want of %q", tc.says, answer, short)
		}
	}
}

func TestFigures(t *testing.T) {
	a := Amount{Time: 90 * time.Second, Cost: 1_250_000, Currency: "USD", Calls: 7, Tokens: 8}
	for u, want := range map[Unit]string{Time: "1m30s", Cost: "1.25 USD", Calls: "7", Tokens: "8"} {
		if got := a.Text(u); got != want {
			t.Errorf("%s is written %s, want %s", u, got, want)
		}
	}
	if got := (Amount{Cost: 3e6}).Text(Cost); got != "3" {
		t.Errorf("money without a currency is written %s", got)
	}
	if (Amount{Currency: "USD"}).IsZero() == false || a.IsZero() {
		t.Error("what is in an amount is told wrongly")
	}
	if b := (Amount{}).Plus(a); b != a {
		t.Errorf("nothing plus %+v is %+v", a, b)
	}
	if b := a.Minus(Amount{Calls: 9, Time: time.Second}); b.Calls != 0 || b.Time != 89*time.Second {
		t.Errorf("taking away leaves %+v", b)
	}
	if b := a.Bound(Amount{Calls: 1}); b != (Amount{Calls: 7}) {
		t.Errorf("bound by calls it is %+v", b)
	}
	if b := (Amount{Calls: 9}).Most(a); b.Calls != 9 || b.Cost != a.Cost || b.Currency != "USD" {
		t.Errorf("the most of both is %+v", b)
	}
	if b := (Amount{Calls: most}).Plus(Amount{Calls: most}); b.Calls != most {
		t.Errorf("a sum turned over: %d", b.Calls)
	}
	if b := (Amount{Calls: 3, Tokens: 5}).Strictest(Amount{Calls: 4, Tokens: 2, Cost: 1, Currency: "EUR"}); b != (Amount{Calls: 3, Tokens: 2, Cost: 1, Currency: "EUR"}) {
		t.Errorf("the strictest of both is %+v", b)
	}
	p := Purse{Spent: Amount{Calls: 2}, Held: Amount{Calls: 1}, Raised: Amount{Calls: 4}}
	if left := p.Left(Amount{Calls: 3}); left != (Amount{Calls: 4}) {
		t.Errorf("%+v is left", left)
	}
}
