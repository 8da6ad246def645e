package engine

import (
	"encoding/json"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// flow is where the labels of a run's data go. It follows from the plan alone, so that nothing of it is recorded.
type flow struct {
	plan *plan.Plan // that it was made of
	made *plan.Flow
}

// carried are the labels of what a piece of work hands on, and the policy that judges it: that of its own revision.
type carried struct {
	labels []plan.Carried
	policy *plan.Policy
}

// carried tells what a piece of work hands on. The run's owner calls it.
func (r *Run) carried(ef lifecycle.Effect) carried {
	if r.flow.plan != r.State.Plan {
		r.flow = flow{r.State.Plan, r.State.Plan.Flow()}
	}
	return carried{r.flow.made.Sent(ef.Spec, ef.Kind == lifecycle.Undo), r.State.Plan.Policy}
}

// mayGo refuses a call whose data may not reach what it is for, before anything is sent.
func (r *Run) mayGo(w Work, id string, with json.RawMessage) (may func(host string) error, err error) {
	may = func(host string) error {
		names := plan.Parts(id, with)
		return r.refuse(w, "", nil, func(string, json.RawMessage) ([]string, []string) { return names, []string{host} })
	}
	return may, r.refuse(w, id, with, r.reach)
}

func (r *Run) refuse(w Work, uses string, with json.RawMessage, reach plan.Reach) error {
	no, refused := w.scope.carried.policy.Refused(w.scope.carried.labels, uses, with, reach)
	if !refused {
		return nil
	}
	return fault.New(fault.Denied, "nothing was sent to %s, %s", no.To, no.Why()).Remedy("%s", no.Remedy())
}

// reach tells what the data of a call goes to.
func (r *Run) reach(id string, with json.RawMessage) (names, hosts []string) {
	c, _, ok := r.engine.Capabilities.Lookup(id)
	if !ok {
		return []string{id}, nil
	}
	return c.Reach(with)
}
