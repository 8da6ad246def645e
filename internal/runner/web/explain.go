package web

import (
	"context"
	"errors"
	"net"
	nethttp "net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/cairn-plan/cairn/internal/fault"
)

// place is the address without what may be secret in it.
func (in input) place() string { return in.to.Scheme + "://" + in.to.Host + in.to.Path }

// explain says what a page that did not come ran into.
func explain(ctx context.Context, in input, err error) error {
	var f *fault.Error
	var dns *net.DNSError
	var wait net.Error
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errTimeout):
		return fault.Wrap(fault.Failed, cause, "%s took longer than %s", in.place(), in.wait).Remedy("raise timeout, or find out why the server is slow")
	case cause != nil && fault.Is(cause, fault.Failed): // a watchdog's word
		return cause
	case cause != nil:
		return fault.Wrap(fault.Interrupted, cause, "fetching %s was stopped", in.place())
	case errors.As(err, &f): // also from within a redirect
		return f
	case errors.Is(err, errRedirects):
		return fault.New(fault.Failed, "%s leads on and on, and to no page", in.place()).Remedy("ask for the last address directly")
	case errors.As(err, &dns):
		return fault.New(fault.Failed, "%s: the name %s cannot be resolved", in.place(), dns.Name).Remedy("check the name, and the network")
	case errors.Is(err, syscall.ECONNREFUSED), strings.Contains(err.Error(), "refused"):
		return fault.New(fault.Failed, "%s: nobody listens at %s", in.place(), in.to.Host).Remedy("check the address")
	case strings.Contains(err.Error(), "tls:"), strings.Contains(err.Error(), "x509:"), strings.Contains(err.Error(), "HTTP response to HTTPS"):
		return fault.New(fault.Failed, "%s: no safe connection to %s", in.place(), in.to.Hostname()).Remedy("check its certificate, and the clock of this machine")
	case errors.As(err, &wait) && wait.Timeout():
		return fault.New(fault.Failed, "%s: %s does not answer", in.place(), in.to.Host).Remedy("check the address and the network")
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // it repeats the address, with whatever is secret in it
	}
	return fault.Wrap(fault.Failed, err, "%s did not come whole", in.place()).Remedy("try again")
}

func unexpected(in input, a answer) error {
	f := fault.New(fault.Failed, "%s answered %d %s", in.place(), a.status, nethttp.StatusText(a.status))
	switch {
	case a.status == nethttp.StatusUnauthorized, a.status == nethttp.StatusForbidden:
		return f.Remedy("the page is not for everybody: fetch it with http.request and credentials in headers")
	case a.status == nethttp.StatusNotFound, a.status == nethttp.StatusGone:
		return f.Remedy("check the path of the address")
	case a.status == nethttp.StatusTooManyRequests:
		return f.Remedy("wait longer between tries: retry: {times: 5, backoff: 10s..5m}")
	case a.status >= 500:
		return f.Remedy("the server failed: try again later")
	}
	return f.Remedy("see what the page says in a browser")
}
