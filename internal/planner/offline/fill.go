package offline

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/planner"
)

// usual is how long a step lasts of which nothing else is known.
const usual = 45 * time.Minute

// maxObject bounds what a slot brings into a title.
const maxObject = 70

// filler fills the slots of templates: {object}, and in Korean {object을} with the particle that fits.
type filler struct {
	lang   string
	clause planner.Clause
}

var (
	slot = regexp.MustCompile(`\{object(을|은|이|과|으로)?\}`)
	tail = regexp.MustCompile(`(?i)(?:,? so that| in order to| because)\b.*$| from \S+(?: \S+){0,3} to \S.*$| (?:to|into|onto) (?:production|prod|staging|live|(?:the )?cloud|aws|gcp|azure|kubernetes|english|korean|german|french|spanish|japanese|chinese)$`)
)

// core is what a clause is about, without where it is to go and why.
func core(c planner.Clause) string {
	object := c.Object
	if rest, ok := strings.CutPrefix(object, "why "); ok {
		return "the problem that " + rest
	}
	if strings.HasPrefix(object, "whether ") || strings.HasPrefix(object, "how ") {
		return object
	}
	object = strings.TrimPrefix(object, "for ")
	if cut := tidy(tail.ReplaceAllString(object, "")); cut != "" {
		object = cut
	}
	if slices.Contains([]string{"add", "introduce"}, c.Verb) {
		object = strings.Replace(object, " to ", " for ", 1)
	}
	return object
}

func (f filler) text(t text) string { return f.with(t, core(f.clause)) }

// with fills the slot with what it is given.
func (f filler) with(t text, object string) string {
	object = shorten(object, maxObject)
	if object == "" {
		object = fill(f.lang, "it", "대상")
	}
	said := strings.ReplaceAll(t.in(f.lang), "{clause}", shorten(f.clause.Text, 90))
	return upper(slot.ReplaceAllStringFunc(said, func(m string) string {
		if pair := slot.FindStringSubmatch(m)[1]; pair != "" {
			return object + particle(object, pair)
		}
		return object
	}))
}

func (f filler) step(t *template, before []string) planner.Step {
	s := planner.Step{ID: t.ID, Kind: t.Kind, Title: f.title(t), Action: f.text(t.Do), Tier: t.Tier, Lasts: t.Lasts, Effect: t.Effect,
		Verifies: t.verifies(), Rationale: f.text(t.Why), Gives: slices.Clone(t.Gives), Needs: before}
	if t.Needs != nil {
		s.Needs = slices.Clone(*t.Needs)
	}
	for _, a := range t.Accept {
		s.Accept = append(s.Accept, planner.Check{Says: f.text(a)})
	}
	for _, r := range t.Risks {
		s.Risks = append(s.Risks, f.text(r))
	}
	if s.Tier == 0 {
		s.Tier = 2
	}
	if s.Lasts == 0 {
		s.Lasts = usual
	}
	s.Run = t.Command // what it stands for is bound later, or dropped
	if t.Reads {
		s.Arm = reads
	}
	return s
}

// title names the whole object where the step does what the clause asks for.
func (f filler) title(t *template) string {
	if t.Acts && !slices.Contains([]string{"add", "introduce"}, f.clause.Verb) && !strings.HasPrefix(f.clause.Object, "why ") {
		return f.with(t.Title, f.clause.Object)
	}
	return f.text(t.Title)
}

func fill(lang, en, ko string) string {
	if lang == "ko" {
		return ko
	}
	return en
}

func upper(s string) string {
	r := []rune(s)
	if len(r) == 0 || r[0] < 'a' || r[0] > 'z' {
		return s
	}
	return strings.ToUpper(string(r[:1])) + string(r[1:])
}

// name is made of the words of the first clause; a goal without Latin letters is called after its method and its hash.
func name(parts []part, s planner.Signals) string {
	if id := slug(parts[0].clause.Text, 48); s.Lang == "en" && len(id) >= 3 {
		return id
	}
	h := sha256.Sum256([]byte(s.Text))
	return parts[0].method.ID + "-" + hex.EncodeToString(h[:3])
}

var notInSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slug makes an id of the words that say something.
func slug(text string, most int) string {
	var out []string
	n := 0
	for _, w := range strings.Fields(notInSlug.ReplaceAllString(strings.ToLower(text), " ")) {
		if slices.Contains([]string{"a", "an", "the", "of", "to", "in", "on", "for", "and", "our", "my", "with", "from", "at", "by", "s"}, w) {
			continue
		}
		if n += len(w) + 1; n > most+1 || len(out) == 7 {
			break
		}
		out = append(out, w)
	}
	return strings.Join(out, "-")
}

// done lists what must hold at the end: what the caller says, then what the methods say.
func done(parts []part, goal planner.Goal) []string {
	out := slices.Clone(goal.Done)
	lang := languageOf(goal.Text)
	for _, p := range parts {
		if p.method == nil {
			out = append(out, fill(lang, "Done: ", "완료: ")+shorten(p.clause.Text, 200))
			continue
		}
		for _, d := range p.method.Done {
			if says := (filler{lang, p.clause}).text(d); !slices.Contains(out, says) {
				out = append(out, says)
			}
		}
	}
	return out
}

// promise makes the step that verifies answer for the constraints and for what the caller calls done.
func promise(d *planner.Draft) {
	at := slices.IndexFunc(d.Steps, func(s planner.Step) bool { return s.Verifies })
	if at < 0 {
		return
	}
	v, lang := &d.Steps[at], d.Signals.Lang
	var limits []string
	for _, c := range d.Signals.Constraints {
		limits = append(limits, shorten(c.Text, 120))
	}
	var more []planner.Check
	for _, says := range d.Goal.Done {
		more = append(more, planner.Check{Says: shorten(says, planner.MaxCheck)})
	}
	for _, text := range packed(limits, planner.MaxCheck-40) {
		more = append(more, planner.Check{Says: fill(lang, "The constraints hold: ", "제약 조건을 지킴: ") + text})
	}
	keep := max(1, planner.MaxAccept-len(more))
	v.Accept = append(v.Accept[:min(keep, len(v.Accept))], more[:min(len(more), planner.MaxAccept-min(keep, len(v.Accept)))]...)
	for _, r := range d.Signals.Requirements {
		switch r.Kind {
		case planner.Custom, planner.MustFilter:
			v.Meets = append(v.Meets, r.ID)
		case planner.MustProduce:
			if i := slices.IndexFunc(d.Steps, func(s planner.Step) bool { return len(s.Meets) > 0 }); i >= 0 {
				d.Steps[i].Meets = append(d.Steps[i].Meets, r.ID)
			}
		}
	}
}

// packed joins texts into as few as fit.
func packed(list []string, most int) []string {
	var out []string
	for _, s := range list {
		if n := len(out); n > 0 && len([]rune(out[n-1]))+len([]rune(s))+2 <= most {
			out[n-1] += "; " + s
			continue
		}
		out = append(out, s)
	}
	return out
}
