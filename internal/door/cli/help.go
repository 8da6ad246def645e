package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/fault"
)

// addHelp replaces the framework's help of the root, which lists everything at once.
func (a *app) addHelp(root *cobra.Command) {
	framework := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c.HasParent() {
			framework(c, args)
			return
		}
		writeHelp(a.io.Out, a.everyday())
	})
	root.SetHelpCommand(a.helpCommand())
}

func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND | all | exit]",
		Short:   "explain a command, list all of them, or the exit statuses",
		Example: "  cairn help run\n  cairn help all\n  cairn help exit",
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			words := []string{"all", "exit"}
			for _, sub := range c.Root().Commands() {
				words = append(words, sub.Name())
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch strings.Join(args, " ") {
			case "":
				return c.Root().Help()
			case "all":
				writeAll(a.io.Out, a.everyday(), a.others())
				return nil
			case "exit":
				return runHelpExit(a.out())
			}
			found, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 || !found.HasParent() {
				return unknownCommand(c.Root(), args[0])
			}
			return found.Help()
		},
	}
}

func writeHelp(out io.Writer, everyday []*cobra.Command) {
	fmt.Fprint(out, `cairn carries out plans. A plan is a file you can read; a run is a journal you can prove.

  cairn run examples/first.yaml

`)
	writeCommands(out, everyday)
	fmt.Fprint(out, `
More:  cairn help COMMAND   cairn help all   cairn help exit
`)
}

func writeAll(out io.Writer, everyday, others []*cobra.Command) {
	fmt.Fprintln(out, "Every day:")
	writeCommands(out, everyday)
	fmt.Fprintln(out, "\nNow and then:")
	writeCommands(out, others)
	fmt.Fprint(out, `
Everywhere:
  --home DIR  the folder that keeps journals and artifacts; also CAIRN_HOME, or home: in cairn.yaml
  --as NAME   act under another name, where cairn.yaml allows it; both are recorded
  --json      print JSON: plans in the plan language, lists as arrays, streams as lines, errors too

Settings: cairn.yaml in the project (home, workers, actor, secrets, roles, as, policy, notify), then CAIRN_HOME, CAIRN_WORKERS and CAIRN_ACTOR, then flags.
`)
}

// writeCommands lists commands, and what a group holds in its place.
func writeCommands(out io.Writer, commands []*cobra.Command) {
	for _, c := range commands {
		if subs := c.Commands(); len(subs) > 0 {
			for _, s := range subs {
				fmt.Fprintf(out, "  %-18s %s\n", c.Name()+" "+s.Name(), s.Short)
			}
			continue
		}
		fmt.Fprintf(out, "  %-18s %s\n", c.Name(), c.Short)
	}
}

// runHelpExit prints the one table of exit statuses.
func runHelpExit(out Out) error {
	if out.JSON {
		type row struct {
			Exit int        `json:"exit"`
			Code fault.Code `json:"code"`
			Text string     `json:"meaning"`
		}
		rows := []row{{0, "", "done"}}
		for _, m := range fault.Meanings {
			rows = append(rows, row{m.Exit, m.Code, m.Text})
		}
		return out.print(rows)
	}
	fmt.Fprintf(out, "%4d  %s\n", 0, "done")
	for _, m := range fault.Meanings {
		fmt.Fprintf(out, "%4d  %s\n", m.Exit, m.Text)
	}
	return nil
}
