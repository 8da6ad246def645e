package engine

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/redact"
)

// Secrets finds the values that a plan only names.
type Secrets interface {
	Value(ctx context.Context, name string) (string, error)
}

// secretPrefix is how a command finds a secret in its environment: a value on its command line could be seen by others.
const secretPrefix = "CAIRN_SECRET_"

// vault keeps the secrets that a run has used, and takes them, and what looks like one, out of everything that is
// written down.
type vault struct {
	mu     sync.Mutex
	values map[string]string
	red    atomic.Pointer[redact.Redactor]
}

// strangers looks for what is a secret by its shape; it serves every run that has used none of its own.
var strangers = sync.OnceValue(func() *redact.Redactor { return redact.New(nil) })

func (v *vault) redactor() *redact.Redactor {
	if r := v.red.Load(); r != nil {
		return r
	}
	return strangers()
}

func (v *vault) add(name, value string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.values == nil {
		v.values = map[string]string{}
	}
	if v.values[name] == value {
		return
	}
	v.values[name] = value
	v.red.Store(redact.New(v.values))
}

// secret finds a value and makes sure that it is never written down.
func (r *Run) secret(ctx context.Context, name string) (string, error) {
	if r.engine.Secrets == nil {
		return "", fault.New(fault.NotFound, "the plan names the secret %s, and this engine has no store of secrets", name)
	}
	value, err := r.engine.Secrets.Value(ctx, name)
	if err != nil {
		return "", err
	}
	if err := redact.Check(name, value); err != nil {
		return "", err
	}
	r.vault.add(name, value)
	return value, nil
}

// commandLine finds values for a command line: a secret is named there and goes into the environment.
func (r *Run) commandLine(ctx context.Context, sc scope, env map[string]string) expr.Lookup {
	look := r.lookup(ctx, sc)
	return func(ref expr.Ref) (any, error) {
		if ref.Root != expr.Secret {
			return look(ref)
		}
		value, err := r.secret(ctx, ref.Path[0])
		if err != nil {
			return nil, err
		}
		env[secretPrefix+ref.Path[0]] = value
		return expr.Variable(secretPrefix + ref.Path[0]), nil
	}
}

// clean takes secrets out of what an attempt came to.
func (r *Run) clean(res capability.Result, err error) (capability.Result, error) {
	if len(res.Outputs) == 0 && res.Stdout == "" && res.Stderr == "" && err == nil {
		return res, nil
	}
	red := r.vault.redactor()
	if len(res.Outputs) > 0 {
		outputs := make(map[string]json.RawMessage, len(res.Outputs))
		for name, raw := range res.Outputs {
			outputs[name] = red.JSON(raw)
		}
		res.Outputs = outputs
	}
	res.Stdout, res.Stderr = red.String(res.Stdout), red.String(res.Stderr)
	if err != nil {
		if msg, hint := err.Error(), fault.HintOf(err); red.String(msg) != msg || red.String(hint) != hint {
			err = fault.New(fault.CodeOf(err), "%s", red.String(msg)).Remedy("%s", red.String(hint))
		}
	}
	return res, err
}

// told is what a record says of an error: what is wrong, and what to do about it.
func told(err error) string {
	if hint := fault.HintOf(err); hint != "" {
		return clip(err.Error() + " (" + hint + ")")
	}
	return clip(err.Error())
}

// cleaned is a reader's content without secrets.
func (r *Run) cleaned(content io.Reader) (clean io.Reader, stop func()) {
	pr, pw := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w := r.vault.redactor().Writer(pw)
		_, err := io.Copy(w, content)
		pw.CloseWithError(errors.Join(err, w.Close()))
	}()
	return pr, func() {
		_ = pr.Close() // it only tells the writer that nobody reads on
		<-done
	}
}
