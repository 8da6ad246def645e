// Package cli is the command line: it reads arguments, asks the house, prints what comes back and answers with an
// exit status. It decides nothing about plans.
//
// Every command is one file: its options, its flags, and a run function that knows nothing of the framework around
// it. What a command needs from the floors above and beside it comes in Parts, so that this door works on whatever
// main put together. A command that only reads never makes a home, and one that fails in checking its input has not
// touched one.
//
// Output for people goes to standard output, what went wrong to standard error as `cairn: message` and the remedy on
// a line of its own. Under --json standard output carries JSON only, and an error is JSON there too, so that a reader at
// the end of a pipe sees it: {"error":{"code","exit","message","remedy"}}.
package cli

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Streams are where a command reads and writes.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// app is one call of the program.
type app struct {
	parts Parts
	io    Streams
	env   func(string) string
	home  string // --home
	as    string // --as
	json  bool   // --json
	plain bool   // --plain, of the commands that draw
}

// Main carries out one command line and answers with the exit status.
func Main(ctx context.Context, parts Parts, args []string, io Streams, env func(string) string) int {
	a := &app{parts: parts, io: io, env: env}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(io.In)
	root.SetOut(io.Out)
	root.SetErr(io.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	// A mistake before --json is told as JSON too.
	a.json = a.json || slices.Contains(args, "--json")
	return a.fail(err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "cairn",
		Short:         "carry out plans that survive anything and can be proved",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(c, args[0])
			}
			return c.Help()
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().StringVar(&a.home, "home", "", "folder that keeps journals and artifacts (default: .cairn in the project)")
	root.PersistentFlags().StringVar(&a.as, "as", "", "act under another name, where the settings allow it")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fault.New(fault.Invalid, "%s", err).Remedy("see: %s --help", c.CommandPath())
	})
	root.AddCommand(a.everyday()...)
	root.AddCommand(a.others()...)
	a.addHelp(root)
	return root
}

// everyday lists the commands that `cairn help` shows.
func (a *app) everyday() []*cobra.Command {
	return []*cobra.Command{
		a.runCommand(), a.planCommand(), a.checkCommand(), a.listCommand(), a.showCommand(), a.watchCommand(), a.graphCommand(),
		a.inboxCommand(), a.completeCommand(), a.approveCommand(), a.resumeCommand(), a.whyCommand(), a.logCommand(),
	}
}

// others lists those that `cairn help all` shows beside them.
func (a *app) others() []*cobra.Command {
	return []*cobra.Command{
		a.budgetCommand(), a.evalCommand(),
		a.replanCommand(), a.forkCommand(), a.archiveCommand(), a.diffCommand(), a.applyCommand(), a.rollbackCommand(), a.fmtCommand(), a.schemaCommand(), a.pauseCommand(), a.cancelCommand(), a.retryCommand(), a.failCommand(),
		a.rejectCommand(), a.answerCommand(), a.delegateCommand(), a.auditCommand(), a.artifactCommand(), a.memoryCommand(), a.capabilityCommand(), a.doctorCommand(), a.versionCommand(),
		a.completionCommand(), a.promptsCommand(),
	}
}
