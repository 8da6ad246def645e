package http

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"syscall"

	nethttp "net/http"

	"github.com/cairn-plan/cairn/internal/fault"
)

var (
	errTimeout   = errors.New("the time for the request was over")
	errRedirects = errors.New("too many redirects")
)

// explain says what a request that got no answer, or not all of it, ran into. Each wants something
// else done about it.
func explain(ctx context.Context, in input, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // it repeats the address, with whatever is secret in it
	}
	var dns *net.DNSError
	var wait net.Error
	cause := context.Cause(ctx)
	host := in.to.Hostname()
	switch {
	case errors.Is(cause, errTimeout):
		return fault.Wrap(fault.Failed, cause, "%s took longer than %s", in.place(), in.wait).Remedy("raise timeout, or find out why the server is slow")
	case cause != nil:
		return fault.Wrap(fault.Interrupted, cause, "%s was stopped", in.place())
	case errors.As(err, &dns):
		return fault.Wrap(fault.Failed, err, "%s: the name %s cannot be resolved", in.place(), host).Remedy("check the name, and the network")
	case errors.Is(err, syscall.ECONNREFUSED), strings.Contains(err.Error(), "refused"): // Windows has a number of its own
		return fault.Wrap(fault.Failed, err, "%s: nobody listens at %s", in.place(), in.to.Host).Remedy("start the server, or correct the address and the port")
	case errors.Is(err, errRedirects):
		return fault.Wrap(fault.Failed, err, "%s does not lead to an answer", in.place()).Remedy("ask for the last address directly, or raise redirects")
	case insecure(err):
		return fault.Wrap(fault.Failed, err, "%s: no safe connection to %s", in.place(), host).
			Remedy("check the certificate and its name, the clock of this machine, and that the port speaks https")
	case errors.As(err, &wait) && wait.Timeout():
		return fault.Wrap(fault.Failed, err, "%s: %s does not answer", in.place(), in.to.Host).Remedy("check the address and the network; a firewall may drop the packets")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return fault.Wrap(fault.Failed, err, "%s: the server broke the connection off", in.place()).Remedy("try again; if it stays so, look into the server's log")
	}
	return fault.Wrap(fault.Failed, err, "%s got no answer", in.place())
}

// insecure recognises what goes wrong while a safe connection is made.
func insecure(err error) bool {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verify *tls.CertificateVerificationError
	return errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &unknown) || errors.As(err, &name) || errors.As(err, &invalid) ||
		errors.As(err, &verify) || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

// longest is how much of an unwanted answer goes into a message.
const longest = 200

func unexpected(in input, status int, body []byte) error {
	said := ""
	if line, _, _ := bytes.Cut(bytes.TrimSpace(body), []byte("\n")); len(line) > 0 {
		said = ": " + strings.ToValidUTF8(string(line[:min(len(line), longest)]), "\uFFFD")
	}
	f := fault.New(fault.Failed, "%s answered %d %s%s", in.place(), status, nethttp.StatusText(status), said)
	switch {
	case status == nethttp.StatusUnauthorized, status == nethttp.StatusForbidden:
		return f.Remedy("give the right credentials in headers, by ${secret:NAME}")
	case status == nethttp.StatusNotFound:
		return f.Remedy("check the path of the address")
	case status == nethttp.StatusTooManyRequests: // it was asked again as often as the call allows
		return f.Remedy("wait longer between tries: retry: {times: 5, backoff: 10s..5m}")
	case status >= 500:
		return f.Remedy("the server failed: try again later, or look into its log")
	}
	return f.Remedy("if that is a success here, say so: expect_status: %s", strconv.Itoa(status))
}
