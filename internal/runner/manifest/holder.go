package manifest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/cairn-plan/cairn/internal/capability"
)

// holder is the host of a request: it keeps a long answer instead of storing it, for the manifest may
// have another name for it.
type holder struct {
	capability.Host
	content []byte
}

// Put implements capability.Host.
func (h *holder) Put(_ context.Context, name, typ string, r io.Reader) (capability.Ref, error) {
	var b bytes.Buffer
	_, err := b.ReadFrom(r)
	h.content = b.Bytes()
	return capability.Ref{Name: name, Type: typ, Size: int64(b.Len())}, err
}

// body is what a request answered.
func (h *holder) body(res capability.Result) []byte {
	var text string
	if h.content == nil && json.Unmarshal(res.Outputs["body"], &text) == nil {
		return []byte(text)
	}
	return h.content
}
