package sandbox

import (
	"bufio"
	"encoding/json"
	"io"
	"syscall"
	"time"
)

// Command is what a keeper is to run.
type Command struct {
	Argv   []string      `json:"argv"`
	Env    []string      `json:"env"`
	Dir    string        `json:"dir"`
	Linger time.Duration `json:"linger"` // for what is left once the program itself has ended
	Grace  time.Duration `json:"grace"`  // from asking to end to killing
}

// order is the first line of the engine's pipe. What follows are the words below.
type order struct {
	Command
	Policy Policy `json:"policy"`
	Tmp    string `json:"tmp,omitempty"`
	Spaces bool   `json:"spaces,omitempty"` // the keeper is in namespaces of its own
	Net    bool   `json:"net,omitempty"`    // and in a network of its own
}

// Words of the engine to a keeper, a line each. The end of the pipe is the end of the engine.
const (
	Go   = "go\n"   // open the gate
	Term = "term\n" // ask the child to end, kill it after its grace
	Kill = "kill\n"
)

// Order is the first line for the keeper of this cell, which has been started.
func (c *Cell) Order(cmd Command) ([]byte, error) {
	b, err := json.Marshal(order{Command: cmd, Policy: c.policy, Tmp: c.tmp, Spaces: c.spaces, Net: c.network})
	return append(b, '\n'), err
}

// Report is what a keeper tells of its child, once, at its end.
type Report struct {
	Exit   int           `json:"exit"`
	Signal int           `json:"signal,omitempty"` // that ended it
	Limit  string        `json:"limit,omitempty"`  // the limit for which it was ended, in words
	Lacks  []string      `json:"lacks,omitempty"`  // protections that could not be put in place
	Error  string        `json:"error,omitempty"`  // why it was not started
	Errno  syscall.Errno `json:"errno,omitempty"`  // likewise
}

// ReadReport reads the report of a keeper that has ended; ok is false when it could not write one,
// as when it was killed.
func ReadReport(r io.Reader) (rep Report, ok bool) {
	err := json.NewDecoder(io.LimitReader(r, 1<<20)).Decode(&rep)
	return rep, err == nil
}

func readOrder(r *bufio.Reader) (o order, err error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return o, err
	}
	err = json.Unmarshal(line, &o)
	return o, err
}
