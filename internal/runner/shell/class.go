package shell

import (
	"encoding/json"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/risk"
)

var _ capability.Classifier = (*Runner)(nil)

// Class implements capability.Classifier. A command can be repeated, as make would, unless it is seen to push, delete,
// spend or migrate: then it must not run again before somebody knows what the first time came to.
func (r *Runner) Class(with json.RawMessage) capability.Class {
	var in input
	if err := json.Unmarshal(with, &in); err != nil {
		return capability.Once
	}
	if _, once := risk.Worst(risk.Shell(in.Run)); once {
		return capability.Once
	}
	return capability.Repeatable
}
