// Package sandbox keeps a child to what it is allowed: which files it reads and writes, which TCP
// ports it uses, how much of the machine it takes, and that nothing of it is left afterwards.
//
// A confined child has a keeper: this binary, started again with ConfineArg. The engine sends the
// keeper an order (the policy and the command) through an inherited pipe, and keeps the pipe for as
// long as the child may live. The keeper prepares one thread, and the child is forked from it, so that
// all of the restrictions are in place before the program is. The keeper itself stays free: it is the
// parent that every descendant falls back to, whatever sessions they open; it measures them, ends
// them, and tells the engine how it went through a second pipe.
//
// On Linux, from the strongest to what is there everywhere:
//
//   - Landlock, for files, TCP ports, signals, abstract sockets and tracing. It can only allow.
//   - Namespaces for mounts, processes and the network, where the system lets us have them. What the policy keeps
//     from within a writable folder (ReadOnly, Hidden) is mounted over; when the keeper ends, however
//     that comes, the kernel ends every process of the task; who may reach no host has a loopback of its own.
//   - seccomp, for the calls that no task needs and for networks that Landlock does not know.
//   - Capabilities dropped, no new privileges, resource limits, umask, descriptors, a private
//     temporary folder.
//
// Without mount namespaces a kept path is protected by granting what is around it one by one. Landlock
// cannot grant "this folder without that": who may write new files in a folder may write all that is
// under it. So then nothing new can be made directly in a folder that holds a kept path, such as the
// root that holds the home, or .git; a Lenient policy gives up the kept path instead. The Lacks of a Cell say so.
//
// Of makes the policy of a child from the limits of a call; every runner that starts what a plan names comes by it.
//
// What is not held: a task may fill a folder that it may write with anything, such as a Makefile that a
// person later runs, or a repository of its own with hooks. Names aside, the metadata of files can be read
// everywhere. Unix sockets by path are all or nothing, and so is UDP once any port may be used. Without
// namespaces a task sees the command lines of other processes, and may change modes and times of what its
// user owns; if Landlock does not know signals either, a task that kills its keeper sets free what has left
// the session. On other systems than Linux there are resource limits only.
//
// Nothing here falls back in silence: what is lacking is told in plain words, or refused when the
// policy is strict.
package sandbox

import "time"

// ConfineArg is the first argument that makes this binary a keeper. main, and every TestMain of
// tests that run confined children, hands over to Confine then, before it does anything else.
const ConfineArg = "__confine"

// AnyPort among the ports of a policy allows all of them.
const AnyPort uint16 = 0

// Policy is what a child may do. The zero Policy may do nothing at all, not even start; begin with
// Default. Paths are absolute.
type Policy struct {
	Root string `json:"root,omitempty"` // the workspace; a path under it may not lead out of it

	Read     []string `json:"read,omitempty"`     // and execute, unless Exec says what; what is not there is left out
	Write    []string `json:"write,omitempty"`    // and read; one that ends in / is made
	ReadOnly []string `json:"readOnly,omitempty"` // kept from being written, though under Write
	Hidden   []string `json:"hidden,omitempty"`   // kept from being written and read
	Exec     []string `json:"exec,omitempty"`     // nil: all that can be read; else these and what is in them
	ExecTmp  bool     `json:"-"`                  // with Exec: and what is in the private folder

	Connect []uint16 `json:"connect,omitempty"` // TCP ports, to any host; none: no network at all
	Bind    []uint16 `json:"bind,omitempty"`    // TCP ports
	Unix    bool     `json:"unix,omitempty"`    // may use Unix sockets, also those of services outside
	// Loopback gives a child that may reach nothing a network of its own, where namespaces are to be had: it
	// and what it starts can speak to each other there, and to nobody else.
	Loopback bool `json:"loopback,omitempty"`

	// Limits; zero is none. Memory and CPU hold for each process by itself and for all together.
	CPU       time.Duration `json:"cpu,omitempty"`
	Memory    int64         `json:"memory,omitempty"`
	FileSize  int64         `json:"fileSize,omitempty"`
	Disk      int64         `json:"disk,omitempty"`  // bytes written to disks, less those deleted again
	Files     int64         `json:"files,omitempty"` // new files, counted by what the disk has left
	Processes int           `json:"processes,omitempty"`
	OpenFiles int           `json:"openFiles,omitempty"` // of each process

	Umask  int  `json:"umask,omitempty"`  // zero leaves the engine's
	Tmp    bool `json:"tmp,omitempty"`    // a private folder as TMPDIR and HOME, removed afterwards
	Strict bool `json:"strict,omitempty"` // refuse to run where a protection is lacking
	// Lenient gives up what is kept from within Write where it cannot be mounted over, rather than that nothing
	// new can be made beside it; the Lacks of a Cell say so.
	Lenient bool `json:"lenient,omitempty"`

	Private string            `json:"-"` // the private folder, where the caller made one with Temporary; it removes it
	Holds   map[string]string `json:"-"` // what the private folder holds at the beginning: content by name
}

// Protection is one thing that this system can, or cannot, hold a task with.
type Protection struct {
	Name string
	Have bool
	Says string // what it protects, or what is open without it and what to do
}

// network reports whether the policy lets anything through at all.
func (p Policy) network() bool { return len(p.Connect)+len(p.Bind) > 0 }
