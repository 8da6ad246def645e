package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

func (a *app) capabilityCommand() *cobra.Command {
	return group("capability", "the tools that tasks can use",
		a.capabilityList(), a.capabilityShow(), a.capabilityTest(), a.capabilityAdd())
}

func (a *app) capabilityList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "list what can be called here",
		Example: "  cairn capability list",
		Args:    takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			caps, err := a.catalogue()
			if err != nil {
				return err
			}
			return runCapabilityList(caps, a.out())
		},
	}
}

func runCapabilityList(caps Capabilities, out Out) error {
	list := []capability.Contract{}
	for _, id := range caps.IDs() {
		if c, _, ok := caps.Lookup(id); ok {
			list = append(list, c)
		}
	}
	if out.JSON {
		return out.print(list)
	}
	for _, c := range list {
		fmt.Fprintf(out, "%-14s %-8s %-10s %s\n", c.ID, c.Version, c.Repeat, c.Summary)
	}
	return nil
}

func (a *app) capabilityShow() *cobra.Command {
	return &cobra.Command{
		Use:               "show ID",
		Short:             "show what a capability takes, gives and may touch",
		Example:           "  cairn capability show shell",
		Args:              takes(1, 1),
		ValidArgsFunction: a.completeCapability,
		RunE: func(_ *cobra.Command, args []string) error {
			caps, err := a.catalogue()
			if err != nil {
				return err
			}
			return runCapabilityShow(caps, args[0], a.out())
		},
	}
}

func runCapabilityShow(caps Capabilities, id string, out Out) error {
	c, _, err := installed(caps, id)
	if err != nil {
		return err
	}
	if out.JSON {
		return out.print(c)
	}
	fmt.Fprintf(out, "%s %s\n%s\n\n", c.ID, c.Version, c.Summary)
	fmt.Fprintf(out, "repeat       %s\n", c.Repeat)
	if c.Criticality != "" {
		fmt.Fprintf(out, "criticality  %s\n", c.Criticality)
	}
	var touches []string
	if c.Needs.Network {
		touches = append(touches, "the network")
	}
	if c.Needs.Write {
		touches = append(touches, "files")
	}
	if len(c.Needs.Secrets) > 0 {
		touches = append(touches, "the secrets "+strings.Join(c.Needs.Secrets, ", "))
	}
	if len(touches) > 0 {
		fmt.Fprintf(out, "touches      %s\n", strings.Join(touches, ", "))
	}
	if c.Provider != "" {
		fmt.Fprintf(out, "provider     %s\n", c.Provider)
	}
	for _, s := range []struct {
		name   string
		schema json.RawMessage
	}{{"inputs", c.Inputs}, {"outputs", c.Outputs}} {
		if len(s.schema) > 0 {
			fmt.Fprintf(out, "\n%s:\n", s.name)
			if err := out.print(s.schema); err != nil {
				return err
			}
		}
	}
	for _, ex := range c.Examples {
		fmt.Fprintf(out, "\n%s:\n  with: %s\n", ex.Says, ex.With)
	}
	return nil
}

// installed finds a capability that can be called, or says which was probably meant.
func installed(caps Capabilities, id string) (capability.Contract, capability.Runner, error) {
	c, r, ok := caps.Lookup(id)
	if ok {
		return c, r, nil
	}
	if caps.Known(id) {
		return c, nil, fault.New(fault.NotFound, "capability %s is known but not installed here", id).Remedy("see what is with: cairn capability list")
	}
	err := fault.New(fault.NotFound, "there is no capability %s", id)
	if near := nearest(id, caps.IDs()); near != "" {
		return c, nil, err.Remedy("did you mean %s?", near)
	}
	return c, nil, err.Remedy("see what there is with: cairn capability list")
}

func (a *app) completeCapability(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	caps, err := a.catalogue()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return caps.IDs(), cobra.ShellCompDirectiveNoFileComp
}

// manifestHelp is what somebody who writes a manifest has to know.
const manifestHelp = `A manifest is a YAML file that adds a capability without code:

  id: text.count             # noun.verb
  summary: Count the words of a text
  inputs: {text: string}     # names and types, or a JSON Schema
  outputs: {words: number}
  repeat: pure               # pure, repeatable, keyed or once: what running it twice does
  run: wc -w                 # a command line for sh; or command: [PROGRAM, ARG...]; or url: with method and headers
  examples:
    - {says: Count three, with: {text: one two three}}

A command gets its inputs as JSON on standard input and as CAIRN_INPUT_* variables, and ${inputs.NAME} in its text; what it prints
are its outputs. Also: version, positional, needs (network, write, secrets), criticality, cost_tier, estimate, env, probe.`

func (a *app) capabilityAdd() *cobra.Command {
	return &cobra.Command{
		Use:     "add FILE",
		Short:   "add a capability by its manifest: a command or a URL with a contract",
		Long:    manifestHelp,
		Example: "  cairn capability add tools/wordcount.yaml",
		Args:    takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := a.at()
			if err != nil {
				return err
			}
			return runCapabilityAdd(c.Context(), a.parts.AddManifest, p.home, args[0], a.out())
		},
	}
}

func runCapabilityAdd(_ context.Context, add func(home, file string, text []byte) (capability.Contract, error), home, file string, out Out) error {
	text, err := readFile(file, strings.NewReader(""))
	if err != nil {
		return err
	}
	c, err := add(home, file, text)
	if err != nil {
		return err
	}
	if out.JSON {
		return out.print(c)
	}
	fmt.Fprintf(out, "added %s %s; try it with: cairn capability test %s\n", c.ID, c.Version, c.ID)
	return nil
}
