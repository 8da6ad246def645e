package view

import (
	"fmt"
	"strings"

	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// dusk are the colours of statuses on a dark ground, with white text readable on all.
var dusk = map[lifecycle.Status][2]string{
	lifecycle.Pending: {"#27272a", "#71717a"}, lifecycle.Ready: {"#27272a", "#e4e4e7"}, lifecycle.Running: {"#164e63", "#22d3ee"},
	lifecycle.Waiting: {"#581c67", "#e879f9"}, lifecycle.Completed: {"#14532d", "#4ade80"}, lifecycle.FailedTask: {"#7f1d1d", "#f87171"},
	lifecycle.Skipped: {"#1c1c1f", "#52525b"}, lifecycle.Abandoned: {"#1c1c1f", "#52525b"}, lifecycle.RolledBack: {"#1c1c1f", "#52525b"},
	Blocked: {"#4c0519", "#fb7185"},
}

const (
	svgLook = `.cairn-graph{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Noto Sans","Noto Sans CJK SC",sans-serif;font-size:13px}
.cairn-graph text{fill:var(--ink)}
.cairn-graph .ground{fill:var(--ground)}
.cairn-graph .node .shape{fill:var(--fill);stroke:var(--line);stroke-width:1.5}
.cairn-graph .node .id{font-weight:600}
.cairn-graph .node .more{font-size:11.5px;fill:var(--faint)}
.cairn-graph .group>.shape{fill:var(--lane);stroke:var(--line)}
.cairn-graph .group>.id{font-size:12px;font-weight:600}
.cairn-graph .group>.id .more{font-weight:400;fill:var(--faint)}
.cairn-graph .edge path{fill:none;stroke:var(--edge);stroke-width:1.4}
.cairn-graph .edge .head{fill:var(--edge);stroke:none}
.cairn-graph .edge text{font-size:11px;fill:var(--edge);paint-order:stroke;stroke:var(--ground);stroke-width:4px;stroke-linejoin:round}
.cairn-graph .edge.success path{stroke-width:2.4}
.cairn-graph .edge.failure,.cairn-graph .edge.recover{--edge:var(--alarm)}
.cairn-graph .edge.failure .line{stroke-dasharray:6 4}
.cairn-graph .edge.recover .line{stroke-dasharray:.1 4.5;stroke-linecap:round;stroke-width:2}
.cairn-graph .abandoned .id,.cairn-graph .rolled_back .id{text-decoration:line-through}
.cairn-graph .skipped .shape,.cairn-graph .abandoned .shape{stroke-dasharray:3 3}
.cairn-graph a:focus .shape,.cairn-graph a:hover .shape{stroke-width:3}
`
	svgDay   = "--ink:#000;--faint:#3f3f46;--ground:#fff;--lane:#fafafa;--edge:#71717a;--alarm:#b91c1c;--fill:#fff;--line:#71717a"
	svgNight = "--ink:#fafafa;--faint:#d4d4d8;--ground:#18181b;--lane:#1f1f23;--edge:#a1a1aa;--alarm:#f87171;--fill:#27272a;--line:#a1a1aa"
)

// SVGStyle is the style sheet of drawings, for a page that shows them bare.
func SVGStyle() string {
	var day, night strings.Builder
	for _, t := range tints {
		fmt.Fprintf(&day, ".cairn-graph .%s{--fill:%s;--line:%s}\n", t.status, t.fill, t.line)
		fmt.Fprintf(&night, ".cairn-graph .%s{--fill:%s;--line:%s}\n", t.status, dusk[t.status][0], dusk[t.status][1])
	}
	return svgLook + ".cairn-graph{" + svgDay + "}\n" + day.String() +
		"@media (prefers-color-scheme:dark){\n.cairn-graph{" + svgNight + "}\n" + night.String() + "}\n"
}
