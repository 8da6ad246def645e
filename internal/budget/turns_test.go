package budget

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// However turns are asked for, under one key or several and in whatever order, no stretch ever has more than its claim allows, and no turn
// comes later than it has to.
func TestNeverMoreInAnyStretch(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		claims := map[string]Claim{}
		for _, key := range []string{"a", "b", "c"} {
			claims[key] = Claim{key, rapid.IntRange(1, 4).Draw(t, "times"), time.Duration(rapid.IntRange(1, 12).Draw(t, "per"))}
		}
		booked := map[string][]time.Time{}
		look := func(key string) []time.Time { return booked[key] }
		now := start
		for range rapid.IntRange(1, 60).Draw(t, "asked") {
			now = now.Add(time.Duration(rapid.IntRange(-3, 5).Draw(t, "passes"))) // clocks are set back, too
			var want []Claim
			for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3, rapid.ID).Draw(t, "keys") {
				want = append(want, claims[key])
			}
			got := Fit(now, want, look)
			for at := now; at.Before(got.At); at = at.Add(1) {
				if fits(want, booked, at) {
					t.Fatalf("a turn at %s is as good as %s", at, got.At)
				}
			}
			if !fits(want, booked, got.At) || got.Key == "" != got.At.Equal(now) {
				t.Fatalf("%+v is too many", got)
			}
			for _, c := range want {
				booked[c.Key] = append(booked[c.Key], got.At)
				slices.SortFunc(booked[c.Key], time.Time.Compare)
			}
		}
	})
}

// fits counts, stretch by stretch, whether one more start is allowed.
func fits(claims []Claim, booked map[string][]time.Time, at time.Time) bool {
	for _, c := range claims {
		all := append(slices.Clone(booked[c.Key]), at)
		for _, from := range all {
			n := 0
			for _, b := range all {
				if !b.Before(from) && b.Sub(from) < c.Per {
					n++
				}
			}
			if n > c.Times {
				return false
			}
		}
	}
	return true
}

func TestAGapIsUsed(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	slow, quick := Claim{"slow", 1, time.Hour}, Claim{"quick", 1, time.Second}
	booked := map[string][]time.Time{"slow": {at(0), at(3600)}, "quick": {at(0), at(3600)}}
	for _, c := range []struct {
		claims []Claim
		want   string
	}{
		{[]Claim{quick}, "1 quick"},
		{[]Claim{slow}, "7200 slow"},
		{[]Claim{quick, slow}, "7200 slow"},
		{nil, "0 "},
	} {
		got := Fit(at(0), c.claims, func(key string) []time.Time { return booked[key] })
		if s := fmt.Sprint(got.At.Unix(), " ", got.Key); s != c.want {
			t.Errorf("%v: %s, want %s", c.claims, s, c.want)
		}
	}
}
