package plan

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Retired is the status by which an incoming plan takes a task out. No other status that it claims is believed.
const Retired = "abandoned"

// Merge changes a plan by an incoming one and gives the outcome as JSON, to be read and checked like any other. A task is
// known by its id, then by its title, then, where it has neither of its own, by its position. What an incoming task says stands
// over what was there; what it does not mention stays, and so do tasks that are not mentioned. An incoming plan without
// tasks is refused: nobody means by silence that everything shall go.
func Merge(current, incoming *Plan) ([]byte, error) {
	if len(incoming.Tasks) == 0 {
		return nil, fault.New(fault.Invalid, "the incoming plan has no tasks, so it changes nothing").
			Remedy("name the tasks that change; to take one out give it status: %s", Retired)
	}
	base, err := object(current)
	if err != nil {
		return nil, err
	}
	over, err := object(incoming)
	if err != nil {
		return nil, err
	}
	tasks, err := mergeTasks(current.Tasks, incoming, base["tasks"], over["tasks"])
	if err != nil {
		return nil, err
	}
	for k, v := range over {
		switch k {
		case "plan", "tasks", "state", "version", "created":
		default:
			base[k] = v
		}
	}
	base["tasks"] = tasks
	return json.Marshal(base)
}

func object(p *Plan) (map[string]json.RawMessage, error) {
	b, err := p.Encode()
	if err != nil {
		return nil, err
	}
	m := map[string]json.RawMessage{}
	err = json.Unmarshal(b, &m)
	return m, err
}

// mergeTasks lays the incoming tasks over those that are there.
func mergeTasks(current []Task, incoming *Plan, base, over json.RawMessage) (json.RawMessage, error) {
	was, is := []map[string]json.RawMessage{}, []map[string]json.RawMessage{}
	names := match(current, incoming)
	if err := json.Unmarshal(base, &was); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "read the tasks of a plan")
	}
	if err := json.Unmarshal(renamed(over, names), &is); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "read the tasks of the incoming plan")
	}
	at := make(map[string]int, len(current))
	for i := range current {
		at[current[i].ID] = i
	}
	retired := map[string]bool{}
	for i, t := range is {
		id := names[incoming.Tasks[i].ID]
		t["id"], _ = json.Marshal(id)
		if incoming.Tasks[i].Status == Retired {
			retired[id] = true
			continue
		}
		delete(t, "status")
		k, there := at[id]
		if !there {
			was = append(was, t)
			continue
		}
		for key, v := range t {
			was[k][key] = v
		}
	}
	out := was[:0]
	for _, t := range was {
		var id string
		_ = json.Unmarshal(t["id"], &id)
		if retired[id] {
			continue
		}
		delete(t, "status")
		if err := unneed(t, retired); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return json.Marshal(out)
}

// match finds which task an incoming one means, by its id; one that is new keeps its own.
func match(current []Task, incoming *Plan) map[string]string {
	names, taken := map[string]string{}, map[string]bool{}
	find := func(id string, fits func(i int, t *Task) bool) {
		for i := range current {
			if t := &current[i]; names[id] == "" && !taken[t.ID] && fits(i, t) {
				names[id], taken[t.ID] = t.ID, true
			}
		}
	}
	for i := range incoming.Tasks {
		id := incoming.Tasks[i].ID
		find(id, func(_ int, t *Task) bool { return t.ID == id })
	}
	for i := range incoming.Tasks {
		in := &incoming.Tasks[i]
		find(in.ID, func(_ int, t *Task) bool { return in.Title != "" && t.Title == in.Title })
	}
	generated := regexp.MustCompile(`^` + regexp.QuoteMeta("plan-"+incoming.Shortname()) + `-\d+$`)
	for i := range incoming.Tasks {
		in := &incoming.Tasks[i]
		find(in.ID, func(k int, _ *Task) bool { return in.Title == "" && k == i && generated.MatchString(in.ID) })
		if names[in.ID] == "" {
			names[in.ID] = in.ID
		}
	}
	return names
}

// renamed writes the incoming tasks with the ids of those that they mean, wherever one is named.
func renamed(tasks json.RawMessage, names map[string]string) json.RawMessage {
	s := string(tasks)
	for from, to := range names {
		if from == to {
			continue
		}
		a, _ := json.Marshal(from)
		b, _ := json.Marshal(to)
		s = strings.ReplaceAll(s, "${"+from+".", "${"+to+".")
		s = regexp.MustCompile(`outputs_of\.`+regexp.QuoteMeta(from)+`\b`).ReplaceAllLiteralString(s, "outputs_of."+to)
		for _, key := range []string{"needs", "success", "failure"} {
			s = regexp.MustCompile(`"`+key+`":\[[^]]*\]`).ReplaceAllStringFunc(s, func(list string) string { return strings.ReplaceAll(list, string(a), string(b)) })
		}
		s = strings.ReplaceAll(s, `"recover":`+string(a), `"recover":`+string(b))
	}
	return json.RawMessage(s)
}

// unneed takes what is retired out of what a task needs.
func unneed(t map[string]json.RawMessage, retired map[string]bool) error {
	if len(retired) == 0 || t["needs"] == nil {
		return nil
	}
	var needs []string
	if err := json.Unmarshal(t["needs"], &needs); err != nil {
		return fault.Wrap(fault.Internal, err, "read what a task needs")
	}
	needs = slices.DeleteFunc(needs, func(id string) bool { return retired[id] })
	if len(needs) == 0 {
		delete(t, "needs")
		return nil
	}
	t["needs"], _ = json.Marshal(needs)
	return nil
}
