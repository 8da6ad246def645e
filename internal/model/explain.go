package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/cairn-plan/cairn/internal/fault"
)

// explain says why there is no answer, and what to do.
func (c *client) explain(ctx context.Context, rep reply, err error, tries int) error {
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errTimeout) {
		return context.Cause(ctx) // somebody else ended it
	}
	if err == nil {
		return c.status(rep, tries)
	}
	var ours *fault.Error
	var garbled broken
	var dns *net.DNSError
	host := c.set.base(c.settings)
	switch {
	case errors.As(err, &ours):
		return ours
	case errors.Is(context.Cause(ctx), errTimeout):
		return fault.Wrap(fault.Failed, errTimeout, "%s gave no answer within %s", c.title(), c.settings.Timeout).
			Remedy("raise timeout of model %s, lower max_tokens, or see whether the server is well", c.name)
	case errors.As(err, &garbled):
		return fault.New(fault.Failed, "%s answered %s what is no answer: %s", c.title(), times(tries), brief(err.Error())).
			Remedy("see whether %s is the address of a server that speaks as %s does", host, c.settings.Provider)
	case errors.As(err, &dns):
		return fault.Wrap(fault.Failed, err, "%s: the host of %s is not known", c.title(), host).Remedy("check url of model %s, and the network", c.name)
	case errors.Is(err, syscall.ECONNREFUSED), strings.Contains(err.Error(), "refused"): // Windows has a number of its own
		return fault.Wrap(fault.Failed, err, "%s: nobody listens at %s", c.title(), host).Remedy("start the server, or correct url of model %s", c.name)
	case insecure(err):
		return fault.Wrap(fault.Failed, err, "%s: no safe connection to %s", c.title(), host).Remedy("check the certificate and its name, the clock of this machine, and that the port speaks https")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return fault.Wrap(fault.Failed, err, "%s broke the connection off %s", c.title(), times(tries)).Remedy("try again later; if it stays so, look into the server's log")
	}
	return fault.Wrap(fault.Failed, err, "%s gave no answer", c.title()).Remedy("check url of model %s, and the network", c.name)
}

// status says what an answer other than 200 means.
func (c *client) status(rep reply, tries int) error {
	said := complaint(rep.body)
	if said != "" {
		said = ": " + said
	}
	f := fault.New(fault.Failed, "%s answered %s %d %s%s", c.title(), times(tries), rep.status, http.StatusText(rep.status), c.clean(said))
	switch {
	case rep.status == http.StatusUnauthorized, rep.status == http.StatusForbidden:
		_, usual := c.wire.Usual()
		return f.Remedy("give the right key: key of model %s in cairn.yaml names a secret; the usual one is %s", c.name, usual)
	case rep.status == http.StatusNotFound:
		return f.Remedy("check model and url of model %s in cairn.yaml", c.name)
	case rep.status == http.StatusTooManyRequests:
		return f.Remedy("wait and go on later: retry: {times: 5, backoff: 10s..5m}; or raise timeout and tries of model %s", c.name)
	case rep.status >= 300 && rep.status < 400:
		return f.Remedy("write the address that it leads to as url of model %s: it is not followed, or the key would go with it", c.name)
	case rep.status >= 500:
		return f.Remedy("the server failed: try again later, or look into its log")
	}
	return f.Remedy("correct what it complains of, or model %s in cairn.yaml", c.name)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("the last of %d times", n)
}

// insecure recognises what goes wrong while a safe connection is made.
func insecure(err error) bool {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var verify *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	return errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &verify) || errors.As(err, &unknown) ||
		strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}
