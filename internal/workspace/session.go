package workspace

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

// session is a git that stays and answers one request after another: to start one for each would take longer than the
// work. It starts when it is first asked, again if it died, and ends when its input is closed, so it does not outlive us.
type session struct {
	git  git
	args []string

	mu        sync.Mutex // one request at a time
	cmd       *exec.Cmd
	in        io.WriteCloser
	out       *bufio.Reader
	complaint *bytes.Buffer
}

// ask sends a request and reads as many lines as it is answered with.
func (s *session) ask(ctx context.Context, request string, lines int) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return nil, fault.Wrap(fault.Interrupted, ctx.Err(), "git %s was not asked", s.args[0])
	}
	if s.cmd == nil {
		if err := s.start(); err != nil {
			return nil, err
		}
	}
	process := s.cmd.Process
	done := context.AfterFunc(ctx, func() { _ = stop(process) })
	defer done()
	answers, err := s.exchange(request, lines)
	if err == nil {
		return answers, nil
	}
	ended := s.end()
	if ctx.Err() != nil {
		return nil, fault.Wrap(fault.Interrupted, ctx.Err(), "git %s was stopped", s.args[0])
	}
	if ended == nil {
		ended = err
	}
	return nil, explain(&gitError{command: s.args[0], exit: -1, text: strings.TrimSpace(s.complaint.String()), cause: ended})
}

func (s *session) exchange(request string, lines int) (answers []string, err error) {
	if _, err := io.WriteString(s.in, request); err != nil {
		return nil, err
	}
	for range lines {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return nil, err
		}
		answers = append(answers, strings.TrimSuffix(line, "\n"))
	}
	return answers, nil
}

func (s *session) start() error {
	cmd := exec.Command(s.git.program, s.args...) //nolint:noctx // it outlives the call that starts it; close ends it
	cmd.Dir, cmd.Env = s.git.dir, s.git.env
	s.complaint = &bytes.Buffer{}
	cmd.Stderr = s.complaint
	cmd.WaitDelay = 10 * time.Second
	adopt(cmd, s.git.lock)
	in, err := cmd.StdinPipe()
	if err != nil {
		return fault.Wrap(fault.Internal, err, "start git %s", s.args[0])
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fault.Wrap(fault.Internal, err, "start git %s", s.args[0])
	}
	if err := cmd.Start(); err != nil {
		return missing(s.git.dir, explain(&gitError{command: s.args[0], exit: -1, cause: err}))
	}
	s.cmd, s.in, s.out = cmd, in, bufio.NewReader(out)
	return nil
}

// end closes the input, at which git goes, and waits for it.
func (s *session) end() error {
	if s.cmd == nil {
		return nil
	}
	s.in.Close()
	_, _ = io.Copy(io.Discard, s.out)
	err := s.cmd.Wait()
	s.cmd = nil
	return err
}

func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.end()
}
