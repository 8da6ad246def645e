package offline

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/planner"
)

// reads marks, until it is bound, a step that reads what the goal names.
const reads = "reads"

// commands are those that every project of a kind has.
var commands = map[string]map[string]string{
	"go":     {"test": "go test ./...", "build": "go build ./...", "lint": "go vet ./..."},
	"rust":   {"test": "cargo test", "build": "cargo build", "lint": "cargo clippy"},
	"node":   {"test": "npm test", "build": "npm run build", "lint": "npm run lint"},
	"python": {"test": "python -m pytest", "build": "python -m compileall -q .", "lint": "python -m compileall -q ."},
	"maven":  {"test": "mvn -q test", "build": "mvn -q package", "lint": "mvn -q verify"},
	"gradle": {"test": "./gradlew test", "build": "./gradlew build", "lint": "./gradlew check"},
}

var projects = map[string]string{"golang": "go", "cargo": "rust", "npm": "node", "javascript": "node", "typescript": "node", "nodejs": "node", "py": "python", "java": "maven"}

// bind gives steps the capabilities that are installed and whose inputs are known. The rest stays with people.
func bind(steps []planner.Step, goal planner.Goal, s planner.Signals, menu planner.Menu) {
	used := map[string]bool{}
	for i := range steps {
		step := &steps[i]
		wanted, reading := step.Run, step.Arm == reads
		step.Run, step.Arm = "", ""
		switch {
		case step.Kind == "gate" || step.Effect != "":
		case wanted != "" && command(goal.Context, wanted) != "" && has(menu, "shell"):
			step.Uses, step.Run = "shell", command(goal.Context, wanted)
			step.Accept = append([]planner.Check{{Says: "exit == 0", CEL: true}}, step.Accept[:min(len(step.Accept), planner.MaxAccept-1)]...)
		case reading && len(s.URLs) > 0 && has(menu, "web.fetch") && !used["web.fetch"]:
			step.Uses, step.With = "web.fetch", with("url", s.URLs[0])
		case reading && len(s.Files) > 0 && has(menu, "file.read") && !used["file.read"]:
			step.Uses, step.With = "file.read", with("path", s.Files[0])
		case len(step.Meets) > 0:
			tool(step, goal, s, menu, used)
		}
		if step.Uses != "" {
			used[step.Uses] = true
			for _, r := range s.Requirements {
				if r.Kind == planner.MustCall && r.Says == step.Uses {
					step.Meets = append(step.Meets, r.ID)
				}
			}
		}
	}
}

func has(menu planner.Menu, id string) bool {
	_, ok := menu.Find(id)
	return ok
}

func with(name, value string) json.RawMessage {
	b, _ := json.Marshal(map[string]string{name: value}) // text can be written
	return b
}

// command is what the context says runs tests, builds or checks: by name, or by the kind of project.
func command(facts map[string]string, what string) string {
	if c := facts[what]; c != "" {
		return c
	}
	for _, key := range []string{"project", "stack", "language", "lang"} {
		kind := strings.ToLower(facts[key])
		if p := projects[kind]; p != "" {
			kind = p
		}
		if c := commands[kind][what]; c != "" {
			return c
		}
	}
	return ""
}

// fits is the score from which a tool is taken to be made for a goal.
const fits = 0.5

// tool binds a step to a tool that was added here and does what its clause asks for, if all it needs to be told is known.
func tool(step *planner.Step, goal planner.Goal, s planner.Signals, menu planner.Menu, used map[string]bool) {
	for _, e := range menu {
		named := slices.ContainsFunc(s.Requirements, func(r planner.Requirement) bool { return r.Kind == planner.MustCall && r.Says == e.ID })
		if used[e.ID] || !named && (e.Provider == "builtin" || e.Score < fits) {
			continue
		}
		in := map[string]string{}
		known := true
		for _, name := range e.Required {
			in[name] = goal.Context[name]
			if in[name] == "" && slices.Contains([]string{"query", "question", "text", "prompt", "topic", "task", "goal"}, name) {
				in[name] = s.Text
			}
			if in[name] == "" && name == "url" && len(s.URLs) > 0 {
				in[name] = s.URLs[0]
			}
			if in[name] == "" && (name == "path" || name == "file") && len(s.Files) > 0 {
				in[name] = s.Files[0]
			}
			known = known && in[name] != ""
		}
		if !known {
			continue
		}
		step.Uses = e.ID
		step.With, _ = json.Marshal(in) // text can be written
		return
	}
}
