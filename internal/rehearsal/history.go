package rehearsal

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

// maxKept is how many durations are kept of one task or capability; the oldest make room.
const maxKept = 1000

// History is what past runs tell of durations, failures and the length of lists. It is a fold over their records: of a
// task under its name and capability, whatever the plan, and of a capability as a whole.
type History struct {
	tasks map[trade]*past
	uses  map[string]*past
	items map[string][]int // counts of a fan-out, by task
}

// trade is a task in the hands of a capability.
type trade struct{ task, uses string }

type past struct {
	took     []time.Duration // of attempts that succeeded
	attempts int
	failed   int
}

// NewHistory knows nothing yet.
func NewHistory() *History {
	return &History{tasks: map[trade]*past{}, uses: map[string]*past{}, items: map[string][]int{}}
}

// Learn folds the records of one run of a plan. What belongs to no task of the plan is passed over.
func (h *History) Learn(p *plan.Plan, records iter.Seq2[journal.Record, error]) error {
	for r, err := range records {
		if err != nil {
			return err
		}
		if r.Kind != lifecycle.TaskEnded && r.Kind != lifecycle.TaskAssessed {
			continue
		}
		id, t := authored(p.Tasks, r.Task)
		if t == nil {
			continue
		}
		f, err := lifecycle.FactOf(r)
		if err != nil {
			return err
		}
		switch b := f.Body.(type) {
		case *lifecycle.Ended:
			if t.Uses != "" {
				h.ended(trade{id, t.Uses}, b)
			}
		case *lifecycle.Assessed:
			if b.Count != nil {
				h.items[id] = append(h.items[id], *b.Count)
			}
		}
	}
	return nil
}

func (h *History) ended(key trade, b *lifecycle.Ended) {
	if h.tasks[key] == nil {
		h.tasks[key] = &past{}
	}
	if h.uses[key.uses] == nil {
		h.uses[key.uses] = &past{}
	}
	for _, p := range []*past{h.tasks[key], h.uses[key.uses]} {
		p.attempts++
		if b.Outcome != lifecycle.Succeeded {
			p.failed++
			continue
		}
		if p.took = append(p.took, b.Took); len(p.took) > maxKept {
			p.took = p.took[1:]
		}
	}
}

// task is what is known of a task; nil when nothing is.
func (h *History) task(id, uses string) *past {
	if h == nil {
		return nil
	}
	return h.tasks[trade{id, uses}]
}

// capability is what is known of one, whatever it was used for.
func (h *History) capability(uses string) *past {
	if h == nil {
		return nil
	}
	return h.uses[uses]
}

// count is how many items a fan-out had, in the middle of its past.
func (h *History) count(id string) (int, bool) {
	if h == nil || len(h.items[id]) == 0 {
		return 0, false
	}
	counts := slices.Sorted(slices.Values(h.items[id]))
	return counts[len(counts)/2], true
}

// rate is how often an attempt failed. Two attempts that went well are added, so that one failure alone does not say that
// it always will.
func (p *past) rate() float64 {
	if p == nil {
		return 0
	}
	return float64(p.failed) / float64(p.attempts+2)
}

// authored finds the task that an id of a run stands for, and its id as it was written: dig-2/wash is dig/wash.
func authored(tasks []plan.Task, id string) (string, *plan.Task) {
	head, rest, inside := strings.Cut(id, "/")
	t := named(tasks, head)
	if t == nil {
		return "", nil
	}
	if !inside {
		return t.ID, t
	}
	if t.Subplan == nil {
		return "", nil
	}
	below, found := authored(t.Subplan.Tasks, rest)
	return t.ID + "/" + below, found
}

// named finds a task by its id, or by that of one of its items.
func named(tasks []plan.Task, id string) *plan.Task {
	if i := slices.IndexFunc(tasks, func(t plan.Task) bool { return t.ID == id }); i >= 0 {
		return &tasks[i]
	}
	cut := strings.LastIndexByte(id, '-')
	if cut < 0 {
		return nil
	}
	if _, err := strconv.Atoi(id[cut+1:]); err != nil {
		return nil
	}
	if i := slices.IndexFunc(tasks, func(t plan.Task) bool { return t.ID == id[:cut] && t.Each != "" }); i >= 0 {
		return &tasks[i]
	}
	return nil
}
