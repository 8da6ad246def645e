package offline

import (
	"slices"

	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/planner"
	"github.com/cairn-plan/cairn/internal/risk"
)

// guard puts a gate before every step that cannot be taken back and has none. Where there is no room for another step,
// the step itself is critical, and the policy of every run asks for consent before it.
func (l *library) guard(steps []planner.Step, optional []string, parts []part, s planner.Signals) []planner.Step {
	l.mark(steps, parts)
	for i := 0; i < len(steps); i++ {
		step := &steps[i]
		if step.Effect == "" || step.Kind == plan.Gate {
			continue
		}
		step.Criticality = "critical"
		step.Risks = append(step.Risks, says(step.Effect, s.Lang))
		if gated(steps, i) {
			continue
		}
		id := step.ID
		for len(steps) >= planner.MaxSteps && len(optional) > 0 {
			steps = without(steps, optional[len(optional)-1])
			optional = optional[:len(optional)-1]
		}
		i = slices.IndexFunc(steps, func(s planner.Step) bool { return s.ID == id })
		if i < 0 || len(steps) >= planner.MaxSteps {
			continue
		}
		gate := gateFor(steps[i], s.Lang)
		steps[i].Needs = []string{gate.ID}
		steps = slices.Insert(steps, i, gate)
		i++
	}
	return steps
}

// mark gives the steps that act for a clause the effect that its words have.
func (l *library) mark(steps []planner.Step, parts []part) {
	for _, p := range parts {
		effect := p.clause.Effect
		if effect == "" && p.method != nil && p.method.Changes && wordsOf(l.terms.Places).hits(planner.Words(p.clause.Object)) > 0 {
			effect = risk.Outage
		}
		if effect == "" {
			continue
		}
		own := func(st planner.Step) bool { return slices.Contains(st.Meets, p.id) }
		if slices.ContainsFunc(steps, func(st planner.Step) bool { return own(st) && st.Effect != "" }) {
			continue
		}
		for i := len(steps) - 1; i >= 0; i-- { // the last of them is where it happens
			if own(steps[i]) {
				steps[i].Effect = effect
				break
			}
		}
	}
}

// gated reports whether somebody is asked on every way to a step.
func gated(steps []planner.Step, at int) bool {
	for _, need := range steps[at].Needs {
		i := slices.IndexFunc(steps, func(s planner.Step) bool { return s.ID == need })
		if i >= 0 && i < at && (steps[i].Kind == plan.Gate || gated(steps, i)) {
			return true
		}
	}
	return false
}

func gateFor(step planner.Step, lang string) planner.Step {
	return planner.Step{ID: "approve-" + step.ID, Kind: plan.Gate, Needs: step.Needs, Tier: 1, Lasts: usual / 3,
		Title:     fill(lang, "Agree before: ", "승인: ") + step.Title,
		Action:    fill(lang, "Look at what is about to be done and decide whether it may be: it "+effects[step.Effect].en+".", "실행 전에 내용을 검토하고 승인 여부를 결정한다: "+effects[step.Effect].ko+"."),
		Accept:    planner.Judged(fill(lang, "Whoever answers for it has seen exactly what will be done and agrees", "책임자가 실행 내용을 정확히 확인하고 동의함")),
		Rationale: fill(lang, "What follows cannot be taken back.", "다음 단계는 되돌릴 수 없다.")}
}

var effects = map[risk.Effect]text{
	risk.Push:      {"reaches others and cannot be called back", "다른 사람에게 전달되어 회수할 수 없다"},
	risk.Deletion:  {"deletes what was kept", "보관 중인 것을 삭제한다"},
	risk.Spending:  {"spends money", "돈이 지출된다"},
	risk.Migration: {"changes kept data as a whole", "보관된 데이터를 대량으로 바꾼다"},
	risk.Privilege: {"changes who may do what", "권한을 바꾼다"},
	risk.Exposure:  {"opens what was closed", "닫혀 있던 것을 공개한다"},
	risk.Outage:    {"can stop what people use", "사용 중인 서비스를 멈출 수 있다"},
}

func says(e risk.Effect, lang string) string { return upper(effects[e].in(lang)) }
