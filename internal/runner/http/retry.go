package http

import (
	"context"
	"errors"
	nethttp "net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Clock tells the time and waits; a test has its own. The zero Clock is the machine's.
type Clock struct {
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) error
}

func (c Clock) withDefaults() Clock {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Wait == nil {
		c.Wait = func(ctx context.Context, d time.Duration) error {
			t := time.NewTimer(d)
			defer t.Stop()
			select {
			case <-t.C:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return c
}

const (
	firstPause = 250 * time.Millisecond
	maxPause   = 30 * time.Second
)

// persist makes a request until it is answered well enough, its retries are used up, or there is no time to wait for
// another. What try returns last is explained.
func (r *Runner) persist(ctx context.Context, in input, try func() (nethttp.Header, int, error)) error {
	host := in.to.Host
	if until, open := r.breakers.open(host, r.clock.Now()); open {
		return fault.New(fault.Failed, "%s failed %d times in a row, and is not asked again before %s", host, tolerance, until.UTC().Format(time.RFC3339)).
			Remedy("see what is wrong with it; the plan goes on by itself with: retry: {times: 3, backoff: 1m..5m}")
	}
	for tries := 0; ; tries++ {
		header, status, err := try()
		if context.Cause(ctx) == nil || errors.Is(context.Cause(ctx), errTimeout) { // being stopped is not its fault
			r.breakers.note(host, failure(in, status, err), r.clock.Now())
		}
		if tries >= *in.Retries || !passing(in, status, err) || ctx.Err() != nil {
			return explained(ctx, in, err)
		}
		pause := min(firstPause<<tries, maxPause)
		if asked, ok := retryAfter(header, r.clock.Now()); ok {
			pause = asked
		}
		if end, ok := ctx.Deadline(); ok && time.Now().Add(pause).After(end) {
			return explained(ctx, in, err) // the time would be over before
		}
		if _, open := r.breakers.open(host, r.clock.Now()); open {
			return explained(ctx, in, err)
		}
		if r.clock.Wait(ctx, pause) != nil {
			return explained(ctx, in, context.Cause(ctx))
		}
	}
}

func explained(ctx context.Context, in input, err error) error {
	var f *fault.Error
	var u *url.Error
	switch {
	case errors.As(err, &f) && errors.As(err, &u):
		return fault.Wrap(f.Code, u.Err, "%s leads elsewhere", in.place()).Remedy("%s", f.Hint) // a redirect that was refused
	case err == nil || f != nil:
		return err
	}
	return explain(ctx, in, err)
}

// failure reports whether a server failed: it gave no answer, or one that says so.
func failure(in input, status int, err error) bool {
	var f *fault.Error
	if errors.As(err, &f) {
		return false // it is ours
	}
	return err != nil || status >= 500 && !in.expected(status)
}

// passing reports whether a failure may be over at the next try.
func passing(in input, status int, err error) bool {
	if !failure(in, status, err) {
		return !in.expected(status) && (status == nethttp.StatusTooManyRequests || status == nethttp.StatusRequestTimeout)
	}
	return !errors.Is(err, errRedirects) && (err == nil || !insecure(err)) && status != nethttp.StatusNotImplemented
}

// retryAfter reads when a server wants to be asked again: in seconds, or at a time.
func retryAfter(h nethttp.Header, now time.Time) (time.Duration, bool) {
	v := h.Get("Retry-After")
	if n, err := strconv.Atoi(v); err == nil && n >= 0 && n <= 1<<20 {
		return time.Duration(n) * time.Second, true
	}
	if t, err := nethttp.ParseTime(v); err == nil {
		return max(0, t.Sub(now)), true
	}
	return 0, false
}
