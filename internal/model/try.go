package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

const (
	firstPause = 250 * time.Millisecond
	longPause  = 4 * time.Second
	maxBody    = 8 << 20 // of an answer, as it comes
)

// broken is an answer that did not come whole: the next may.
type broken struct{ err error }

func (b broken) Error() string { return b.err.Error() }
func (b broken) Unwrap() error { return b.err }

// reply is what a server answered; its status is 0 when nothing came.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// persist asks until there is an answer, the tries are used up, or there is no time for another. paid says that a server may
// have done the work although no answer came of it.
func (c *client) persist(ctx context.Context, r Request, left *int) (a Answer, tries int, paid bool, err error) {
	call, err := c.address(ctx, r)
	if err != nil {
		return Answer{}, 0, false, err
	}
	server, clock := c.set.base(c.settings), c.set.Clock
	if until, open := c.set.breakers.open(server, clock.now()); open {
		return Answer{}, 0, false, fault.New(fault.Failed, "%s failed %d times in a row, and is not asked again before %s", server, tolerance, until.UTC().Format(time.RFC3339)).
			Remedy("see what is wrong with it, or ask another model")
	}
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		*left--
		tries++
		rep, err := c.send(ctx, call)
		if err == nil && rep.status == http.StatusOK {
			if a, err = c.wire.Decode(r, rep.body); err == nil {
				c.set.breakers.note(server, false, clock.now())
				return a, tries, true, nil
			}
			err = broken{err}
		}
		paid = paid || err != nil && rep.status != 0 || errors.Is(context.Cause(ctx), errTimeout)
		if ctx.Err() == nil || errors.Is(context.Cause(ctx), errTimeout) { // being stopped is not its fault
			c.set.breakers.note(server, err != nil || rep.status >= 500, clock.now())
		}
		if *left <= 0 || !passing(rep, err) || ctx.Err() != nil {
			return Answer{}, tries, paid, c.explain(ctx, rep, err, tries)
		}
		wait := pause
		if asked, ok := retryAfter(rep.header, clock.now()); ok {
			wait = asked
		}
		if end, ok := ctx.Deadline(); ok && time.Now().Add(wait).After(end) {
			return Answer{}, tries, paid, c.explain(ctx, rep, err, tries) // the time would be over before
		}
		if _, open := c.set.breakers.open(server, clock.now()); open {
			return Answer{}, tries, paid, c.explain(ctx, rep, err, tries)
		}
		if clock.wait(ctx, wait) != nil {
			return Answer{}, tries, paid, c.explain(ctx, rep, context.Cause(ctx), tries)
		}
	}
}

// outgoing is a request as it goes over the wire, as often as it must.
type outgoing struct {
	url    *url.URL
	header http.Header
	body   []byte
}

// address writes a request, with the key in it.
func (c *client) address(ctx context.Context, r Request) (outgoing, error) {
	key, err := c.key(ctx)
	if err != nil {
		return outgoing{}, err
	}
	path, header, body, err := c.wire.Encode(c.settings, key, r)
	if err != nil {
		return outgoing{}, fault.Wrap(fault.Invalid, err, "the request cannot be written for %s", c.settings.Provider)
	}
	u, err := url.Parse(c.set.base(c.settings) + path)
	if err != nil {
		return outgoing{}, fault.Wrap(fault.Invalid, err, "model %s has no address", c.name)
	}
	if c.errand.Allow != nil {
		if err := c.errand.Allow(u); err != nil {
			return outgoing{}, err
		}
	}
	return outgoing{u, header, body}, nil
}

// key finds the key of a model. The usual key of a provider goes to its own server and to no other.
func (c *client) key(ctx context.Context) (string, error) {
	_, name := c.wire.Usual()
	if c.settings.Key != "" {
		name = c.settings.Key
	} else if c.settings.URL != "" {
		return "", nil
	}
	find := c.errand.Secret
	if find == nil {
		find = c.set.Secret
	}
	if find == nil {
		return "", fault.New(fault.NotFound, "model %s needs the secret %s, and there is no store of secrets", c.name, name)
	}
	key, err := find(ctx, name)
	if err != nil {
		return "", fault.Wrap(fault.CodeOf(err), err, "model %s has no key", c.name).Remedy("%s", fault.HintOf(err))
	}
	return key, nil
}

// send asks once and reads all of the answer. Nothing is followed elsewhere: the key would go with it.
func (c *client) send(ctx context.Context, o outgoing) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.url.String(), bytes.NewReader(o.body))
	if err != nil {
		return reply{}, err
	}
	req.Header = o.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "cairn")
	transport := c.set.Transport
	if transport == nil {
		transport = usualTransport()
	}
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = res.Body.Close() }() // what was not read is not wanted
	rep := reply{status: res.StatusCode, header: res.Header}
	rep.body, err = io.ReadAll(io.LimitReader(&alive{res.Body, c.errand.Beat}, maxBody+1))
	if err == nil && len(rep.body) > maxBody {
		err = fault.New(fault.Failed, "%s answered with more than %d bytes", c.title(), maxBody).Remedy("lower max_tokens, or see what that server does")
	}
	return rep, err
}

// alive tells the watchdog of every piece that arrives.
type alive struct {
	r    io.Reader
	beat func()
}

func (a *alive) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if n > 0 && a.beat != nil {
		a.beat()
	}
	return n, err
}

// passing reports whether a failure may be over at the next try.
func passing(rep reply, err error) bool {
	var ours *fault.Error
	if errors.As(err, &ours) {
		return false
	}
	if err != nil {
		return !insecure(err)
	}
	switch rep.status {
	case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusConflict:
		return true
	case http.StatusNotImplemented:
		return false
	}
	return rep.status >= 500
}

// retryAfter reads when a server wants to be asked again: in seconds, or at a time.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	v := h.Get("Retry-After")
	if n, err := strconv.ParseFloat(v, 64); err == nil && n >= 0 && n <= 1<<20 {
		return time.Duration(n * float64(time.Second)), true
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, t.Sub(now)), true
	}
	return 0, false
}

// complaint is what an error's body says, in the form that all providers have.
func complaint(body []byte) string {
	var said struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	var inner struct {
		Message string `json:"message"`
	}
	text := said.Message
	if json.Unmarshal(said.Error, &inner) == nil && inner.Message != "" {
		text = inner.Message
	} else {
		_ = json.Unmarshal(said.Error, &text) // some servers say it in one string
	}
	return brief(text)
}
