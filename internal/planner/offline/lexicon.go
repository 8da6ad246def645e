package offline

import (
	_ "embed" // the lexicon

	"github.com/cairn-plan/cairn/internal/risk"
)

//go:embed lexicon.yaml
var lexiconText []byte

// lexicon holds the words that no single method owns.
type lexicon struct {
	Verbs    []string                 `yaml:"verbs"`    // begin a clause, and mean no method by themselves
	Common   []string                 `yaml:"common"`   // verbs that say little about the work
	Nouns    []string                 `yaml:"nouns"`    // verbs that are as often nouns
	Effects  map[risk.Effect][]string `yaml:"effects"`  // verbs of what cannot be taken back
	Harmless []string                 `yaml:"harmless"` // objects that are easily had again
	Places   []string                 `yaml:"places"`   // where a change is felt by others at once
	Outputs  []string                 `yaml:"outputs"`  // things that somebody can be handed
	Fillers  []string                 `yaml:"fillers"`  // stand before the verb and say nothing
}
