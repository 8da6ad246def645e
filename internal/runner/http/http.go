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
	defaultRetries   = 2
)

// Runner makes requests. It keeps no connection between them: tasks are far apart, and nothing is
// left open when the engine ends. What it keeps is which servers have failed of late.
type Runner struct {
	transport nethttp.RoundTripper
	clock     Clock
	breakers  breakers
}

var (
	_ capability.Runner     = (*Runner)(nil)
	_ capability.Classifier = (*Runner)(nil)
	_ capability.Previewer  = (*Runner)(nil)
)

// New makes a Runner. A nil transport is the usual network.
func New(transport nethttp.RoundTripper) *Runner { return NewWith(transport, Clock{}) }

// NewWith makes a Runner that goes by a clock of its own.
func NewWith(transport nethttp.RoundTripper, clock Clock) *Runner {
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
	return &Runner{transport: transport, clock: clock.withDefaults()}
}

// All lists the capabilities that a Runner performs.
func All(r *Runner) []capability.Entry {
	return []capability.Entry{
		{Contract: Contract(), Runner: r},
		{Contract: DownloadContract(), Runner: Download{r}},
	}
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
	in, err := parse(call, ID)
	if err != nil {
		return capability.Result{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, in.wait, errTimeout)
	defer cancel()
	if _, err := in.request(ctx); err != nil {
		return capability.Result{}, err
	}
	var got answer
	err = r.persist(ctx, in, func() (nethttp.Header, int, error) {
		got, err = r.ask(ctx, in, call.Host)
		return got.header, got.status, err
	})
	if err != nil && got.status == 0 {
		return capability.Result{}, err
	}
	out := got.result()
	if err != nil {
		return out, err
	}
	if err := keep(ctx, call, &out, got.header.Get("Content-Type"), got.body); err != nil {
		return out, err
	}
	if !in.expected(got.status) {
		return out, unexpected(in, got.status, got.body)
	}
	return out, nil
}

// answer is what came back. Its status is 0 when nothing did.
type answer struct {
	status int
	header nethttp.Header
	url    string
	body   []byte
}

func (a answer) result() capability.Result {
	return capability.Result{Exit: &a.status, Outputs: map[string]json.RawMessage{
		"status": asJSON(a.status), "headers": asJSON(headers(a.header)), "url": asJSON(a.url)}}
}

// ask makes one request, and reads all of its answer.
func (r *Runner) ask(ctx context.Context, in input, host capability.Host) (answer, error) {
	req, err := in.request(ctx)
	if err != nil {
		return answer{}, err
	}
	client := nethttp.Client{Transport: r.transport, CheckRedirect: in.follow}
	res, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }() // what was not read is not wanted
	a := answer{status: res.StatusCode, header: res.Header, url: res.Request.URL.Redacted()}
	limit := *in.MaxBytes
	if a.body, err = io.ReadAll(io.LimitReader(&alive{res.Body, host}, limit+1)); err != nil {
		return a, err
	}
	if int64(len(a.body)) > limit {
		return a, fault.New(fault.Failed, "%s answered with more than %d bytes", in.place(), limit).Remedy("raise max_bytes, or ask for less")
	}
	return a, nil
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
