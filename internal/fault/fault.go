// Package fault is the one shape of an error that reaches a person: a code that every door
// translates the same way, what is wrong, where, and a remedy that someone has tried.
//
// An error without a code is our own fault (Internal): whoever lets one reach a door has
// forgotten to say what the caller can do about it.
package fault

import (
	"errors"
	"fmt"
)

// Code says whose turn it is. It decides the exit status and the HTTP status, nowhere else.
type Code string

// The codes, each with its exit status in the table below.
const (
	Failed      Code = "failed"      // the plan ran and failed
	Invalid     Code = "invalid"     // bad input or usage
	Waiting     Code = "waiting"     // a person has to act
	Denied      Code = "denied"      // a gate, policy or budget said no
	Tampered    Code = "tampered"    // verification failed
	NotFound    Code = "not_found"   // no such plan, task, artifact, file
	Conflict    Code = "conflict"    // it exists already, differs, or is held by another
	Internal    Code = "internal"    // our own fault
	Interrupted Code = "interrupted" // stopped by a signal, state saved
)

// Meaning is one row of the table from code to exit status and HTTP status.
type Meaning struct {
	Code Code
	Exit int
	HTTP int
	Text string
}

// Meanings lists every code in order of exit status; `cairn help exit` prints it.
var Meanings = []Meaning{
	{Failed, 1, 200, "the plan failed"},
	{Invalid, 2, 422, "bad input or usage"},
	{Waiting, 3, 202, "waiting for a person"},
	{Denied, 4, 403, "denied by a gate, a policy or a budget"},
	{Tampered, 5, 500, "verification failed"},
	{NotFound, 6, 404, "not found"},
	{Conflict, 7, 409, "conflict with what is there"},
	{Internal, 70, 500, "our own fault"},
	{Interrupted, 130, 503, "interrupted, state saved"},
}

func (c Code) meaning() Meaning {
	for _, m := range Meanings {
		if m.Code == c {
			return m
		}
	}
	return c0
}

var c0 = Meaning{Internal, 70, 500, "our own fault"}

// Exit is the process exit status for c.
func (c Code) Exit() int { return c.meaning().Exit }

// HTTP is the response status for c.
func (c Code) HTTP() int { return c.meaning().HTTP }

// Error is an error a person can act on.
type Error struct {
	Code  Code
	Msg   string
	Hint  string // what to do; empty when nothing can be done
	cause error
}

// New makes an error with a code and a message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// Wrap gives err a code and says what was being done. The cause stays reachable through errors.Is.
func Wrap(code Code, err error, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...), cause: err}
}

// Remedy adds what to do about it.
func (e *Error) Remedy(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

func (e *Error) Error() string {
	if e.cause != nil {
		return e.Msg + ": " + e.cause.Error()
	}
	return e.Msg
}

func (e *Error) Unwrap() error { return e.cause }

// CodeOf finds the code of err, Internal when it has none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}

// HintOf finds the remedy of err, if it carries one.
func HintOf(err error) string {
	for e := (*Error)(nil); errors.As(err, &e); err = e.cause {
		if e.Hint != "" {
			return e.Hint
		}
	}
	return ""
}

// Is reports whether err carries the code.
func Is(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}
