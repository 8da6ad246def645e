package view

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// tell writes the stories of some tasks.
func tell(t *testing.T, m *sim, ids ...string) string {
	t.Helper()
	var b strings.Builder
	for _, id := range ids {
		b.WriteString("why " + m.st.Name + " " + id + "\n")
		if err := StoryText(&b, Story(m.records, m.st, id)); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestStoryOfWhatIsDone(t *testing.T) {
	golden(t, "story-done", tell(t, finished(t), "sources", "options", "dig", "dig-2", "agree", "build", "calm", "widen", "ship", "docs", "docs/draft"))
}

func TestStoryOfWhatIsOpen(t *testing.T) {
	golden(t, "story-open", tell(t, accepted(t), "agree", "build", "calm", "widen", "ship", "docs", "docs/draft", "docs/proof"))
	golden(t, "story-submitted", tell(t, sample(t, feature), "sources", "ship"))
	golden(t, "story-paused", tell(t, scripted(t).by("ann", lifecycle.PlanPaused, "", &lifecycle.Reason{Why: "lunch"}), "sources", "options"))
	m := sample(t, "plan: p\npolicy: {workers: 1}\ntasks:\n  - {id: a, uses: shell, locks: [db]}\n  - {id: b, uses: shell, locks: [db]}\n"+
		"  - {id: g, needs: [a], subplan: {tasks: [{id: in, uses: shell}]}}\n  - {id: w, uses: shell, needs: [a], when: '1 < 2'}\n").start()
	golden(t, "story-ready", tell(t, m, "a", "b", "g", "g/in")+tell(t, m.run(1), "w"))
}

func TestStoryOfAFailure(t *testing.T) {
	m := failed(t)
	text := tell(t, m, "fetch", "use", "late", "try", "other")
	m.outcome["fetch"] = []*lifecycle.Ended{ok("")}
	m.by("ann", lifecycle.PlanRetried, "", &lifecycle.Reason{Why: "the network is back"}).run(0)
	golden(t, "story-failed", text+tell(t, m, "fetch", "use"))
}

func TestStoryOfACrash(t *testing.T) {
	m := unknown(t)
	text := tell(t, m, "send", "file")
	m.by("bob", lifecycle.TaskInterrupted, "send", &lifecycle.Interrupted{Then: lifecycle.Repeat, Why: "the box is empty"}).run(0)
	golden(t, "story-crash", text+tell(t, m, "send"))
}

// A route that leads back upstream runs everything after it again.
func TestStoryOfALoop(t *testing.T) {
	m := sample(t, `
plan: loop
tasks:
  - {id: draft, uses: shell}
  - {id: edit, uses: shell, needs: [draft], with: {text: "${draft.text.0}", by: "${draft.who}", none: "${draft.missing}"}}
  - {id: check, uses: shell, needs: [edit], next: {failure: [draft]}}
`)
	m.outcome["draft"] = []*lifecycle.Ended{ok(`{"text":["once"],"who":"ann"}`), ok(`{"text":["twice"],"who":"ann"}`)}
	m.outcome["check"] = []*lifecycle.Ended{bad("two typos", "", ""), ok("")}
	golden(t, "story-loop", tell(t, m.start().run(0), "draft", "edit", "check"))
}

func TestStoryOfTheSkippedAndTheGivenUp(t *testing.T) {
	m := sample(t, `
plan: half
tasks:
  - {id: a, uses: shell, when: 1 > 2}
  - {id: b, uses: shell, needs: [a], with: {x: "${a.x}"}}
  - {id: g, needs: [a], when: 1 > 2, subplan: {tasks: [{id: in, uses: shell}]}}
  - {id: m, kind: milestone, needs: [a]}
  - {id: hand, expect: [{judge: it is polite}]}
`)
	m.assess["a"] = &lifecycle.Assessed{Why: "not the case: 1 > 2"}
	m.assess["g"] = m.assess["a"]
	m.start().run(0).by("ann", lifecycle.PlanCancelled, "", &lifecycle.Reason{Why: "no time"})
	golden(t, "story-half", tell(t, m, "a", "b", "g", "g/in", "m", "hand"))
}

func TestStoryOfChecksAndJudgement(t *testing.T) {
	m := sample(t, `
plan: gates
tasks:
  - {id: shut, kind: gate, checks: [1 > 2]}
  - {id: open, kind: gate, checks: [1 < 2, {judge: it reads well}]}
  - {id: odd, uses: shell, when: inputs.y > 1}
  - {id: work, uses: shell, expect: [exit == 0]}
  - {id: hand, needs: [open], outputs: {text: {type: markdown}}}
`)
	m.assess["shut"] = &lifecycle.Assessed{Run: true, Checks: []lifecycle.Verdict{{Says: "1 > 2", Why: "it is not"}}}
	m.assess["open"] = &lifecycle.Assessed{Run: true, Checks: []lifecycle.Verdict{{Says: "1 < 2", OK: true}, {Says: "it reads well", Judge: true}}}
	m.assess["odd"] = &lifecycle.Assessed{Failed: true, Why: "no such task: x"}
	m.outcome["work"] = []*lifecycle.Ended{ok("")}
	m.outcome["work"][0].Criteria = []lifecycle.Verdict{{Says: "it reads well", Judge: true}}
	m.start()
	m.take(lifecycle.Fact{Kind: lifecycle.TaskSpawned, Task: "work", Attempt: 1, Body: &lifecycle.Spawned{Process: capability.Process{PID: 99, Started: 1}}})
	m.take(lifecycle.Fact{Kind: lifecycle.ArtifactPut, Task: "work", Attempt: 1, Body: &lifecycle.Stored{Ref: blob("log", "so far"), Partial: true}})
	m.run(0)
	m.by("ann", lifecycle.TaskJudged, "work", &lifecycle.Judged{Why: "dull"})
	m.by("ann", lifecycle.GateDecided, "open", &lifecycle.Decided{Why: "unclear"})
	golden(t, "story-gates", tell(t, m, "shut", "open", "odd", "work", "hand"))
	golden(t, "log-gates", lines(m.records))
}

func TestStoryAsJSON(t *testing.T) {
	m := accepted(t)
	raw, err := json.MarshalIndent(Story(m.records, m.st, "agree"), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "story.json", string(raw)+"\n")
	if Story(m.records, m.st, "nobody") != nil {
		t.Error("a task that is not there has a story")
	}
}

// Every task of every run has a story that goes forward, and names records that are there.
func TestStoriesGoForward(t *testing.T) {
	for _, m := range []*sim{sample(t, feature), scripted(t), accepted(t), finished(t), failed(t), unknown(t), fanned(t, 30, 12), chained(t, 30, 12)} {
		for task := range m.st.Tasks() {
			last := journal.Seq(0)
			story := Story(m.records, m.st, task.ID)
			for i, s := range story {
				if s.Record == 0 && i == len(story)-1 {
					continue // where it stands now
				}
				if s.Record < last || s.Record > m.head.Seq || !s.Time.Equal(m.records[s.Record-1].Time) {
					t.Errorf("%s %s: record %d after %d: %s", m.st.Name, task.ID, s.Record, last, s.Text)
				}
				last = s.Record
			}
			if len(story) < 2 {
				t.Errorf("%s %s has no story: %v", m.st.Name, task.ID, story)
			}
		}
	}
}

func lines(records []journal.Record) string {
	var b strings.Builder
	for _, r := range records {
		b.WriteString(LogLine(r) + "\n")
	}
	return b.String()
}

func TestLog(t *testing.T) {
	m := finished(t)
	golden(t, "log", lines(m.records)+lines(failed(t).records)+lines(unknown(t).records))
}

// Whatever a body holds, the line is one line, and harmless.
func TestLogOfOddRecords(t *testing.T) {
	kinds := []journal.Kind{lifecycle.PlanSubmitted, lifecycle.PlanPaused, lifecycle.PlanCancelled, lifecycle.PlanRetried, lifecycle.PlanEnded,
		lifecycle.TaskReopened, lifecycle.TaskWaiting, lifecycle.TaskSettled, lifecycle.TaskRetried, lifecycle.ArtifactPut, lifecycle.ArtifactExpired, "later.kind"}
	var b strings.Builder
	for i, k := range kinds {
		for _, body := range []string{``, `{}`, `{"why":"so\n\u001b[2J it is","by":"x","execution":2}`, `{"why":7}`, `[]`} {
			l := LogLine(journal.Record{Seq: journal.Seq(i + 1), Time: start, Actor: "agent:bot", Kind: k, Task: "t", Body: []byte(body)})
			if strings.ContainsAny(l, "\n\x1b") {
				t.Errorf("%q", l)
			}
			b.WriteString(l + "\n")
		}
	}
	golden(t, "log-odd", b.String())
}
