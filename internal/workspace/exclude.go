package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// excludes is the text of the shadow repository's own list of what is never looked at: the home, what the user's
// repository excludes without saying so in a .gitignore, and what a .gitignore above the root says about the root.
func excludes(ctx context.Context, plain git, root, home string) string {
	var text strings.Builder
	if rel, inside := within(root, home); inside {
		text.WriteString("/" + escapePattern(rel) + "/\n")
	}
	user := plain
	user.dir = root
	out, err := user.line(ctx, "rev-parse", "--show-toplevel", "--git-path", "info/exclude")
	if err != nil {
		return text.String() // not in a repository
	}
	top, file, _ := strings.Cut(out, "\n")
	if !filepath.IsAbs(file) {
		file = filepath.Join(root, file)
	}
	rel, inside := within(top, root)
	if !inside {
		return text.String()
	}
	text.WriteString(below(rel, readText(file)))
	for dir := rel; dir != "."; {
		dir = filepath.ToSlash(filepath.Dir(dir))
		toRoot, _ := within(filepath.Join(top, dir), root)
		text.WriteString(below(toRoot, readText(filepath.Join(top, dir, ".gitignore"))))
	}
	return text.String()
}

func readText(file string) string {
	text, _ := os.ReadFile(file) // a list that cannot be read excludes nothing, as for git
	return string(text)
}

// below rewrites the patterns of a list for the folder rel below it. What can only match outside is dropped.
func below(rel, text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		not := ""
		if line[0] == '!' {
			not, line = "!", line[1:]
		}
		anchored := strings.Contains(strings.TrimSuffix(line, "/"), "/") && !strings.HasPrefix(line, "**/")
		if anchored && rel != "." {
			rest, ok := strings.CutPrefix(strings.TrimPrefix(line, "/"), rel+"/")
			if !ok {
				continue
			}
			line = "/" + rest
		}
		out.WriteString(not + line + "\n")
	}
	return out.String()
}

// escapePattern takes the meaning off the characters that are special in a list of excludes.
func escapePattern(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, ` `, `\ `).Replace(name)
}
