package experience_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/planner/experience"
)

// household makes a menu and past plans of a given size. Every capability has words of its own, shares others with its
// neighbours, and all goals share a stock of common words.
func household(tools, cases int) ([]experience.Tool, []experience.Case) {
	menu := make([]experience.Tool, tools)
	for i := range menu {
		menu[i] = experience.Tool{ID: fmt.Sprintf("tool_%d", i), Description: fmt.Sprintf("verb%s the noun%s", letters(i%40), letters(i/3))}
	}
	past := make([]experience.Case, cases)
	state := uint32(1) // a linear congruence: the same household on every machine
	draw := func(n int) int {
		state = state*1664525 + 1013904223
		return int(state>>8) % n
	}
	for d := range past {
		var steps, words []string
		for range 2 + draw(3) {
			t := draw(tools)
			steps = append(steps, menu[t].ID)
			words = append(words, "please", "verb"+letters(t%40), "the", "noun"+letters(t/3), "for")
			for range 8 {
				words = append(words, "common"+letters(draw(1+draw(2000))))
			}
			words = append(words, "and")
		}
		past[d] = known(fmt.Sprint(d), strings.Join(words, " "), steps...)
	}
	return menu, past
}

// letters writes a number without digits, which all read alike.
func letters(n int) string {
	return strings.Map(func(c rune) rune { return c - '0' + 'a' }, fmt.Sprint(n))
}

func BenchmarkPlan(b *testing.B) {
	menu, past := household(1000, 10000)
	p := experience.New(past, menu)
	for i := 0; b.Loop(); i++ {
		p.Plan(past[i%len(past)].Goal)
	}
}

func BenchmarkNew(b *testing.B) {
	menu, past := household(1000, 10000)
	for b.Loop() {
		experience.New(past, menu)
	}
}

// A planner that has much to go by still answers goals it has seen.
func TestManyPastPlans(t *testing.T) {
	menu, past := household(100, 500)
	p := experience.New(past, menu)
	hits := 0
	for _, c := range past {
		d := p.Plan(c.Goal)
		if len(d.Cases) > 0 && d.Cases[0].ID == c.ID {
			hits++
		}
	}
	if hits != len(past) {
		t.Errorf("%d of %d goals found themselves", hits, len(past))
	}
}
