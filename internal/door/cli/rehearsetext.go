package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/rehearsal"
	"github.com/cairn-plan/cairn/internal/view"
)

// mostLines is how many tasks a table of a rehearsal shows; --json has them all.
const mostLines = 8

// writeRehearsal tells what to expect of a plan, the most important first.
func writeRehearsal(w io.Writer, r *rehearsal.Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	from := "Monday 9:00"
	if r.Start != "" {
		from = dated(r.Start)
	}
	fmt.Fprintf(t, "rehearsed plan %s %s, from %s, with seed %d; nothing was done\n\n", oneLine(r.Plan), count(r.Times, "time"), from, r.Seed)
	writeOutcome(t, r)
	writePath(t, r)
	writeHolds(t, r)
	writeFailing(t, r)
	writeBasis(t, r)
	return t.Flush()
}

func writeOutcome(w io.Writer, r *rehearsal.Report) {
	if r.Finish != nil || len(r.Cost) > 0 {
		fmt.Fprintln(w, "\tP50\tP90\tworst")
	}
	if f := r.Finish; f != nil {
		fmt.Fprintf(w, "finish after\t%s\t%s\t%s\n", long(f.P50), long(f.P90), long(f.Worst))
		if f.P50At != "" {
			fmt.Fprintf(w, "finish on\t%s\t%s\t%s\n", dated(f.P50At), dated(f.P90At), dated(f.WorstAt))
		}
	}
	for _, c := range r.Cost {
		fmt.Fprintf(w, "cost\t%s\t%s\t%s\n", c.P50, c.P90, c.Worst)
	}
	if r.Finish != nil || len(r.Cost) > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "completed\t%s\n", percent(r.Completed))
	for _, also := range []struct {
		says  string
		share float64
	}{{"failed", r.Failed}, {"waits for ever", r.Unfinished}, {"short of budget", r.Short}} {
		if also.share > 0 {
			fmt.Fprintf(w, "%s\t%s\n", also.says, percent(also.share))
		}
	}
	if r.InTime != nil {
		fmt.Fprintf(w, "by the deadline\t%s\n", percent(*r.InTime))
	}
	if len(r.Path) > 0 {
		fmt.Fprintf(w, "bottleneck\t%s\n", bottleneck(r))
	}
	fmt.Fprintf(w, "workers\t%d, busy %s of the time\n", r.Workers.Count, percent(r.Workers.Busy))
}

// bottleneck names the task that the end waits for longest, and the people that the task waits for.
func bottleneck(r *rehearsal.Report) string {
	id := r.Path[0]
	for _, h := range r.Holds {
		if h.Task == id && h.Path > 0 {
			return oneLine(id + ", which waits for " + some(h.Who))
		}
	}
	return oneLine(id)
}

func writePath(w io.Writer, r *rehearsal.Report) {
	if len(r.Path) == 0 {
		return
	}
	fmt.Fprintln(w, "\ncritical path\ton it\ttime")
	for _, id := range first(r.Path) {
		v := taskOf(r, id)
		fmt.Fprintf(w, "  %s\t%s\t%s\n", oneLine(id), percent(v.OnPath), long(v.Path))
	}
	more(w, len(r.Path))
}

// writeHolds names the bottleneck among people: the first waits longest where all wait for it.
func writeHolds(w io.Writer, r *rehearsal.Report) {
	if len(r.Holds) > 0 {
		fmt.Fprintln(w, "\nheld up by people\ton the path\tin all\twho")
		for _, h := range first(r.Holds) {
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", oneLine(h.Task), long(h.Path), long(h.Waited), oneLine(some(h.Who)))
		}
		more(w, len(r.Holds))
	}
	if len(r.People) > 1 {
		fmt.Fprintln(w, "\npeople\ton the path\tanswers")
		for _, p := range first(r.People) {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", oneLine(p.Who), long(p.Path), strconv.FormatFloat(p.Answers, 'f', 1, 64))
		}
		more(w, len(r.People))
	}
	if len(r.Stuck) > 0 {
		fmt.Fprintf(w, "\nwaits for ever: %s\n", oneLine(some(r.Stuck)))
	}
}

func writeFailing(w io.Writer, r *rehearsal.Report) {
	if len(r.Failing) == 0 {
		return
	}
	fmt.Fprintln(w, "\nfails\tfor good\tattempts")
	for _, id := range first(r.Failing) {
		v := taskOf(r, id)
		fmt.Fprintf(w, "  %s\t%s\t%s\n", oneLine(id), percent(v.Failed), percent(v.Bad))
	}
	more(w, len(r.Failing))
}

// bases are those of durations, in words.
var bases = []struct {
	basis rehearsal.Basis
	says  string
}{
	{rehearsal.Learned, "learned from past attempts"}, {rehearsal.Estimated, "as the plan estimates"}, {rehearsal.Promised, "as the contract estimates"},
	{rehearsal.Alike, "as past attempts by the same capability"}, {rehearsal.Timeout, "guessed from the timeout"},
	{rehearsal.Budgeted, "guessed from the budget of time"}, {rehearsal.ByKind, "guessed from the kind of task"},
}

// writeBasis says what all of this rests upon.
func writeBasis(w io.Writer, r *rehearsal.Report) {
	var lines []string
	for _, b := range bases {
		var ids []string
		for _, v := range r.Tasks {
			if v.Basis == b.basis {
				ids = append(ids, v.Task)
			}
		}
		if len(ids) > 0 {
			lines = append(lines, "durations "+b.says+": "+some(ids))
		}
	}
	for _, a := range r.Assumed {
		lines = append(lines, a.Says+": "+some(a.Tasks))
	}
	if len(lines) > 0 {
		fmt.Fprintln(w, "\nassumed")
	}
	for _, l := range lines {
		fmt.Fprintln(w, "  "+oneLine(l))
	}
}

func taskOf(r *rehearsal.Report, id string) rehearsal.Task {
	for _, v := range r.Tasks {
		if v.Task == id {
			return v
		}
	}
	return rehearsal.Task{}
}

func first[V any](all []V) []V { return all[:min(len(all), mostLines)] }

func more(w io.Writer, n int) {
	if n > mostLines {
		fmt.Fprintf(w, "  and %d more\n", n-mostLines)
	}
}

func long(d plan.Duration) string { return view.Duration(d.D()) }

// dated shows an RFC 3339 time to the minute, with its zone where it has one.
func dated(s string) string {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return s
	}
	return strings.TrimSuffix(t.Format("Mon 2006-01-02 15:04 -07:00"), " +00:00")
}

// percent never says all or none of what is only nearly so.
func percent(share float64) string {
	switch {
	case share > 0 && share < 0.01:
		return "<1%"
	case share > 0.99 && share < 1:
		return ">99%"
	}
	return strconv.FormatFloat(share*100, 'f', 0, 64) + "%"
}
