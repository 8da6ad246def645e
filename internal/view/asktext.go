package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// AskText writes asks for people to read: those of a review window together, after the others.
func AskText(w io.Writer, asks []Ask, now time.Time) error {
	b := &strings.Builder{}
	if len(asks) == 0 {
		b.WriteString("nothing waits for anybody\n")
	}
	for _, q := range asks {
		if q.Window.IsZero() {
			blank(b)
			q.write(b, now)
		}
	}
	for _, g := range windows(asks) {
		blank(b)
		fmt.Fprintf(b, "%s: %s of %s\n", g.says(now), plural(len(g.asks), "change"), plain(g.plan))
		fmt.Fprintf(b, "    cairn approve %s --window --why TEXT\n", quote(g.plan))
		for _, q := range g.asks {
			b.WriteString("\n")
			q.write(b, now)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func blank(b *strings.Builder) {
	if b.Len() > 0 {
		b.WriteString("\n")
	}
}

// window is what is looked at together.
type window struct {
	plan string
	at   time.Time
	asks []Ask
}

func windows(asks []Ask) (out []window) {
	for _, q := range asks {
		if q.Window.IsZero() {
			continue
		}
		k := -1
		for i := range out {
			if out[i].plan == q.Plan && out[i].at.Equal(q.Window) {
				k = i
			}
		}
		if k < 0 {
			k, out = len(out), append(out, window{plan: q.Plan, at: q.Window})
		}
		out[k].asks = append(out[k].asks, q)
	}
	return out
}

func (g window) says(now time.Time) string {
	if g.at.After(now) {
		return "review at " + clock(g.at, now)
	}
	return "review since " + clock(g.at, now)
}

// clock is a time as people say it: with the day where that is another.
func clock(t, now time.Time) string {
	t = t.In(now.Location())
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}

func (q *Ask) write(b *strings.Builder, now time.Time) {
	fmt.Fprintf(b, "%s  %s", plain(q.Plan), plain(q.Task))
	if q.Title != "" {
		fmt.Fprintf(b, "  %s", plain(q.Title))
	}
	fmt.Fprintf(b, "  (%s)\n", q.stands(now))
	if q.Asks != "" {
		for _, l := range strings.Split(strings.TrimSpace(q.Asks), "\n") {
			fmt.Fprintf(b, "  %s\n", plain(l))
		}
	}
	for _, o := range q.Options {
		option(b, o)
	}
	if q.Default != "" {
		fmt.Fprintf(b, "  by default: %s\n", plain(q.Default))
	}
	for _, v := range q.Votes {
		fmt.Fprintf(b, "  %s agreed: %s\n", plain(v.Who), plain(v.Why))
	}
	if q.Lacks != "" {
		fmt.Fprintf(b, "  waits for %s\n", plain(q.Lacks))
	}
	if len(q.Lets) > 0 {
		fmt.Fprintf(b, "  lets through %s\n", strings.Join(plains(q.Lets), "; "))
	}
	for _, f := range q.Failing {
		fmt.Fprintf(b, "  does not hold: %s\n", plain(f))
	}
	if len(q.Evidence) > 0 {
		fmt.Fprintf(b, "  wants %s\n", strings.Join(plains(q.Evidence), ", "))
	}
	for _, c := range q.Answers {
		fmt.Fprintf(b, "    %s\n", c)
	}
}

// stands says what it is, for whom, since when and until when.
func (q *Ask) stands(now time.Time) string {
	s := q.Kind
	if len(q.By) > 0 {
		s += " for " + strings.Join(plains(q.By), " or ")
	}
	s += ", " + Duration(time.Duration(q.Age)*time.Second)
	switch {
	case q.Overdue:
		s += ", OVERDUE since " + clock(q.Due, now)
	case !q.Due.IsZero():
		s += ", due " + clock(q.Due, now)
	}
	return s
}

func option(b *strings.Builder, o lifecycle.Option) {
	fmt.Fprintf(b, "  %s", plain(o.ID))
	if o.Says != "" {
		fmt.Fprintf(b, "  %s", plain(o.Says))
	}
	b.WriteString("\n")
	for _, p := range o.Pros {
		fmt.Fprintf(b, "    + %s\n", plain(p))
	}
	for _, c := range o.Cons {
		fmt.Fprintf(b, "    - %s\n", plain(c))
	}
	if o.Cost != "" {
		fmt.Fprintf(b, "    costs %s\n", plain(o.Cost))
	}
}
