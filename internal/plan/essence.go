package plan

// Essence is a task without its prose: what is left decides what happens. Two tasks of the same essence do the same, so
// who approved one has approved the other.
func (t *Task) Essence() Task {
	e := *t
	e.Title, e.Description, e.Rationale, e.Owner, e.Status = "", "", "", "", ""
	e.Labels, e.Assumptions, e.Risks, e.Evidence, e.Metrics, e.Extra = nil, nil, nil, nil, nil, nil
	e.Outputs = make(Outputs, len(t.Outputs))
	for i, o := range t.Outputs {
		o.Description, o.Extra = "", nil
		e.Outputs[i] = o
	}
	if t.Subplan != nil {
		s := Subplan{Tasks: make([]Task, len(t.Subplan.Tasks))}
		for i := range t.Subplan.Tasks {
			s.Tasks[i] = t.Subplan.Tasks[i].Essence()
		}
		e.Subplan = &s
	}
	return e
}
