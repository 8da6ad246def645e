// Package notify tells people outside of cairn what waits for them: a command gets it as JSON on its standard input, or a
// webhook as the body of a POST.
//
// What is told is read from the journal, so it is told only once it is durable, and holds no secret. A mark in the home says how
// far each plan was told. It moves on after what it stands for was taken, so that a crash, or a command that failed, has
// the same told again: at least once, in order. Telling never holds a run up and never fails it. What could not be told is
// a warning, and is tried again with the next record that is worth telling, the next run, or the next command.
package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Config says how people are told: by one of a command and a webhook.
type Config struct {
	Command []string
	Webhook string
	Dir     string        // where the command runs
	Timeout time.Duration // of one notice; 0: patience
}

const (
	patience = 10 * time.Second
	// grace is how long output is waited for after a command has ended: a child of it may hold the pipe.
	grace = 200 * time.Millisecond
	// maxSaid is how much of what a command said about its failure is passed on.
	maxSaid = 300
)

// Sender hands one notice over.
type Sender struct{ c Config }

// Open checks that people can be told.
func Open(c Config) (*Sender, error) {
	if c.Timeout == 0 {
		c.Timeout = patience
	}
	if c.Webhook != "" {
		u, err := url.Parse(c.Webhook)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fault.New(fault.Invalid, "notify.webhook is no address of the web").Remedy("write webhook: https://HOST/PATH")
		}
		return &Sender{c}, nil
	}
	if len(c.Command) == 0 {
		return nil, fault.New(fault.Invalid, "notify names neither a command nor a webhook").Remedy("write notify: {command: [PROGRAM, ARGUMENT]}")
	}
	if _, err := exec.LookPath(c.Command[0]); err != nil && !errors.Is(err, exec.ErrDot) {
		return nil, fault.New(fault.NotFound, "the program %s that notify names is not there", c.Command[0]).
			Remedy("install it, correct notify in cairn.yaml, or take it out")
	}
	return &Sender{c}, nil
}

// Send hands a notice over and waits until it was taken.
func (s *Sender) Send(ctx context.Context, notice []byte) error {
	timed, cancel := context.WithTimeout(ctx, s.c.Timeout)
	defer cancel()
	err := s.send(timed, notice)
	if timed.Err() != nil && ctx.Err() == nil {
		return fault.New(fault.Failed, "%s did not end within %v", s, s.c.Timeout)
	}
	return err
}

func (s *Sender) send(ctx context.Context, notice []byte) error {
	if s.c.Webhook != "" {
		return s.post(ctx, notice)
	}
	cmd := exec.CommandContext(ctx, s.c.Command[0], s.c.Command[1:]...)
	var said bytes.Buffer
	cmd.Dir, cmd.WaitDelay, cmd.Stdin, cmd.Stderr = s.c.Dir, grace, bytes.NewReader(notice), &said
	err := cmd.Run()
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.NotFound, "the program %s is not there", s.c.Command[0])
	}
	text := strings.TrimSpace(said.String())
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "") + "..."
	}
	if text != "" {
		text = ": " + text
	}
	return fault.New(fault.Failed, "%s failed (%v)%s", s, err, text)
}

func (s *Sender) post(ctx context.Context, notice []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.c.Webhook, bytes.NewReader(notice))
	if err != nil {
		return fault.New(fault.Invalid, "%s cannot be reached", s)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		var at *url.Error // it repeats the address, which may hold a password
		if errors.As(err, &at) {
			err = at.Err
		}
		return fault.New(fault.Failed, "%s cannot be reached: %v", s, err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)); err != nil {
		return fault.New(fault.Failed, "%s broke off: %v", s, err)
	}
	if res.StatusCode/100 != 2 {
		return fault.New(fault.Failed, "%s answered %s", s, res.Status)
	}
	return nil
}

// String names whom it tells, without passwords or tokens.
func (s *Sender) String() string {
	if s.c.Webhook == "" {
		return "the command " + s.c.Command[0]
	}
	u, err := url.Parse(s.c.Webhook)
	if err != nil {
		return "the webhook"
	}
	return fmt.Sprintf("the webhook at %s", u.Host)
}
