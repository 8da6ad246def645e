// Command cairn carries out plans. It wires the house to the command line, turns signals into a graceful end, and
// an error into an exit status.
//
// The first SIGINT or SIGTERM ends the run with its state saved; the second cuts off even work that must not run
// twice. Called with process.SupervisorArg it is the supervisor of its parent's children, and with sandbox.ConfineArg the
// keeper of one of them, and nothing else.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/cairn-plan/cairn/internal/door/cli"
	"github.com/cairn-plan/cairn/internal/runner/process"
	_ "github.com/cairn-plan/cairn/internal/runner/sandbox/entrance" // makes this process a keeper before main begins
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == process.SupervisorArg {
		os.Exit(process.Supervise())
	}
	ctx, hard := signals()
	os.Exit(cli.Main(ctx, parts(hard), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Getenv))
}

// signals ends ctx at the first signal and closes hard at the second.
func signals() (ctx context.Context, hard <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	cut := make(chan struct{})
	got := make(chan os.Signal, 2)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-got
		cancel()
		<-got
		close(cut)
	}()
	return ctx, cut
}
