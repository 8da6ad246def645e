package score_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/planner/score"
)

func shape(steps []string, links ...[2]string) score.Shape {
	return score.Shape{Steps: steps, Links: links}
}

func TestOf(t *testing.T) {
	want := shape([]string{"find", "book", "tell"}, [2]string{"find", "book"}, [2]string{"book", "tell"})
	tests := []struct {
		name       string
		got        score.Shape
		node, link float64
		exact      bool
		invalid    bool
	}{
		{"the same", want, 1, 1, true, false},
		{"another order", shape([]string{"tell", "find", "book"}, [2]string{"tell", "find"}, [2]string{"find", "book"}), 1, 0.5, true, false},
		{"one short", shape([]string{"find", "book"}, [2]string{"find", "book"}), 0.8, 2.0 / 3, false, false},
		{"twice is once", shape([]string{"find", "book", "tell", "find"}, [2]string{"tell", "find"}, [2]string{"find", "book"}, [2]string{"book", "tell"}), 1, 0.8, true, false},
		{"nothing", shape(nil), 0, 0, false, true},
		{"unknown capability", shape([]string{"find", "fly"}), 0.4, 0, false, true},
		{"link to no step", shape([]string{"find"}, [2]string{"find", "book"}), 0.5, 2.0 / 3, false, true},
		{"circle", shape([]string{"find", "book"}, [2]string{"find", "book"}, [2]string{"book", "find"}), 0.8, 0.5, false, true},
		{"itself", shape([]string{"find"}, [2]string{"find", "find"}), 0.5, 0, false, true},
		{"nameless", shape([]string{""}), 0, 0, false, true},
	}
	offered := func(id string) bool { return id != "fly" }
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := score.Of(want, tt.got, offered)
			if math.Abs(s.Node-tt.node) > 1e-9 || math.Abs(s.Link-tt.link) > 1e-9 || s.Exact != tt.exact || s.Invalid != tt.invalid {
				t.Errorf("got %+v, want node %v, link %v, exact %v, invalid %v", s, tt.node, tt.link, tt.exact, tt.invalid)
			}
		})
	}
}

func TestScoresStayInBounds(t *testing.T) {
	ids := rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", "c", "d"}))
	draw := func(t *rapid.T, name string) score.Shape {
		s := shape(ids.Draw(t, name))
		for _, id := range ids.Draw(t, name+" links") {
			s.Links = append(s.Links, [2]string{id, "a"})
		}
		return s
	}
	rapid.Check(t, func(t *rapid.T) {
		want, got := draw(t, "want"), draw(t, "got")
		s, back := score.Of(want, got, nil), score.Of(got, want, nil)
		for _, x := range []float64{s.Node, s.Link} {
			if x < 0 || x > 1 {
				t.Fatalf("a score of %v", x)
			}
		}
		if s.Node != back.Node || s.Link != back.Link {
			t.Fatal("F1 depends on who is measured against whom")
		}
		self := score.Of(want, want, nil)
		if len(want.Steps) > 0 && (self.Node != 1 || !self.Exact) || len(want.Links) > 0 && self.Link != 1 {
			t.Fatalf("a perfect plan scored %+v", self)
		}
	})
}

func TestMeanAndCompare(t *testing.T) {
	good := score.Score{Node: 1, Link: 1, Exact: true}
	poor := score.Score{Node: 0.5, Invalid: true}
	tied := score.Score{Node: 0.5, Link: 0.5}
	m := score.Mean([]score.Score{good, poor})
	if m != (score.Summary{Cases: 2, Node: 0.75, Link: 0.5, Exact: 0.5, Invalid: 0.5}) {
		t.Errorf("mean %+v", m)
	}
	if m := score.Mean(nil); m != (score.Summary{}) {
		t.Errorf("mean of nothing %+v", m)
	}
	d := score.Compare([]score.Score{good, poor, poor, good}, []score.Score{poor, good, tied, good})
	if d != (score.Duel{Better: 1, Worse: 2, Same: 1}) {
		t.Errorf("compared %+v", d)
	}
}
