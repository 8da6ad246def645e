package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
)

// outcome is an exit status whose reason was printed already: a plan that failed, or waits for somebody.
type outcome struct{ code fault.Code }

func (o outcome) Error() string { return string(o.code) }

// rejected is a plan file that does not pass; its faults are printed, or carried into JSON.
type rejected struct {
	cause  *fault.Error
	faults plan.Faults
}

func (r rejected) Error() string { return r.cause.Error() }
func (r rejected) Unwrap() error { return r.cause }

// problem is an error as JSON has it.
type problem struct {
	Code    fault.Code  `json:"code"`
	Exit    int         `json:"exit"`
	Message string      `json:"message"`
	Remedy  string      `json:"remedy,omitempty"`
	Faults  plan.Faults `json:"faults,omitempty"`
}

// fail prints an error and answers with its exit status.
func (a *app) fail(err error) int {
	var o outcome
	if errors.As(err, &o) {
		return o.code.Exit()
	}
	err = ours(err)
	code := fault.CodeOf(err)
	if a.json {
		p := problem{Code: code, Exit: code.Exit(), Message: err.Error(), Remedy: fault.HintOf(err)}
		var r rejected
		if errors.As(err, &r) {
			p.Faults = r.faults
		}
		// The reader may have gone; the exit status tells the rest.
		_ = json.NewEncoder(a.io.Out).Encode(map[string]problem{"error": p})
		return code.Exit()
	}
	fmt.Fprintln(a.io.Err, "cairn:", err)
	if hint := fault.HintOf(err); hint != "" {
		fmt.Fprintln(a.io.Err, hint)
	}
	if code == fault.Internal {
		fmt.Fprintln(a.io.Err, "this is a fault of cairn itself; please report it with the command that led here")
	}
	return code.Exit()
}

// ours gives an error the code that it forgot to carry. What a signal ended is no fault of ours.
func ours(err error) error {
	if fault.CodeOf(err) == fault.Internal && errors.Is(err, context.Canceled) {
		return fault.New(fault.Interrupted, "interrupted")
	}
	return err
}

func unknownCommand(c *cobra.Command, name string) error {
	err := fault.New(fault.Invalid, "%q is no command of %s", name, c.CommandPath())
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(name); len(near) > 0 {
		return err.Remedy("did you mean %s?", strings.Join(near, " or "))
	}
	if c.HasParent() {
		return err.Remedy("see: %s --help", c.CommandPath())
	}
	return err.Remedy("see: cairn help all")
}

// takes checks the number of arguments and names the ones that are missing.
func takes(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		what := "too many arguments"
		if len(args) < least {
			what = "an argument is missing"
		}
		return fault.New(fault.Invalid, "%s: %s", c.CommandPath(), what).Remedy("usage: %s", c.UseLine())
	}
}

// group makes a command that only holds others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(c, args[0])
			}
			return c.Help()
		},
	}
	c.AddCommand(subs...)
	return c
}
