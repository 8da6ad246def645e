//go:build unix

package assembly_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/model"
	"github.com/cairn-plan/cairn/internal/model/modeltest"
)

// testModels is the model of the engines that tests kill: at the server that a test names.
func testModels() assembly.Models {
	url := os.Getenv("CAIRN_TEST_MODEL")
	if url == "" {
		return assembly.Models{}
	}
	return assembly.Models{Config: model.Config{model.Default: {Provider: "anthropic", Model: "m-1", URL: url, Price: model.Price{In: 3, Out: 15}}}}
}

// asking pays for four answers: the second task's first answer does not fit, and goes back.
const asking = `
plan: asking
policy: {budget: {tokens: 100000, cost: 5 USD}}
tasks:
  - {id: draft, uses: model.generate, with: {prompt: write a line}}
  - {id: shape, uses: model.generate, needs: [draft], with: {prompt: "shape ${draft.text}", schema: {type: object, properties: {n: {type: integer}}, required: [n]}}}
  - {id: judged, uses: model.judge, needs: [shape], with: {criteria: [it is a number], content: "${shape.json}"}}
`

func replies(got modeltest.Received) modeltest.Reply {
	switch {
	case strings.HasPrefix(got.Last(), "Criteria:"):
		return modeltest.Reply{Text: `{"verdicts": [{"number": 1, "ok": true, "reason": "It is."}]}`}
	case len(got.Turns) == 3:
		return modeltest.Reply{Text: `{"n": 7}`}
	case strings.HasPrefix(got.Last(), "shape"):
		return modeltest.Reply{Text: "seven"}
	}
	return modeltest.Reply{Text: "a line"}
}

// A plan that asks a model and is killed at any record comes to the same end, and pays for no answer twice.
func TestModelsKilledAtEveryRecord(t *testing.T) {
	const paid = 4
	server := func(t *testing.T) (*modeltest.Server, string) {
		s := modeltest.New(t, modeltest.Many(paid+9, modeltest.Answers(replies))...)
		return s, "CAIRN_TEST_MODEL=" + s.URL
	}
	s, env := server(t)
	dir := folder(t, asking)
	life(t, dir, "", env)
	want := judge(t, dir)
	if want.state != "completed" || s.Calls() != paid {
		t.Fatalf("undisturbed it is %s after %d calls", want.state, s.Calls())
	}
	step := 1
	if underRace || testing.Short() {
		step = 3
	}
	for n := 1; n <= want.records; n += step {
		for _, when := range moments() {
			t.Run(fmt.Sprintf("%s-%d", when, n), func(t *testing.T) {
				t.Parallel()
				s, env := server(t)
				dir := folder(t, asking)
				life(t, dir, fmt.Sprintf("%s %d", when, n), env)
				life(t, dir, "", env)
				if got := judge(t, dir); got.state != want.state || s.Calls() != paid {
					t.Errorf("it comes to %s after %d calls", got.state, s.Calls())
				}
			})
		}
	}
}
