package workspace

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Fork has another plan begin from a state that this one kept, instead of from the user's files. It only notes where: the
// branch is made when the plan is opened.
func (b *Branch) Fork(ctx context.Context, plan, state string) error {
	commit, err := b.git.line(ctx, "rev-parse", "-q", "--verify", state+"^{commit}")
	if err != nil {
		return fault.Wrap(fault.NotFound, err, "the state %s of plan %s is not kept any more", short(state), b.plan).
			Remedy("fork at another checkpoint")
	}
	text, err := json.Marshal(start{Plan: plan, Head: b.start.Head, Base: commit})
	if err != nil {
		return fault.Wrap(fault.Internal, err, "record the start of plan %s", plan)
	}
	folder := filepath.Join(b.home, "workspaces", "plan-"+strings.ReplaceAll(plan, "/", "+"))
	return writeFile(filepath.Join(folder, "start.json"), string(text)+"\n")
}
