package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
)

// maxKept bounds what is remembered of one stored content: a longer one is stored, and the calls
// after it do not see it.
const maxKept = 16 << 20

// keeper is the host of one call of a chain. It stores what it is given under a name of its own,
// and remembers texts, for the calls that come after to read.
type keeper struct {
	capability.Host
	prefix string

	mu   sync.Mutex
	kept map[string]*bytes.Buffer
}

// Put implements capability.Host.
func (k *keeper) Put(ctx context.Context, name, typ string, r io.Reader) (capability.Ref, error) {
	kept := &bytes.Buffer{}
	ref, err := k.Host.Put(ctx, k.prefix+name, typ, io.TeeReader(r, &limited{kept, maxKept + 1}))
	if err != nil {
		return ref, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		k.kept = map[string]*bytes.Buffer{}
	}
	k.kept[name] = kept
	return ref, nil
}

// texts are the contents that can be handed on, as JSON.
func (k *keeper) texts() map[string]json.RawMessage {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := map[string]json.RawMessage{}
	for name, b := range k.kept {
		if b.Len() <= maxKept && utf8.Valid(b.Bytes()) {
			all[name], _ = json.Marshal(b.String()) // text is always JSON
		}
	}
	return all
}

// limited keeps the first left bytes and drops the rest.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(l.left, len(p))
	l.left -= n
	if _, err := l.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Reserve implements capability.Spender, as far as the host of the chain does.
func (k *keeper) Reserve(ctx context.Context, want budget.Amount) (func(budget.Amount), error) {
	return capability.Call{Host: k.Host}.Reserve(ctx, want)
}
