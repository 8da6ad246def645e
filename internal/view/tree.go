package view

import (
	"time"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// TreeOptions say how a tree is drawn.
type TreeOptions struct {
	Width  int       // of a line, in cells; 0: no limit
	Height int       // of all lines; 0: no limit
	Color  bool      // with ANSI colours
	ASCII  bool      // for a terminal that is not UTF-8
	Now    time.Time // what elapsed is counted to; zero: elapsed is left out for what still runs
	Frame  int       // of the spinner; below zero: a still picture
	Times  *Times    // when tasks began and ended; nil: unknown
	Turns  Turns     // which of them wait to be let on
}

// manyItems is how many items of a fan-out are listed where nothing else bounds the lines.
const manyItems = 20

// TreeLines draws the tasks of a run, one a line, and a last line that sums them up. Where there are more than fit,
// fan-outs become a bar, what failed, asks for a person or runs is shown first, then what is near to it, and the
// rest is counted.
func TreeLines(st *lifecycle.State, o TreeOptions) []string {
	tr := grow(st)
	tr.choose(o.Height)
	lines := make([]string, 0, tr.shown+2)
	tr.measure(o.Width)
	for i := range tr.all {
		if tr.all[i].show {
			lines = append(lines, paint(tr.line(&tr.all[i], o), o.Width, o.Color))
		}
	}
	if rest := tr.rest(); rest != "" && (o.Height <= 0 || len(lines)+1 < o.Height) {
		lines = append(lines, paint([]piece{{"  " + dots + " " + rest, dim}}, o.Width, o.Color))
	}
	return append(lines, paint([]piece{{tr.sum.text(st, o), bold}}, o.Width, o.Color))
}

// leaf is one task in the tree, group or not.
type leaf struct {
	t      lifecycle.Task
	parent int32 // place in the tree; -1: none
	done   int32 // tasks inside that are over well; of no group: 0 or 1
	total  int32
	failed int32
	folded bool // inside a fan-out that is drawn as a bar
	show   bool
}

// urgent orders what is shown first; 0 is not urgent.
func (l *leaf) urgent() int {
	switch {
	case l.t.Wait.NeedsPerson():
		return 2
	case l.t.Group:
		return 0
	case l.t.Status == lifecycle.FailedTask:
		return 1
	case l.t.Status == lifecycle.Running:
		return 3
	}
	return 0
}

type tree struct {
	all   []leaf
	sum   counts
	shown int
	names int // cells of the column with the names
}

// grow lays the tasks out in order and counts what groups hold.
func grow(st *lifecycle.State) *tree {
	tr := &tree{all: make([]leaf, 0, st.Len()), sum: counts{st: st}}
	var path []int32 // place of the last task at each depth
	for t := range st.Tasks() {
		l := leaf{t: t, parent: -1}
		if t.Depth > 0 {
			l.parent = path[t.Depth-1]
		}
		path = append(path[:t.Depth], int32(len(tr.all)))
		if !t.Group {
			tr.sum.add(t)
			l.total = 1
			if done(t.Status) {
				l.done = 1
			}
			if t.Status == lifecycle.FailedTask {
				l.failed = 1
			}
		}
		tr.all = append(tr.all, l)
	}
	for i := len(tr.all) - 1; i >= 0; i-- {
		if l := &tr.all[i]; l.parent >= 0 {
			up := &tr.all[l.parent]
			up.done, up.total, up.failed = up.done+l.done, up.total+l.total, up.failed+l.failed
		}
	}
	return tr
}

// isFan reports whether a task is a fan-out that has its items.
func isFan(t lifecycle.Task) bool { return t.Group && t.Spec.Each != "" && t.Item == 0 }

// fold draws fan-outs of more than so many tasks as a bar.
func (tr *tree) fold(most int) {
	for i := range tr.all {
		if l := &tr.all[i]; l.parent >= 0 {
			up := &tr.all[l.parent]
			l.folded = up.folded || isFan(up.t) && int(up.total) > most
		}
	}
}

// choose decides which lines are shown.
func (tr *tree) choose(height int) {
	room := height - 1 // the last line sums up
	if height <= 0 {
		tr.fold(manyItems)
		room = len(tr.all)
	} else if len(tr.all) > room {
		tr.fold(1)
		room--
	}
	for class := 1; class <= 3; class++ {
		for i := range tr.all {
			if tr.all[i].urgent() == class && !tr.reveal(int32(i), room) {
				break
			}
		}
	}
	tr.surround(room)
}

// reveal shows a line and the groups around it, if there is room for all of them.
func (tr *tree) reveal(i int32, room int) bool {
	cost := 0
	for k := i; k >= 0 && !tr.all[k].show; k = tr.all[k].parent {
		cost++
	}
	if tr.shown+cost > room {
		return false
	}
	for k := i; k >= 0 && !tr.all[k].show; k = tr.all[k].parent {
		tr.all[k].show = true
	}
	tr.shown += cost
	return true
}

// surround fills the room that is left with what is nearest to the lines that are shown, or to where the plan stands.
func (tr *tree) surround(room int) {
	if tr.shown >= room {
		return
	}
	var open []int32 // not drawn as part of a bar
	for i := range tr.all {
		if !tr.all[i].folded || tr.all[i].show {
			open = append(open, int32(i))
		}
	}
	far := len(open) + 1
	away := make([]int, len(open))
	d := far
	if tr.shown == 0 {
		d = tr.front(open, away, far)
	}
	for k := range open {
		if d++; tr.all[open[k]].show || away[k] == -1 {
			d = 0
		}
		away[k] = d
	}
	d = far
	for k := len(open) - 1; k >= 0; k-- {
		d = min(d+1, away[k])
		away[k] = d
	}
	near := make([][]int32, min(room, len(open))+1)
	for k, i := range open {
		if away[k] < len(near) {
			near[away[k]] = append(near[away[k]], i)
		}
	}
	for _, ring := range near {
		for _, i := range ring {
			if !tr.reveal(i, room) {
				return
			}
		}
	}
}

// front marks the line where a plan stands in which nothing is urgent: the first that is not over, or the last.
func (tr *tree) front(open []int32, away []int, far int) int {
	for k, i := range open {
		if !tr.all[i].t.Status.Terminal() || k == len(open)-1 {
			away[k] = -1
			break
		}
	}
	return far
}

// rest counts what is neither shown nor part of a bar.
func (tr *tree) rest() string {
	c := counts{st: tr.sum.st}
	for i := range tr.all {
		if l := &tr.all[i]; !l.show && !l.t.Group && (!l.folded || l.urgent() > 0) {
			c.add(l.t)
		}
	}
	if c.total == 0 {
		return ""
	}
	return number(c.total) + " more: " + c.words(true)
}
