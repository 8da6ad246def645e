package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

type artifactGetOptions struct {
	what string // PLAN/TASK/NAME, or a hash, or how one begins
	file string
}

func (a *app) artifactGet() *cobra.Command {
	var o artifactGetOptions
	c := &cobra.Command{
		Use:     "get PLAN/TASK/NAME|HASH [-o FILE]",
		Short:   "write the content of an artifact or an output, checked against its hash",
		Example: "  cairn artifact get first/report/report\n  cairn artifact get 9f86d081884c -o report.md",
		Args:    takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			o.what = args[0]
			return a.within(c.Context(), func(_ place, h *House) error {
				return runArtifactGet(c.Context(), h, o, a.io.Out)
			})
		},
	}
	c.Flags().StringVarP(&o.file, "file", "o", "", "write to this file, whole or not at all")
	return c
}

func runArtifactGet(ctx context.Context, h *House, o artifactGetOptions, out io.Writer) error {
	r, err := o.open(ctx, h)
	if err != nil {
		return err
	}
	defer r.Close()
	if o.file == "" {
		_, err := io.Copy(out, r)
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(o.file), ".cairn-*")
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "write %s", o.file).Remedy("name a file in a folder that you can write to")
	}
	defer os.Remove(temp.Name())
	_, err = io.Copy(temp, r)
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), o.file); err != nil {
		return fault.Wrap(fault.Invalid, err, "write %s", o.file).Remedy("name a file in a folder that you can write to")
	}
	return nil
}

func (o artifactGetOptions) open(ctx context.Context, h *House) (io.ReadCloser, error) {
	if !strings.Contains(o.what, "/") {
		id, err := byHash(ctx, h.artifacts(), o.what)
		if err != nil {
			return nil, err
		}
		return h.artifacts().Open(ctx, id)
	}
	plan, rest, _ := strings.Cut(o.what, "/")
	st, _, err := h.Engine.Load(ctx, plan)
	if err != nil {
		return nil, err
	}
	all, err := storedOf(ctx, h.Engine, plan)
	if err != nil {
		return nil, err
	}
	// The newest of that name counts.
	for i := len(all) - 1; i >= 0; i-- {
		if s := all[i]; s.address() == o.what {
			if s.Expired {
				return nil, fault.New(fault.NotFound, "artifact %s was dropped when its retention ended", o.what).
					Remedy("see: cairn log %s", plan)
			}
			return h.artifacts().Open(ctx, s.Hash)
		}
	}
	// A small output is kept in its record.
	if i := strings.LastIndexByte(rest, '/'); i > 0 {
		if t, ok := st.Task(rest[:i]); ok && t.Result != nil {
			if raw, ok := t.Result.Outputs[rest[i+1:]]; ok {
				return io.NopCloser(strings.NewReader(textOf(raw))), nil
			}
		}
	}
	return nil, fault.New(fault.NotFound, "there is no artifact %s", o.what).Remedy("see them with: cairn artifact list %s", plan)
}

// textOf is a value as a person reads it: text as it is, all else as JSON.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw) + "\n"
}

// leastPrefix is how much of a hash must be given to mean it.
const leastPrefix = 6

func byHash(ctx context.Context, store artifact.Store, text string) (digest.ID, error) {
	if id, err := digest.Parse(text); err == nil {
		return id, nil
	}
	if len(text) < leastPrefix || strings.Trim(text, "0123456789abcdef") != "" {
		return digest.ID{}, fault.New(fault.Invalid, "%q is neither PLAN/TASK/NAME nor a hash", text).
			Remedy("give %d letters of a hash or more, or see: cairn artifact list", leastPrefix)
	}
	var found []digest.ID
	for b, err := range store.List(ctx) {
		if err != nil {
			return digest.ID{}, err
		}
		if strings.HasPrefix(b.ID.String(), text) {
			found = append(found, b.ID)
		}
	}
	switch len(found) {
	case 0:
		return digest.ID{}, fault.New(fault.NotFound, "there is no artifact %s", text).Remedy("see them with: cairn artifact list")
	case 1:
		return found[0], nil
	}
	return digest.ID{}, fault.New(fault.Invalid, "%d artifacts begin with %s", len(found), text).Remedy("give more of the hash")
}
