package lifecycle

import "slices"

// Impact is what a revision does to a run.
type Impact struct {
	Rev     int      `json:"revision"`
	Kept    []string `json:"kept"`              // done, and stays so
	Again   []Rerun  `json:"again"`             // done, and runs again
	Changed []Rerun  `json:"changed,omitempty"` // not done yet, and is not what it was
	Dropped []Drop   `json:"dropped"`
	Added   []string `json:"added"`
}

// Rerun is a task that has to be done as if it had not been.
type Rerun struct {
	Task string `json:"task"`
	Why  string `json:"why"`
	Was  Status `json:"was"`
	Held bool   `json:"held,omitempty"` // it must not run twice, so a person is asked first
}

// Drop is a task that is not in the plan any more.
type Drop struct {
	Task   string `json:"task"`
	Status Status `json:"status"`
}

// Loses reports whether work that was done is lost.
func (m Impact) Loses() bool {
	return slices.ContainsFunc(m.Again, func(r Rerun) bool { return r.Was == Completed }) || slices.ContainsFunc(m.Dropped, func(d Drop) bool { return d.Status == Completed })
}

func (m *move) impact() Impact {
	out := Impact{Rev: m.next.Rev, Kept: []string{}, Again: []Rerun{}, Dropped: []Drop{}, Added: []string{}}
	m.list(&out, 0)
	for i := 1; i < len(m.old.nodes); i++ {
		o := &m.old.nodes[i]
		if _, there := m.next.ids[o.id]; !there && !o.gone && !m.old.isGroup(o) {
			out.Dropped = append(out.Dropped, Drop{o.id, o.status})
		}
	}
	return out
}

// list sorts what a group holds by its fate, in the order in which it is written.
func (m *move) list(out *Impact, g int32) {
	for _, i := range m.next.nodes[g].children {
		f, n := m.fate(i), &m.next.nodes[i]
		o := &m.old.nodes[f.from]
		switch {
		case m.next.isGroup(n) && f.from > 0:
		case f.from == 0:
			out.Added = append(out.Added, n.id)
		case f.again && o.status != Skipped:
			out.Again = append(out.Again, Rerun{n.id, f.why, o.status, n.twice})
		case f.renewed && o.status != Skipped && f.own:
			out.Changed = append(out.Changed, Rerun{n.id, f.why, o.status, false})
		case !f.renewed && o.status == Completed:
			out.Kept = append(out.Kept, n.id)
		}
		m.list(out, i)
	}
}
