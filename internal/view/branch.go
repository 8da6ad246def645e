package view

import (
	"strconv"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// measure sets the column of names: wide enough for those shown, but never so wide that nothing else has room.
func (tr *tree) measure(cells int) {
	for i := range tr.all {
		if l := &tr.all[i]; l.show {
			tr.names = max(tr.names, 2*l.t.Depth+width(plain(l.t.ID)))
		}
	}
	most := 40
	if cells > 0 {
		most = max(min(most, cells*9/20), 8)
	}
	tr.names = min(tr.names, most)
}

// line draws one task: glyph, name, how it goes, title.
func (tr *tree) line(l *leaf, o TreeOptions) []piece {
	glyph, color := lookOf(l.t, o.ASCII, o.Frame)
	name, indent := plain(l.t.ID), min(2*l.t.Depth, 24)
	quiet := none
	if color == dim {
		quiet = dim
	}
	pieces := []piece{{strings.Repeat(" ", indent), none}, {glyph, color},
		{" " + pad(cut(name, max(tr.names-indent, 8)), tr.names-indent) + "  ", quiet}}
	title := plain(l.t.Spec.Title)
	if l.t.Item > 0 {
		title = "" // that of the fan-out, which stands above
	}
	text, hue := tr.detail(l, o)
	if l.t.Group && l.total > 0 && l.t.Status != lifecycle.Skipped {
		text = progress(l, o.ASCII)
	}
	if text != "" {
		pieces = append(pieces, piece{pad(text, 6), hue})
	}
	if title != "" && !says(l.t) {
		if text != "" {
			pieces = append(pieces, piece{"  ", none})
		}
		pieces = append(pieces, piece{title, dim})
	}
	return pieces
}

// says reports whether what there is to say of a task leaves no room for its title.
func says(t lifecycle.Task) bool {
	return !t.Group && (t.Status == lifecycle.FailedTask || t.Status == lifecycle.Waiting)
}

func progress(l *leaf, ascii bool) string {
	s := number(int(l.done)) + "/" + number(int(l.total))
	if l.done < l.total {
		s = bar(int(l.done), int(l.total), 10, ascii) + " " + s
	}
	if l.failed > 0 {
		s += ", " + number(int(l.failed)) + " failed"
	}
	return s
}

// detail says how a task goes, in a few words.
func (tr *tree) detail(l *leaf, o TreeOptions) (text, color string) {
	t, at := l.t, o.Times.task(l.t.ID)
	if turn := o.Turns.Of(t); turn != "" {
		return turn, cyan
	}
	switch shown(t) {
	case lifecycle.Completed:
		if at.took > 0 {
			return Duration(at.took), dim
		}
	case lifecycle.Running:
		s := ""
		if !at.since.IsZero() && !o.Now.IsZero() {
			s = Duration(seconds(o.Now.Sub(at.since)))
		}
		if t.Attempt > 1 {
			s = strings.TrimSpace(s + " attempt " + strconv.Itoa(t.Attempt))
		}
		return s, none
	case lifecycle.Waiting:
		return waiting(t, o)
	case lifecycle.FailedTask:
		return plain(orElse(t.Error, "failed")), red
	case lifecycle.Skipped:
		return "skipped", dim
	case lifecycle.Abandoned:
		return "given up", dim
	case lifecycle.RolledBack:
		return "rolled back", dim
	case Blocked:
		return "blocked by " + plain(t.Blocked), dim
	case lifecycle.Pending:
		if t.Dormant {
			return "only if needed", dim
		}
	}
	return "", none
}

func waiting(t lifecycle.Task, o TreeOptions) (text, color string) {
	switch t.Wait {
	case lifecycle.ForTimer:
		when := "in " + Duration(seconds(t.Due.Sub(o.Now)+time.Second-1))
		switch {
		case o.Now.IsZero():
			when = "at " + Time(t.Due)
		case !o.Now.Before(t.Due):
			when = "now"
		}
		return because("tries again "+when, t.Error), none
	case lifecycle.ForRecovery:
		return because("waits for its recovery", t.Error), none
	}
	return "waits for " + asked(t), magenta
}

// seconds leaves out what would flicker.
func seconds(d time.Duration) time.Duration { return d.Truncate(time.Second) }

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
