package human_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/runner/human"
)

// What a contract takes, the law can read; and what the law answers with, the contract promises.
func TestContractsAndLawAgree(t *testing.T) {
	reg := capability.NewRegistry()
	for _, e := range human.All() {
		if err := reg.Add(e.Contract, e.Runner); err != nil {
			t.Fatal(err)
		}
		for _, x := range e.Contract.Examples {
			if err := reg.Check(e.Contract.ID, x.With); err != nil {
				t.Error(err)
			}
			spec := &plan.Task{ID: "q", Uses: e.Contract.ID}
			if !lifecycle.IsQuestion(spec) {
				t.Errorf("%s would be started", spec.Uses)
			}
			q, err := lifecycle.ReadQuestion(spec, x.With)
			if err != nil || q.Asks == "" {
				t.Fatal(q, err)
			}
			text := "words"
			if q.Decides {
				text = q.Options[0].ID
			}
			out, err := q.Answer(text)
			if err != nil {
				t.Fatal(err)
			}
			if err := reg.Snapshot().CheckOutputs(spec.Uses, out); err != nil {
				t.Error(err)
			}
		}
	}
	for _, with := range []string{`{}`, `{"question":"?"}`, `{"question":"?","options":[]}`, `{"question":"?","options":[{"says":"x"}]}`, `{"question":"?","options":[{"id":"a","prize":1}]}`} {
		if reg.Check(lifecycle.HumanDecide, json.RawMessage(with)) == nil {
			t.Errorf("takes %s", with)
		}
	}
}

func TestNobodyIsAskedInsideOfACall(t *testing.T) {
	for _, e := range human.All() {
		if _, err := e.Runner.Run(t.Context(), capability.Call{}); !fault.Is(err, fault.Invalid) {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.Runner.Run(ctx, capability.Call{}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
