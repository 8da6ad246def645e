package view

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestSVG(t *testing.T) {
	for name, g := range graphs(t) {
		golden(t, "graph-"+name+".svg", g.SVG(SVGOptions{Bare: name != "feature-run"}))
	}
}

// A drawing is sound XML, says what it is, and draws every task and edge once.
func TestSVGIsSound(t *testing.T) {
	for name, g := range graphs(t) {
		text := g.SVG(SVGOptions{Link: func(task string) string { return "/ui/tasks/" + task + "?a=1&b=2" }})
		d := xml.NewDecoder(strings.NewReader(text))
		seen := map[string]int{}
		for {
			tok, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if e, ok := tok.(xml.StartElement); ok {
				class := ""
				for _, a := range e.Attr {
					if a.Name.Local == "class" {
						class, _, _ = strings.Cut(a.Value, " ")
					}
				}
				seen[e.Name.Local+" "+class]++
			}
		}
		if seen["g node"] != len(g.Nodes) || seen["g edge"] != len(g.Edges) || seen["g group"] != len(g.Groups) || seen["a "] != len(g.Nodes) {
			t.Errorf("%s: %d nodes, %d edges, %d groups drawn as %v", name, len(g.Nodes), len(g.Edges), len(g.Groups), seen)
		}
		if seen["title "] != 1+len(g.Nodes)+len(g.Edges)+len(g.Groups) || seen["desc "] != 1 {
			t.Errorf("%s: titles and descriptions: %v", name, seen)
		}
	}
}

func TestSVGFollowsThePage(t *testing.T) {
	g := Graph{Name: "p", Nodes: []Node{{ID: "a", Status: Blocked}}}
	whole, bare := g.SVG(SVGOptions{}), g.SVG(SVGOptions{Bare: true})
	if !strings.Contains(whole, "prefers-color-scheme:dark") || strings.Contains(bare, "<style>") || !strings.Contains(bare, `role="img"`) {
		t.Errorf("%s\n%s", whole, bare)
	}
	for _, tint := range tints {
		if dusk[tint.status][0] == "" || !strings.Contains(SVGStyle(), "."+string(tint.status)+"{--fill:"+tint.fill) {
			t.Errorf("%s has no look by night, or another by day than elsewhere", tint.status)
		}
	}
}

func TestLabelsAreCut(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"short", "short"}, {strings.Repeat("long ", 30), "long long long long long lon\u2026"}, {strings.Repeat("\ud55c", 30), strings.Repeat("\ud55c", 13) + "\u2026"}, {"", ""},
	} {
		got := clipped(c.text, svgID, svgText)
		if got != c.want || textWidth(got, svgID) > svgText {
			t.Errorf("%q is cut to %q", c.text, got)
		}
	}
}
