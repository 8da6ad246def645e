package manifest

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/expr"
)

// remote performs a capability by an HTTP request, which http makes. A request that has a body
// carries the inputs as JSON; in the URL, ${inputs.NAME} is put in as one escaped piece.
type remote struct {
	manifest manifest
	http     capability.Runner
	gives    giving
}

var _ capability.Runner = (*remote)(nil)

// Run implements capability.Runner.
func (r *remote) Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	values, err := newScope(ctx, call, r.manifest.Needs.Secrets)
	if err != nil {
		return capability.Result{}, err
	}
	with, err := r.request(call.With, values)
	if err != nil {
		return capability.Result{}, err
	}
	kept := &holder{Host: call.Host}
	inner := call
	inner.With, inner.Host, inner.Want = with, kept, nil
	res, err := r.http.Run(ctx, inner)
	res.Stdout = string(values.redact([]byte(res.Stdout)))
	answer := values.redact(kept.body(res))
	res.Artifacts, res.Outputs = nil, nil // what is long is stored below, under the name the manifest has for it
	if err != nil {
		return res, err
	}
	err = r.gives.put(ctx, call, &res, r.gives.read(answer, "body"))
	return res, err
}

func (r *remote) request(with json.RawMessage, values scope) (json.RawMessage, error) {
	to, err := fill(r.manifest.URL, func(ref expr.Ref) (any, error) {
		v, err := values.any(ref)
		if err != nil {
			return nil, err
		}
		text, err := expr.Plain(v)
		return escape(text), err
	})
	if err != nil {
		return nil, err
	}
	req := map[string]any{"url": to}
	if method := strings.ToUpper(r.manifest.Method); method != "" {
		req["method"] = method
		if method != "GET" && method != "HEAD" {
			req["json"] = with
		}
	}
	if r.manifest.Expect != nil {
		req["expect_status"] = r.manifest.Expect
	}
	headers := map[string]string{}
	for name, v := range r.manifest.Headers {
		if headers[name], err = fill(v, values.any); err != nil {
			return nil, err
		}
	}
	req["headers"] = headers
	return json.Marshal(req)
}

// escape makes a text one piece of a URL, in a path as in a query.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
