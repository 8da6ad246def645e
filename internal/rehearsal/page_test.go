package rehearsal

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/plan"
)

// The page tells what is guessed of each kind of task.
func TestThePageTellsTheGuesses(t *testing.T) {
	text, err := os.ReadFile("../../docs/rehearsal.md")
	if err != nil {
		t.Fatal(err)
	}
	row := func(name string, g guess) string {
		return "| " + name + " | " + short(g.tool).String() + " | " + short(g.person).String() + " |"
	}
	want := []string{row("any other", otherwise)}
	for kind, g := range guesses {
		want = append(want, row("`"+string(kind)+"`", g))
	}
	for _, line := range want {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("the page lacks %s", line)
		}
	}
	for tier, cost := range []string{2: "0.01", 3: "0.1", 4: "1", 5: "10"} {
		if tier > 1 && (plan.Money{Micro: tiers[tier], Currency: currency}).String() != cost+" "+currency {
			t.Errorf("tier %d is not %s", tier, cost)
		}
	}
	if anyone := DefaultTeam()[Anyone]; anyone.Response != 2*time.Hour || anyone.From != 9*time.Hour || anyone.To != 17*time.Hour || someItems != 3 {
		t.Errorf("the page says otherwise of %+v", anyone)
	}
}
