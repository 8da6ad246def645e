package manifest

import (
	"context"
	"os"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// want adds the outputs that the plan itself declares: a stream, or a file that was left behind in the
// task's directory.
func want(ctx context.Context, call capability.Call, res *capability.Result, printed []byte) error {
	for _, w := range call.Want {
		switch {
		case w.From == "stdout":
			res.Outputs[w.Name] = asText(string(printed))
		case w.From == "stderr":
			res.Outputs[w.Name] = asText(res.Stderr)
		case w.Path != "":
			ref, err := left(ctx, call, w)
			if err != nil {
				return err
			}
			res.Artifacts = append(res.Artifacts, ref)
		}
	}
	return nil
}

func left(ctx context.Context, call capability.Call, w capability.Want) (capability.Ref, error) {
	root, err := os.OpenRoot(call.Dir)
	if err != nil {
		return capability.Ref{}, fault.Wrap(fault.NotFound, err, "the working directory cannot be opened")
	}
	defer func() { _ = root.Close() }() // it was only looked through
	f, err := root.Open(w.Path)
	if err != nil {
		return capability.Ref{}, fault.Wrap(fault.Failed, err, "output %s: %s was not left behind", w.Name, w.Path).
			Remedy("correct the path, which is from the task's directory")
	}
	defer func() { _ = f.Close() }() // it was only read
	return call.Host.Put(ctx, w.Name, w.Type, f)
}
