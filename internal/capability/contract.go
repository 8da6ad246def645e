package capability

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Criticalities lists how much harm a capability can do, from none to most.
var Criticalities = []string{"safe", "moderate", "critical", "dangerous"}

var idForm = regexp.MustCompile(`^[a-z][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)*$`)

const maxID = 100

// Validate reports all that is wrong with a contract.
func (c Contract) Validate() error {
	_, _, err := c.compile()
	return err
}

func (c Contract) compile() (inputs, outputs *Schema, err error) {
	var wrong []string
	note := func(bad bool, format string, args ...any) {
		if bad {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	note(!idForm.MatchString(c.ID) || len(c.ID) > maxID, "its id must be like noun.verb, in small letters")
	note(strings.TrimSpace(c.Version) == "", "it has no version")
	note(strings.TrimSpace(c.Summary) == "", "it has no summary")
	note(!slices.Contains(Classes, c.Repeat), "repeat is %q, not one of %s", c.Repeat, list(Classes))
	note(c.Criticality != "" && !slices.Contains(Criticalities, c.Criticality), "criticality is %q, not one of %s", c.Criticality, list(Criticalities))
	note(c.CostTier < 0 || c.CostTier > 5, "its cost tier is %d, not 1 to 5", c.CostTier)
	note(c.Estimate < 0, "its estimated duration is below zero")
	inputs, err = ParseSchema(c.Inputs)
	note(err != nil, "the schema of its inputs is broken: %v", err)
	outputs, err = ParseSchema(c.Outputs)
	note(err != nil, "the schema of its outputs is broken: %v", err)
	if inputs != nil {
		for _, name := range c.Positional {
			note(inputs.root.Properties[name] == nil, "the positional input %q is not in its schema", name)
		}
		for i, e := range c.Examples {
			for _, f := range inputs.findings(e.With, false) {
				note(true, "example %d: %s", i+1, f)
			}
		}
	}
	if len(wrong) > 0 {
		return nil, nil, fault.New(fault.Invalid, "the contract of %q from %s is not sound: %s", c.ID, c.provider(), strings.Join(wrong, "; ")).
			Remedy("correct it, then try it with: cairn capability test %s", c.ID)
	}
	return inputs, outputs, nil
}

func list[S ~string](all []S) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}
