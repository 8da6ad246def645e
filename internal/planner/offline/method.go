package offline

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/planner"
	"github.com/cairn-plan/cairn/internal/risk"
)

//go:embed methods/*.yaml
var files embed.FS

// general is the method for what no other fits.
const general = "general"

// method is one way of going about a kind of work.
type method struct {
	ID      string     `yaml:"id"`
	Verbs   []string   `yaml:"verbs"`
	Objects []string   `yaml:"objects"`
	Named   bool       `yaml:"named"`   // one of its objects must be named: its verbs alone say too little
	Changes bool       `yaml:"changes"` // it changes what others use, where it runs
	Why     text       `yaml:"why"`
	Done    []text     `yaml:"done"`
	Steps   []template `yaml:"steps"`

	objects words
	grave   bool // a step of it cannot be taken back
}

// template is a step with slots.
type template struct {
	ID       string        `yaml:"id"`
	Kind     plan.Kind     `yaml:"kind"`
	Title    text          `yaml:"title"`
	Do       text          `yaml:"do"`
	Why      text          `yaml:"why"`
	Accept   []text        `yaml:"accept"`
	Lasts    time.Duration `yaml:"lasts"`
	Tier     int           `yaml:"tier"`
	Gives    []string      `yaml:"gives"`
	Needs    *[]string     `yaml:"needs"`    // nil: the step before
	Acts     bool          `yaml:"acts"`     // it does what the clause asks for: it is what a compound plan takes
	Optional bool          `yaml:"optional"` // the first to go when there are too many
	Serves   []string      `yaml:"serves"`   // methods whose part it does
	Effect   risk.Effect   `yaml:"effect"`
	Command  string        `yaml:"command"` // test, build, lint: run where the context tells how
	Reads    bool          `yaml:"reads"`   // it reads the file or the page that the goal names
	Risks    []text        `yaml:"risks"`
}

// text is what a reader sees, in English and, where it was written, in Korean.
type text struct{ en, ko string }

// UnmarshalYAML reads a text, or {en, ko}.
func (t *text) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		t.en = strings.TrimSpace(n.Value)
		return nil
	}
	var both struct{ En, Ko string }
	err := n.Decode(&both)
	t.en, t.ko = strings.TrimSpace(both.En), strings.TrimSpace(both.Ko)
	return err
}

func (t text) in(lang string) string {
	if lang == "ko" && t.ko != "" {
		return t.ko
	}
	return t.en
}

func (m *method) why(lang string) string { return m.Why.in(lang) }

// verifies reports whether a step makes sure that the work is right.
func (t *template) verifies() bool { return t.Kind == plan.Validate && t.ID == "verify" }

// library is all methods, and the words they are known by.
type library struct {
	methods []*method // by id
	verbs   map[string]bool
	terms   lexicon
}

var standard = sync.OnceValues(load)

func load() (*library, error) {
	l := &library{verbs: map[string]bool{}}
	byID := map[string]*method{}
	names, err := fs.Glob(files, "methods/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var all []*method
		d := yaml.NewDecoder(bytes.NewReader(text))
		d.KnownFields(true)
		if err := d.Decode(&all); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, m := range all {
			if byID[m.ID] != nil {
				return nil, fmt.Errorf("%s: the method %s is there twice", name, m.ID)
			}
			byID[m.ID] = m
		}
	}
	if err := yaml.Unmarshal(lexiconText, &l.terms); err != nil {
		return nil, fmt.Errorf("lexicon.yaml: %w", err)
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		m := byID[id]
		m.objects = wordsOf(m.Objects)
		m.grave = slices.ContainsFunc(m.Steps, func(t template) bool { return t.Effect != "" })
		for _, v := range m.Verbs {
			l.verbs[v] = true
		}
		l.methods = append(l.methods, m)
	}
	for _, list := range l.terms.Effects {
		for _, v := range list {
			l.verbs[v] = true
		}
	}
	for _, v := range l.terms.Verbs {
		l.verbs[v] = true
	}
	return l, nil
}

func (l *library) find(id string) *method {
	i := slices.IndexFunc(l.methods, func(m *method) bool { return m.ID == id })
	return l.methods[i]
}

// words is a list to look words up in: single ones by their stem, Korean ones by their beginning, the rest as phrases.
type words struct {
	single  map[string]bool
	korean  []string
	phrases []string
}

func wordsOf(list []string) words {
	w := words{single: map[string]bool{}}
	for _, s := range list {
		switch r := []rune(s); {
		case strings.Contains(s, " "):
			w.phrases = append(w.phrases, " "+strings.Join(planner.Words(s), " ")+" ")
		case planner.IsHangul(r[0]):
			w.korean = append(w.korean, s)
		default:
			w.single[planner.Stem(s)] = true
		}
	}
	return w
}

// hits counts the words of a text that are in the list.
func (w words) hits(said []string) int {
	n := 0
	joined := " " + strings.Join(said, " ") + " "
	for _, p := range w.phrases {
		if strings.Contains(joined, p) {
			n += 2
		}
	}
	for _, s := range said {
		if w.single[s] || slices.ContainsFunc(w.korean, func(k string) bool {
			return s == k || len([]rune(k)) > 1 && strings.HasPrefix(s, k)
		}) {
			n++
		}
	}
	return n
}
