package noop_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/capability/capabilitytest"
	"github.com/cairn-plan/cairn/internal/runner/noop"
)

func TestContract(t *testing.T) {
	reg := capability.NewRegistry()
	if err := reg.Add(noop.Contract(), noop.Runner); err != nil {
		t.Fatal(err)
	}
	capabilitytest.Run(t, reg, noop.Contract(), capabilitytest.World{})
}

func TestGivesBackOutputs(t *testing.T) {
	res, err := noop.Run(t.Context(), capability.Call{With: json.RawMessage(`{"outputs": {"n": 3}, "anything": "else"}`)})
	if err != nil || len(res.Outputs) != 1 || string(res.Outputs["n"]) != "3" {
		t.Errorf("%v, %v", res, err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	stop(why)
	if _, err := noop.Run(ctx, capability.Call{}); !errors.Is(err, why) {
		t.Errorf("stopped: %v", err)
	}
}
