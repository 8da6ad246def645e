package http

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net"
	nethttp "net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

const (
	inline    = 4 << 10
	maxJSON   = 1 << 20
	maxAnswer = 16 << 20
	maxTail   = 4 << 10

	defaultTimeout   = time.Minute
	defaultRedirects = 10
)

// Runner makes requests. It keeps no connection between them: tasks are far apart, and nothing is
// left open when the engine ends.
type Runner struct{ transport nethttp.RoundTripper }

var (
	_ capability.Runner     = (*Runner)(nil)
	_ capability.Classifier = (*Runner)(nil)
)

// New makes a Runner. A nil transport is the usual network.
func New(transport nethttp.RoundTripper) *Runner {
	if transport == nil {
		transport = &nethttp.Transport{
			Proxy:                  nethttp.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
			TLSHandshakeTimeout:    15 * time.Second,
			MaxResponseHeaderBytes: 1 << 20,
			DisableKeepAlives:      true,
			ForceAttemptHTTP2:      true,
		}
	}
	return &Runner{transport}
}

// Class implements capability.Classifier.
func (r *Runner) Class(with json.RawMessage) capability.Class {
	var in struct {
		Method string `json:"method"`
	}
	if err := json.Unmarshal(with, &in); err != nil {
		return capability.Keyed
	}
	return class(strings.ToUpper(in.Method))
}

func class(method string) capability.Class {
	switch method {
	case "", nethttp.MethodGet, nethttp.MethodHead:
		return capability.Repeatable
	}
	return capability.Keyed
}

// Run implements capability.Runner.
func (r *Runner) Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	in, err := parse(call)
	if err != nil {
		return capability.Result{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, in.wait, errTimeout)
	defer cancel()
	req, err := in.request(ctx)
	if err != nil {
		return capability.Result{}, err
	}
	client := nethttp.Client{Transport: r.transport, CheckRedirect: in.follow}
	res, err := client.Do(req)
	if err != nil {
		return capability.Result{}, explain(ctx, in, err)
	}
	defer func() { _ = res.Body.Close() }() // what was not read is not wanted
	return answer(ctx, call, in, res)
}

// answer keeps what came back, and judges it.
func answer(ctx context.Context, call capability.Call, in input, res *nethttp.Response) (capability.Result, error) {
	status := res.StatusCode
	out := capability.Result{Exit: &status, Outputs: map[string]json.RawMessage{
		"status":  asJSON(status),
		"headers": asJSON(headers(res.Header)),
		"url":     asJSON(res.Request.URL.Redacted()),
	}}
	limit := *in.MaxBytes
	body, err := io.ReadAll(io.LimitReader(&alive{res.Body, call.Host}, limit+1))
	if err != nil {
		return out, explain(ctx, in, err)
	}
	if int64(len(body)) > limit {
		return out, fault.New(fault.Failed, "%s answered with more than %d bytes", in.place(), limit).Remedy("raise max_bytes, or ask for less")
	}
	if err := keep(ctx, call, &out, res.Header.Get("Content-Type"), body); err != nil {
		return out, err
	}
	if !in.expected(status) {
		return out, unexpected(in, status, body)
	}
	return out, nil
}

func keep(ctx context.Context, call capability.Call, out *capability.Result, contentType string, body []byte) error {
	kind, _, _ := mime.ParseMediaType(contentType) // what cannot be read is no JSON
	text := utf8.Valid(body)
	if text {
		out.Stdout = tail(body)
	}
	if (kind == "application/json" || strings.HasSuffix(kind, "+json")) && len(body) <= maxJSON && json.Valid(body) {
		out.Outputs["json"] = json.RawMessage(body)
	}
	if text && len(body) <= inline {
		out.Outputs["body"] = asJSON(string(body))
		return nil
	}
	typ := "file"
	if text {
		typ = "text"
	}
	ref, err := call.Host.Put(ctx, "body", typ, bytes.NewReader(body))
	if err != nil {
		return err
	}
	out.Artifacts = append(out.Artifacts, ref)
	return nil
}

func headers(h nethttp.Header) map[string]string {
	all := make(map[string]string, len(h))
	for name, values := range h {
		all[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
	}
	return all
}

// tail is the end of a text, cut between characters.
func tail(b []byte) string {
	if len(b) > maxTail {
		b = b[len(b)-maxTail:]
		for len(b) > 0 && !utf8.RuneStart(b[0]) {
			b = b[1:]
		}
	}
	return string(b)
}

// alive tells the watchdog of every piece that arrives.
type alive struct {
	r    io.Reader
	host capability.Host
}

func (a *alive) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if a.host != nil && n > 0 {
		a.host.Beat()
	}
	return n, err
}

func asJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers, and text made valid, are always JSON
	}
	return raw
}

func (in input) expected(status int) bool {
	if len(in.want) == 0 {
		return status >= 200 && status < 300
	}
	return slices.Contains(in.want, status)
}
