package capability

import (
	"slices"
	"strings"
)

// Catalogue lists, sorted, the capabilities that cairn knows of whether or not they can be called
// here. A plan that uses one of them is sound and will wait for it; any other name is a mistake.
var Catalogue = []string{
	"agent.cli", "agent.run",
	"file.patch", "file.read", "file.write",
	"git.bisect", "git.branch", "git.commit", "git.diff", "git.pr.open", "git.pr.text", "git.push", "git.status",
	"http.download", "http.request",
	"human.ask", "human.decide", "human.review",
	"inquiry.bisect", "inquiry.next", "inquiry.observe", "inquiry.open",
	"memory.forget", "memory.get", "memory.search", "memory.set",
	"model.generate", "model.judge",
	"noop",
	"pipeline",
	"planner.build_capability_menu", "planner.extract_goal_signals", "planner.resolve_capability_gaps",
	"planner.synthesize_plan_steps", "planner.validate_plan",
	"research.answer", "research.check", "research.extract", "research.harvest", "research.rank", "research.report",
	"search.brave", "search.corpus", "search.memory", "search.searxng",
	"shell",
	"sql.exec", "sql.query",
	"web.fetch", "web.search",
}

// mcpPrefix begins the tools of MCP servers, mcp.<server>.<tool>, which nobody can list beforehand.
const mcpPrefix = "mcp."

func inCatalogue(id string) bool {
	if rest, ok := strings.CutPrefix(id, mcpPrefix); ok {
		server, tool, _ := strings.Cut(rest, ".")
		return server != "" && tool != ""
	}
	_, found := slices.BinarySearch(Catalogue, id)
	return found
}
