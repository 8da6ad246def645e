package planner

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// Limit says what a constraint is about.
type Limit string

// The kinds of constraint that are understood; Other is kept in words.
const (
	Time     Limit = "time"
	Deadline Limit = "deadline"
	Cost     Limit = "cost"
	Language Limit = "language"
	Tools    Limit = "tools"
	Other    Limit = "other"
)

// Constraint is one thing that limits the way to the goal. The words are always kept; the rest is what was understood.
type Constraint struct {
	Kind  Limit
	Text  string
	Least bool          // a bound from below
	Span  time.Duration // of Time, in working time: a day has 8 hours, a week 5 days
	Money plan.Money    // of Cost
	When  string        // of Deadline, where it is a date
	Names []string      // of Language and Tools, lower case
	Not   bool          // of Tools: these may not be used
	Only  bool          // nothing but these
}

var (
	spanOf   = regexp.MustCompile(`(?i)(?:(\d+(?:\.\d+)?)[\s-]*|\b(half an|an?|one|two|three|four|five|six)[\s-]+)(minutes?|mins?|hours?|hrs?|days?|weeks?|months?|[mhdw]\b|분|시간|일|주일|주|개월|달)`)
	moneyOf  = regexp.MustCompile(`(?i)([$€£₩])\s?(\d[\d,]*(?:\.\d+)?)(k\b)?|(\d[\d,]*(?:\.\d+)?)(k)?\s*(usd|eur|gbp|krw|jpy|dollars?|euros?|pounds?|won|만\s?원|원|달러)|\b(usd|eur|gbp|krw|jpy)\s?(\d[\d,]*(?:\.\d+)?)`)
	dateOf   = regexp.MustCompile(`\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}Z?)?)?`)
	byDay    = regexp.MustCompile(`(?i)\b(?:by|before|until|no later than|due)\s+(?:(?:the\s+)?(?:end of|next|this|early|mid|late)\s+)*(?:\d{4}-\d{2}-\d{2}|monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|tonight|noon|today|week|month|quarter|year|day|january|february|march|april|may|june|july|august|september|october|november|december|christmas)\b(?:\s+\d{1,2}(?:st|nd|rd|th)?)?|(?:오늘|내일|모레|이번 주|다음 주|이번 달|다음 달|[월화수목금토일]요일|\d+월 \d+일)\S*\s?까지`)
	fromLow  = regexp.MustCompile(`(?i)at least|no less than|more than|minimum|\bmin\b|\bover\b|이상`)
	speech   = regexp.MustCompile(`(?i)\b(?:in|written in|using|use|only)?\s*\b(golang|go|python|rust|java|typescript|javascript|kotlin|swift|ruby|bash|sql|english|korean|japanese|french|german|spanish|chinese)\b|(한국어|영어|일본어|중국어)`)
	forbids  = regexp.MustCompile(`(?i)^(?:with no|no|without|do not use|don't use|never use|avoid|not)\s+(?:any\s+|new\s+|external\s+)?(.+)$|^(.+?)\s*(?:없이|금지|사용 금지)$`)
	requires = regexp.MustCompile(`(?i)^(only\s+)?(?:must\s+)?(?:use|using|with)\s+(only\s+)?(.+?)( only)?$|^(.+?)만 사용$`)
)

// ParseConstraint reads one constraint: a sentence, or name=value with a name that says its kind.
func ParseConstraint(text string) Constraint {
	name, value, keyed := strings.Cut(text, "=")
	if !keyed {
		name, value, keyed = strings.Cut(text, ": ")
	}
	if keyed {
		switch name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value); name {
		case "time", "duration", "시간":
			return timed(text, value)
		case "cost", "budget", "price", "예산", "비용":
			return priced(text, value)
		case "deadline", "due", "기한", "마감":
			return Constraint{Kind: Deadline, Text: text, When: dateOf.FindString(value)}
		case "language", "lang", "언어":
			return Constraint{Kind: Language, Text: text, Names: names(value), Only: true}
		case "tools", "tool", "도구":
			c := tooled(value)
			if c.Kind != Tools {
				c = Constraint{Kind: Tools, Names: names(value), Only: true}
			}
			c.Text = text
			return c
		}
	}
	switch {
	case dateOf.MatchString(text) || byDay.MatchString(text):
		return Constraint{Kind: Deadline, Text: text, When: dateOf.FindString(text)}
	case moneyOf.MatchString(text):
		return priced(text, text)
	case spanOf.MatchString(text):
		return timed(text, text)
	}
	if c := tooled(text); c.Kind == Tools {
		return c
	}
	if m := speech.FindStringSubmatch(text); m != nil && len(strings.Fields(text)) <= 4 {
		return Constraint{Kind: Language, Text: text, Names: []string{strings.ToLower(m[1] + m[2])}, Only: strings.Contains(strings.ToLower(text), "only")}
	}
	return Constraint{Kind: Other, Text: text}
}

func timed(text, value string) Constraint {
	span, ok := ParseSpan(value)
	if !ok {
		return Constraint{Kind: Other, Text: text}
	}
	return Constraint{Kind: Time, Text: text, Span: span, Least: fromLow.MatchString(value)}
}

func priced(text, value string) Constraint {
	m, ok := ParseMoney(value)
	if !ok {
		return Constraint{Kind: Other, Text: text}
	}
	return Constraint{Kind: Cost, Text: text, Money: m, Least: fromLow.MatchString(value)}
}

// tooled reads what must and what may not be used. A sentence of more than a few words is no list of tools.
func tooled(text string) Constraint {
	if m := forbids.FindStringSubmatch(text); m != nil && len(strings.Fields(text)) <= 6 {
		return Constraint{Kind: Tools, Text: text, Names: names(m[1] + m[2]), Not: true}
	}
	if m := requires.FindStringSubmatch(text); m != nil && len(strings.Fields(text)) <= 6 {
		return Constraint{Kind: Tools, Text: text, Names: names(m[3] + m[5]), Only: m[1]+m[2]+m[4] != "" || m[5] != ""}
	}
	return Constraint{Kind: Other, Text: text}
}

func names(list string) []string {
	var out []string
	for _, n := range regexp.MustCompile(`\s*(?:,|\band\b|\bor\b|\bnor\b)\s*`).Split(strings.ToLower(list), -1) {
		if n = strings.TrimSpace(n); n != "" {
			out = append(out, n)
		}
	}
	return out
}

var numerals = map[string]float64{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "half an": .5}

// ParseSpan finds a span of working time: 90 minutes, two days, 3시간.
func ParseSpan(s string) (time.Duration, bool) {
	m := spanOf.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	n, known := numerals[strings.ToLower(m[2])]
	if !known {
		n, _ = strconv.ParseFloat(m[1], 64) // the pattern lets only numbers in
	}
	unit := map[string]time.Duration{"m": time.Minute, "분": time.Minute, "h": time.Hour, "시": time.Hour, "d": 8 * time.Hour, "일": 8 * time.Hour,
		"w": 40 * time.Hour, "주": 40 * time.Hour, "개": 160 * time.Hour, "달": 160 * time.Hour}
	first := string([]rune(strings.ToLower(m[3]))[0])
	if strings.HasPrefix(strings.ToLower(m[3]), "month") {
		first = "달"
	}
	return time.Duration(n * float64(unit[first])), true
}

var currencies = map[string]string{"$": "USD", "€": "EUR", "£": "GBP", "₩": "KRW", "usd": "USD", "eur": "EUR", "gbp": "GBP", "krw": "KRW", "jpy": "JPY",
	"dollar": "USD", "dollars": "USD", "euro": "EUR", "euros": "EUR", "pound": "GBP", "pounds": "GBP", "won": "KRW", "원": "KRW", "만원": "KRW", "달러": "USD"}

// ParseMoney finds an amount of money: $500, 1.5k EUR, 50만원.
func ParseMoney(s string) (plan.Money, bool) {
	m := moneyOf.FindStringSubmatch(s)
	if m == nil {
		return plan.Money{}, false
	}
	unit := strings.ReplaceAll(strings.ToLower(m[1]+m[6]+m[7]), " ", "")
	n, err := strconv.ParseFloat(strings.ReplaceAll(m[2]+m[4]+m[8], ",", ""), 64)
	if err != nil || n > 1e9 {
		return plan.Money{}, false
	}
	if m[3]+m[5] != "" {
		n *= 1000
	}
	if unit == "만원" {
		n *= 10_000
	}
	return plan.Money{Micro: int64(n * 1e6), Currency: currencies[unit]}, true
}

// Contradiction finds two constraints that cannot both hold.
func Contradiction(all []Constraint) error {
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.against(b) || b.against(a) {
				return fault.New(fault.Invalid, "two constraints contradict each other: %q and %q", a.Text, b.Text).
					Remedy("keep the one that matters, or say when each of them holds")
			}
		}
	}
	return nil
}

func (c Constraint) against(d Constraint) bool {
	if c.Kind != d.Kind {
		return false
	}
	common := slices.ContainsFunc(c.Names, func(n string) bool { return slices.Contains(d.Names, n) })
	switch c.Kind {
	case Time:
		return c.Least && !d.Least && c.Span > d.Span
	case Cost:
		return c.Least && !d.Least && c.Money.Currency == d.Money.Currency && c.Money.Micro > d.Money.Micro
	case Deadline:
		return false
	case Language:
		return c.Only && d.Only && !common
	case Tools:
		return c.Not && !d.Not && common || c.Only && d.Only && !c.Not && !d.Not && !common
	}
	return false
}
