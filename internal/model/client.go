package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// client is one model, lent out for one errand. It serves one caller at a time.
type client struct {
	set      *Set
	name     string // in the settings
	settings Settings
	wire     Wire
	errand   Errand

	asked []digest.ID // the requests so far: their number is that of the page in the prompt log
}

var errTimeout = errors.New("the time for the request was over")

// Generate implements Model. It asks at most Tries times, whatever goes wrong, and ends within Timeout.
func (c *client) Generate(ctx context.Context, r Request) (Answer, error) {
	a, err := c.generate(ctx, r)
	if ctx.Err() != nil {
		return a, err // it was cut off: whoever goes on has a right to what was paid for
	}
	if err != nil {
		c.set.Recordings.drop(c.errand.Key, c.asked) // another attempt is to have another answer
	}
	c.set.delivered.Store(delivery{c.errand.Key, c.errand.Attempt}, true)
	return a, err
}

func (c *client) generate(ctx context.Context, r Request) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.settings.Timeout, errTimeout)
	defer cancel()
	var schema *capability.Schema
	if len(r.Schema) > 0 {
		var err error
		if schema, err = capability.ParseSchema(r.Schema); err != nil {
			return Answer{}, fault.Wrap(fault.Invalid, err, "the schema of the answer is broken").Remedy("write a JSON Schema of an object")
		}
	}
	r = c.prepared(r)
	for left := c.settings.Tries; ; {
		a, err := c.exchange(ctx, r, &left)
		if err != nil {
			return Answer{}, err
		}
		if a.Finish == Refusal || schema != nil && refuses(a.Text) {
			return a, fault.Wrap(fault.Failed, ErrRefused, "%s would not answer: %s", c.title(), brief(a.Text)).
				Remedy("say what it is for, ask for less, or ask another model")
		}
		if schema == nil || len(a.Calls) > 0 {
			return a, nil
		}
		raw, wrong := fit(schema, a)
		if len(wrong) == 0 {
			a.JSON = raw
			return a, nil
		}
		if left == 0 {
			return a, fault.New(fault.Failed, "%s never answered as it was asked; the last time: %s", c.title(), strings.Join(wrong, "; ")).
				Remedy("simplify the schema, raise max_tokens, or ask another model; every answer is in: cairn prompts %s", c.errand.Plan)
		}
		r = sentBack(r, a, wrong)
	}
}

// prepared settles what a request leaves open, and takes secrets out: they are named to models, never told.
func (c *client) prepared(r Request) Request {
	if r.MaxTokens == 0 {
		r.MaxTokens = c.settings.MaxTokens
	}
	if r.Temperature == nil {
		r.Temperature = c.settings.Temperature
	}
	clean := c.set.Clean
	if clean == nil {
		clean = func(text string) string { return text }
	}
	r.System = clean(strings.ToValidUTF8(r.System, "\uFFFD"))
	messages := make([]Message, len(r.Messages))
	for i, m := range r.Messages {
		m.Text = clean(strings.ToValidUTF8(m.Text, "\uFFFD"))
		messages[i] = m
	}
	r.Messages = messages
	return r
}

// sentBack is the request with an answer that does not fit, and why.
func sentBack(r Request, a Answer, wrong []string) Request {
	why := "That answer was refused: " + strings.Join(wrong, "; ") + ".\nAnswer again with one JSON object that fits the schema, and nothing around it."
	said := a.Text
	if strings.TrimSpace(said) == "" {
		said = "(nothing)" // providers refuse an empty turn
	}
	r.Messages = append(append([]Message(nil), r.Messages...), Message{Role: Assistant, Text: said}, Message{Role: User, Text: why})
	return r
}

// title is how people know the model.
func (c *client) title() string { return c.settings.Provider + " " + c.settings.Model }

// exchange is one answer: recorded, replayed, or asked for and paid.
func (c *client) exchange(ctx context.Context, r Request, left *int) (Answer, error) {
	id, err := r.id(c.settings)
	if err != nil {
		return Answer{}, err
	}
	c.asked = append(c.asked, id)
	if c.set.Replay != nil {
		*left--
		e, err := c.set.Replay.any(ctx, id, c.settings, r)
		return e.answer(), err
	}
	if e, ok, err := c.set.Recordings.under(ctx, id, c.errand.Key); err != nil {
		return Answer{}, err
	} else if ok && !c.outdated(e) {
		*left--
		return e.answer(), c.log(ctx, e)
	}
	settle, err := c.reserve(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	began := c.set.Clock.now()
	a, tries, paid, err := c.persist(ctx, r, left)
	switch {
	case err == nil:
		settle(c.settings.Price.of(a.In, a.Out))
	case !paid:
		settle(budget.Amount{})
	}
	e := c.entry(r, a, err)
	e.ID, e.Time, e.Latency, e.Tries = id.String(), began.UTC(), c.set.Clock.now().Sub(began), tries
	if kerr := c.keep(ctx, id, e, err == nil); err == nil {
		err = kerr
	}
	return a, err
}

// delivery is an answer that came to whoever asked for it, in one attempt.
type delivery struct {
	key     digest.ID
	attempt int
}

// outdated reports whether a recording was delivered by this process to an earlier attempt, which then came to nothing: the
// attempt is a retry, and wants another answer. What a dead process recorded may never have arrived.
func (c *client) outdated(e Entry) bool {
	_, arrived := c.set.delivered.Load(delivery{c.errand.Key, e.Attempt})
	return arrived && e.Attempt != c.errand.Attempt
}

// reserve sets aside the most that an answer can cost: a token has at least one byte of what is sent.
func (c *client) reserve(ctx context.Context, r Request) (func(budget.Amount), error) {
	if c.errand.Reserve == nil {
		return func(budget.Amount) {}, nil
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the request is no JSON")
	}
	settle, err := c.errand.Reserve(ctx, c.settings.Price.of(int64(len(raw)/bytesPerToken+1), int64(r.MaxTokens)))
	if err != nil {
		return nil, fmt.Errorf("asking %s would cost more than there is: %w", c.title(), err)
	}
	return settle, nil
}

// bytesPerToken is how long a token is at least, on the whole of a prompt: English has four bytes, code and Korean about three.
const bytesPerToken = 2

// keep stores an exchange and puts it into the prompt log. A failed one is told, and not kept for the next who asks.
func (c *client) keep(ctx context.Context, id digest.ID, e Entry, good bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second) // it is paid: it is kept even when time is up
	defer cancel()
	if good {
		if err := c.set.Recordings.put(ctx, id, c.errand.Key, e, c.set.Clean); err != nil {
			return err
		}
	}
	return c.log(ctx, e)
}

// log puts an exchange among the artifacts of the task.
func (c *client) log(ctx context.Context, e Entry) error {
	if c.errand.Put == nil {
		return nil
	}
	body, err := json.Marshal(e)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "write a page of the prompt log")
	}
	_, err = c.errand.Put(ctx, fmt.Sprintf("%s%d", PagePrefix, len(c.asked)), PageType, strings.NewReader(c.clean(string(body))))
	return err
}

func (c *client) clean(text string) string {
	if c.set.Clean == nil {
		return text
	}
	return c.set.Clean(text)
}
