package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/planner"
	"github.com/cairn-plan/cairn/internal/risk"
)

const (
	span = `(?:\d+(?:\.\d+)?|an?|one|two|three|four|five|six)[\s-]*(?:minutes?|mins?|hours?|hrs?|days?|weeks?|months?)`
	sum  = `(?:[$€£₩]\s?\d[\d,]*(?:\.\d+)?k?|\d[\d,]*(?:\.\d+)?\s*(?:usd|eur|gbp|krw|dollars?|euros?|won)\b|(?:usd|eur|gbp|krw)\s?\d[\d,]*)`
	day  = `(?:(?:the\s+)?(?:end of|next|this)\s+)*(?:the\s+)?(?:\d{4}-\d{2}-\d{2}|monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|tonight|noon|today|week|month|quarter|year|january|february|march|april|june|july|august|september|october|november|december|christmas)\b(?:\s+\d{1,2}(?:st|nd|rd|th)?)?`
)

// inline finds constraints inside a goal. What it finds is taken out before the goal is parted into clauses.
var inline = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(?:within|in under|in less than|in at most|in no more than|under|in)\s+` + span + `\b`),
	regexp.MustCompile(`(?i)\b(?:by|before|until|no later than)\s+` + day),
	regexp.MustCompile(`(?i)\b(?:(?:for|with|on|costing)\s+)?(?:a\s+)?(?:budget of|under|below|less than|at most|up to|no more than|a maximum of|within)\s+` + sum + `(?:\s+budget)?`),
	regexp.MustCompile(`(?i)\b(?:on|with)\s+a\s+` + sum + `\s+budget`),
	regexp.MustCompile(`(?i)\bwithout\s+[^,.;]+`),
	regexp.MustCompile(`(?i)\b(?:but\s+)?(?:do not|don't|never)\s+[^,.;]+`),
	regexp.MustCompile(`(?i)\b(?:written in|using|in)\s+(?:golang|go|python|rust|java|typescript|javascript|kotlin|swift|ruby|bash|english|korean|japanese|french|german|spanish|chinese)\b`),
	regexp.MustCompile(`\d+\s?(?:분|시간|일|주일|주|개월)\s?(?:안에|이내에?|내에|내로)`),
	regexp.MustCompile(`(?:오늘|내일|모레|이번 주|다음 주|이번 달|다음 달)?\s?(?:[월화수목금토일]요일|\d+월 \d+일|내일|오늘|이번 주|다음 주|이번 달|다음 달)\s?까지`),
	regexp.MustCompile(`\d[\d,]*\s?(?:만\s?원|원|달러)\s?(?:이하로?|이내로?|이내에서|미만으로?|안에서|안으로)`),
	regexp.MustCompile(`\S+\s없이`),
	regexp.MustCompile(`(?:한국어|영어|일본어|중국어)로`),
}

var (
	urlOf  = regexp.MustCompile(`https?://[^\s"'<>),]+`)
	fileOf = regexp.MustCompile(`(?:[\w.-]+/)*[\w-]+\.(?:md|txt|csv|json|yaml|yml|log|go|py|js|ts|rs|java|sql|html|pdf|xml|toml|tsv)\b`)
)

// signals reads a goal.
func (l *library) signals(goal planner.Goal, menu planner.Menu) planner.Signals {
	s := planner.Signals{Text: goal.Text, Lang: languageOf(goal.Text), Constraints: slices.Clone(goal.Constraints)}
	s.URLs = urlOf.FindAllString(goal.Text, -1)
	s.Files = fileOf.FindAllString(urlOf.ReplaceAllString(goal.Text, " "), -1)
	rest, found := l.limits(goal.Text)
	for _, text := range found {
		if c := planner.ParseConstraint(text); !slices.ContainsFunc(s.Constraints, func(o planner.Constraint) bool { return o.Text == c.Text }) {
			s.Constraints = append(s.Constraints, c)
		}
	}
	for _, c := range s.Constraints {
		if c.Kind == planner.Deadline && c.When != "" && (s.Deadline == "" || c.When < s.Deadline) {
			s.Deadline = c.When
		}
	}
	if s.Clauses = l.clauses(rest, s.Lang); len(s.Clauses) == 0 {
		s.Clauses = []planner.Clause{{Text: goal.Text, Object: goal.Text}}
	}
	for i := range s.Clauses {
		c := &s.Clauses[i]
		c.Effect, c.Word = l.effect(c)
		if c.Effect != "" {
			s.Risks = append(s.Risks, planner.Risk{Effect: c.Effect, Word: c.Word})
		}
	}
	outputs := wordsOf(l.terms.Outputs)
	for _, w := range planner.Words(rest) {
		if outputs.hits([]string{w}) > 0 && !slices.Contains(s.Outputs, w) {
			s.Outputs = append(s.Outputs, w)
		}
	}
	s.Requirements = requirements(s, menu)
	return s
}

// limits takes the constraints out of a goal. One that runs on ends where the next clause begins.
func (l *library) limits(goal string) (rest string, found []string) {
	rest = goal
	for _, pattern := range inline {
		for at := pattern.FindStringIndex(rest); at != nil; at = pattern.FindStringIndex(rest) {
			text := rest[at[0]:at[1]]
			tokens := strings.Fields(text)
			for i := 2; i < len(tokens); i++ {
				if verb, _ := l.verbAt(tokens, i); isJoint(tokens[i-1]) && verb != "" {
					text = strings.Join(tokens[:i-1], " ")
					break
				}
			}
			text = strings.TrimSpace(text)
			rest = rest[:at[0]] + strings.Replace(rest[at[0]:], text, "", 1)
			found = append(found, text)
		}
	}
	return strings.Join(strings.Fields(rest), " "), found
}

func languageOf(s string) string {
	hangul, latin := 0, 0
	for _, r := range s {
		switch {
		case planner.IsHangul(r):
			hangul++
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			latin++
		}
	}
	if 2*hangul > latin { // a syllable says more than a letter
		return "ko"
	}
	return "en"
}

// effect says what of a clause cannot be taken back, by its verb.
func (l *library) effect(c *planner.Clause) (risk.Effect, string) {
	if wordsOf(l.terms.Harmless).hits(planner.Words(c.Object)) > 0 && c.Verb != "deploy" && c.Verb != "배포" {
		return "", ""
	}
	for _, e := range []risk.Effect{risk.Deletion, risk.Migration, risk.Spending, risk.Push, risk.Privilege, risk.Outage} {
		if slices.Contains(l.terms.Effects[e], c.Verb) {
			return e, c.Verb
		}
	}
	return "", ""
}

// requirements turns what was read into what a plan has to do.
func requirements(s planner.Signals, menu planner.Menu) []planner.Requirement {
	var out []planner.Requirement
	add := func(kind planner.Need, p planner.Priority, says string, ready planner.Readiness) {
		out = append(out, planner.Requirement{ID: fmt.Sprintf("r%d", len(out)+1), Kind: kind, Priority: p, Says: says, Readiness: ready})
	}
	for _, c := range s.Clauses {
		add(planner.MustSatisfy, planner.Must, c.Text, planner.Identified)
	}
	for _, e := range menu {
		if strings.Contains(e.ID, ".") && slices.Contains(strings.Fields(strings.ToLower(s.Text)), e.ID) {
			add(planner.MustCall, planner.Must, e.ID, planner.Identified)
		}
	}
	for _, o := range s.Outputs {
		add(planner.MustProduce, planner.Should, o, planner.Identified)
	}
	for _, c := range s.Constraints {
		kind := planner.Custom
		if c.Kind == planner.Tools || c.Kind == planner.Language {
			kind = planner.MustFilter
		}
		add(kind, planner.Must, c.Text, planner.Identified)
	}
	return out
}
