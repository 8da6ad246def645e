package plan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/plan"
)

func TestReviewWindows(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	for _, c := range []struct{ review, after, want string }{
		{"{every: 4h}", "2026-03-01 09:30", "2026-03-01 12:00"},
		{"{every: 4h}", "2026-03-01 12:00", "2026-03-01 16:00"},
		{"{every: 5h}", "2026-03-01 21:00", "2026-03-02 00:00"}, // begins anew each day
		{"{every: 2d}", "2026-03-01 21:00", "2026-03-03 00:00"},
		{`{every: 12h, at: ["11:00"]}`, "2026-03-01 09:30", "2026-03-01 11:00"},
		{`{at: ["17:00", "12:00"]}`, "2026-03-01 09:30", "2026-03-01 12:00"},
		{`{at: ["12:00", "17:00"]}`, "2026-03-01 12:00", "2026-03-01 17:00"},
		{`{at: ["12:00", "17:00"]}`, "2026-12-31 18:00", "2027-01-01 12:00"},
	} {
		p, faults := plan.ReadPolicy("p.yaml", []byte("review: "+c.review+"\n"), "")
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		after, err := time.ParseInLocation("2006-01-02 15:04", c.after, zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Review.Next(after).Format("2006-01-02 15:04"); got != c.want {
			t.Errorf("%s after %s: %s, want %s", c.review, c.after, got, c.want)
		}
	}
	if got := (*plan.Review)(nil).Next(time.Now()); !got.IsZero() {
		t.Error(got)
	}
}

func TestReviewThatSaysNothing(t *testing.T) {
	for review, want := range map[string]string{
		"{}":              "review does not say when",
		"{every: 1s}":     "all the time",
		`{at: ["25:00"]}`: `"25:00" is no time of day`,
	} {
		_, faults := plan.Read("p.yaml", []byte("plan: p\npolicy: {review: "+review+"}\ntasks: [{id: a, uses: noop}]\n"), plan.Options{})
		if err := faults.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", review, err)
		}
	}
}
