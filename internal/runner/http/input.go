package http

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	nethttp "net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// input is what the contract's input schema lets through, and what was made of it.
type input struct {
	URL       string            `json:"url"`
	Method    string            `json:"method"`
	Headers   map[string]string `json:"headers"`
	Body      *string           `json:"body"`
	JSON      json.RawMessage   `json:"json"`
	Expect    json.RawMessage   `json:"expect_status"`
	Timeout   string            `json:"timeout"`
	MaxBytes  *int64            `json:"max_bytes"`
	Redirects *int              `json:"redirects"`
	Retries   *int              `json:"retries"`

	to   *url.URL
	key  string
	want []int
	wait time.Duration
	may  func(host string) error
	lim  capability.Limits
}

func parse(call capability.Call, id string) (input, error) {
	in := input{wait: defaultTimeout, key: call.Key.String(), may: call.May, lim: call.Limits}
	if err := json.Unmarshal(call.With, &in); err != nil {
		return in, wrong(id, err)
	}
	var err error
	if in.to, err = url.Parse(in.URL); err != nil || in.to.Host == "" || in.to.Scheme != "http" && in.to.Scheme != "https" {
		return in, fault.New(fault.Invalid, "%q is no address of a web server", clean(in.URL)).
			Remedy("write it whole: https://host/path")
	}
	if err := call.Limits.ReachURL(in.to); err != nil {
		return in, err
	}
	if in.Method = strings.ToUpper(in.Method); in.Method == "" {
		in.Method = nethttp.MethodGet
	}
	if in.Timeout != "" {
		if in.wait, err = time.ParseDuration(in.Timeout); err != nil || in.wait <= 0 {
			return in, fault.New(fault.Invalid, "%q is no timeout", in.Timeout).Remedy("write it like 500ms, 10s or 2m")
		}
	}
	if in.MaxBytes == nil || *in.MaxBytes < 0 {
		in.MaxBytes = ptr(int64(maxAnswer))
	}
	if in.Redirects == nil {
		in.Redirects = ptr(defaultRedirects)
	}
	if in.Retries == nil {
		in.Retries = ptr(0)
		if class(in.Method) == capability.Repeatable {
			in.Retries = ptr(defaultRetries)
		}
	}
	if *in.Retries > 0 && !idempotent(in.Method) {
		return in, fault.New(fault.Invalid, "%s may do something each time, so it is not tried again at once", in.Method).
			Remedy("leave retries out, and let the plan decide: retry: {times: 3, backoff: 2s..30s}")
	}
	err = in.statuses()
	return in, err
}

func wrong(id string, err error) error {
	return fault.Wrap(fault.Invalid, err, "the inputs of %s are wrong", id).Remedy("see what it takes with: cairn capability show %s", id)
}

// idempotent reports whether a method is the same when it arrives twice, by its definition.
func idempotent(method string) bool {
	switch method {
	case nethttp.MethodGet, nethttp.MethodHead, nethttp.MethodOptions, nethttp.MethodPut, nethttp.MethodDelete:
		return true
	}
	return false
}

func ptr[T any](v T) *T { return &v }

// statuses reads one status or a list of them.
func (in *input) statuses() error {
	var one int
	switch {
	case in.Expect == nil:
		return nil
	case json.Unmarshal(in.Expect, &one) == nil:
		in.want = []int{one}
		return nil
	case json.Unmarshal(in.Expect, &in.want) != nil:
		return fault.New(fault.Invalid, "expect_status is neither a number nor a list of numbers")
	}
	return nil
}

func (in input) request(ctx context.Context) (*nethttp.Request, error) {
	var body []byte
	switch {
	case in.Body != nil:
		body = []byte(*in.Body)
	case in.JSON != nil:
		body = in.JSON
	}
	req, err := nethttp.NewRequestWithContext(ctx, in.Method, in.to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the request cannot be made")
	}
	req.Header.Set("User-Agent", "cairn")
	if in.JSON != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if class(in.Method) == capability.Keyed {
		req.Header.Set("Idempotency-Key", in.key)
	}
	for name, value := range in.Headers {
		if strings.EqualFold(name, "host") {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	return req, nil
}

// follow bounds the redirects. With none wanted, the redirect itself is the answer. What the call put
// into headers is for the server that it named, and for no other.
func (in input) follow(next *nethttp.Request, via []*nethttp.Request) error {
	if next.URL.Host != in.to.Host || next.URL.Scheme != in.to.Scheme {
		for name := range in.Headers {
			next.Header.Del(name)
		}
		next.Header.Del("Idempotency-Key")
	}
	if *in.Redirects == 0 {
		return nethttp.ErrUseLastResponse
	}
	if err := in.lim.ReachURL(next.URL); err != nil {
		return err
	}
	if in.may != nil {
		if err := in.may(next.URL.Hostname()); err != nil {
			return err
		}
	}
	if len(via) > *in.Redirects {
		return fmt.Errorf("%w: more than %d", errRedirects, *in.Redirects)
	}
	return nil
}

// place is the address without what may be secret in it.
func (in input) place() string {
	return in.Method + " " + in.to.Scheme + "://" + in.to.Host + in.to.Path
}

// clean is a text that is to be an address, without a password that may be in it.
func clean(s string) string {
	if at := strings.LastIndex(s, "@"); at >= 0 {
		return "..." + s[at:]
	}
	return s
}
