package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/view"
)

// firstDigest is how far back a digest looks when there was none before.
const firstDigest = 24 * time.Hour

// runDigest sums up what waits and what was decided. Unless it is told how far to look back, it begins where the last
// digest of this home ended, and notes where it ends itself.
func runDigest(ctx context.Context, h *House, p place, o inboxOptions, out Out) error {
	d := view.Digest{Now: h.Engine.Now().Local()}
	mark := filepath.Join(p.home, "digest")
	if d.Since = d.Now.Add(-o.since); o.since == 0 {
		d.Since = lastDigest(mark, d.Now)
	}
	t := tray{Engine: h.Engine, review: p.review(), now: d.Now, look: func(r journal.Record) {
		if x, ok := view.DecisionOf(r); ok && r.Time.After(d.Since) && !r.Time.After(d.Now) {
			d.Decided = append(d.Decided, x)
		}
	}}
	asks, damage, err := t.asks(ctx)
	if err != nil {
		return err
	}
	d.Asks = append([]view.Ask{}, o.only(asks, h.Engine, p.actor)...)
	d.Decided = append([]view.Decision{}, d.Decided...)
	slices.SortStableFunc(d.Decided, func(a, b view.Decision) int { return a.Time.Compare(b.Time) })
	if out.JSON {
		err = out.print(d)
	} else {
		err = d.Text(out)
	}
	if err != nil {
		return err
	}
	if o.since == 0 {
		if err := os.WriteFile(mark, []byte(d.Now.UTC().Format(time.RFC3339Nano)+"\n"), 0o644); err != nil {
			return fault.Wrap(fault.Invalid, err, "note that there was a digest").Remedy("make %s writable, or say how far to look back with --since", mark)
		}
	}
	return reported(damage, out)
}

// lastDigest is when the last digest was made. A mark that is damaged, or of the future, is as good as none.
func lastDigest(mark string, now time.Time) time.Time {
	b, err := os.ReadFile(mark)
	if err == nil {
		if t, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(b))); err == nil && !t.After(now) {
			return t.In(now.Location())
		}
	}
	return now.Add(-firstDigest)
}
