package assembly

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/workspace"
)

// The workspaces that a policy can name.
const (
	InPlace  = "here"
	OnBranch = "branch"
)

// spaces are the workspaces that a house has opened. One in place serves every plan; each plan has a branch of its own.
type spaces struct {
	mu     sync.Mutex
	here   *workspace.Here
	branch map[string]*workspace.Branch
}

// workspace opens the workspace of a plan. In place it is kept where it can be: without git, or where the project is a
// whole home folder or disk, tasks run all the same, and there is no tree to go back to.
func (h *House) workspace(ctx context.Context, plan, kind string) (engine.Workspace, error) {
	h.spaces.mu.Lock()
	defer h.spaces.mu.Unlock()
	switch kind {
	case InPlace:
		if h.spaces.here == nil {
			if _, err := exec.LookPath("git"); err != nil || tooWide(h.Root) {
				return nil, nil
			}
			here, err := workspace.OpenHere(ctx, h.Root, h.Home, workspace.Options{Holds: h.secrets.holds})
			if err != nil {
				return nil, err
			}
			h.spaces.here = here
		}
		return h.spaces.here, nil
	case OnBranch:
		return h.openBranch(ctx, plan)
	}
	return nil, fault.New(fault.Invalid, "%q is no workspace", kind).Remedy("write workspace: here, or workspace: branch")
}

func (h *House) openBranch(ctx context.Context, plan string) (*workspace.Branch, error) {
	if b := h.spaces.branch[plan]; b != nil {
		return b, nil
	}
	b, err := workspace.OpenBranch(ctx, h.Root, h.Home, plan, workspace.Options{Holds: h.secrets.holds})
	if err != nil {
		return nil, err
	}
	if h.spaces.branch == nil {
		h.spaces.branch = map[string]*workspace.Branch{}
	}
	h.spaces.branch[plan] = b
	return b, nil
}

// Apply brings the result of a plan that ran on a branch of its own into the user's work tree.
func (h *House) Apply(ctx context.Context, plan string) (workspace.Applied, error) {
	st, _, err := h.Engine.Load(ctx, plan)
	if err != nil {
		return workspace.Applied{}, err
	}
	if st.Plan.Policy == nil || st.Plan.Policy.Workspace != OnBranch {
		return workspace.Applied{}, fault.New(fault.Conflict, "plan %s worked in place: its files are there already", plan).
			Remedy("only a plan with policy: {workspace: branch} is brought home")
	}
	h.spaces.mu.Lock()
	defer h.spaces.mu.Unlock()
	b, err := h.openBranch(ctx, plan)
	if err != nil {
		return workspace.Applied{}, err
	}
	return b.Apply(ctx)
}

// tooWide reports whether a project is so wide that keeping all of it was hardly meant.
func tooWide(root string) bool {
	user, err := os.UserHomeDir()
	return root == filepath.Dir(root) || err == nil && root == user
}

func (s *spaces) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	if s.here != nil {
		errs = append(errs, s.here.Close())
	}
	for _, b := range s.branch {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}
