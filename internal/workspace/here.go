package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
)

// Here is the project root itself, with a shadow repository in the home. Several processes may use it at once: a lock
// of the operating system gives each its turn.
type Here struct {
	root, home string
	dir        string // the shadow repository
	git        git
	lock       *os.File
	record     *recorder

	turn  sync.Mutex // held by whoever uses the shadow repository
	sieve *sieve     // guarded by turn
	known known      // guarded by turn
	left  []string   // what the first look left out

	mu      sync.Mutex
	head    string      // the last state
	rounds  [][]string  // the files of each commit that a place inside may still ask for
	first   int         // the number of rounds[0]
	omitted []string    // what was left out while a place was inside, in order
	gone    int         // how many of those are forgotten
	inside  map[int]int // how many places entered before the round of that number
	waiting []*request
	serving bool
	served  sync.WaitGroup
	closed  bool
}

// known is a commit whose tree we need not ask for.
type known struct{ commit, tree string }

const hereRef = "refs/heads/here"

// hereSettings are given to every command: the configuration of the shadow repository is not asked for more than its
// format. The cache of untracked files stays off: with files that appear while git looks it loses some for good. Threads only
// cost: the workers of a plan keep the processors busy already.
var hereSettings = []string{
	"core.hooksPath", os.DevNull, "core.excludesFile", os.DevNull, "core.attributesFile", os.DevNull,
	"core.autocrlf", "false", "core.safecrlf", "false", "core.fsmonitor", "false", "core.longpaths", "true",
	"core.untrackedCache", "false", "core.splitIndex", "true", "core.preloadIndex", "false", "index.threads", "1",
	"index.version", "4", "core.quotePath", "false",
	"status.showUntrackedFiles", "all", "core.logAllRefUpdates", "false", "submodule.recurse", "false",
	"gc.auto", "0", "maintenance.auto", "false", "safe.directory", "*",
}

// asTheyAre keeps every byte: an attribute of the project must not change line ends, run a filter or choose how files
// are merged.
const asTheyAre = "* -text -filter -ident -working-tree-encoding !merge\n"

// OpenHere opens the shadow repository of root in home, makes it where there is none, and keeps the files as they are,
// so that the first task has a state to start from.
func OpenHere(ctx context.Context, root, home string, opts Options) (*Here, error) {
	root, home, err := places(root, home)
	if err != nil {
		return nil, err
	}
	plain, err := findGit(opts)
	if err != nil {
		return nil, err
	}
	name := "here-" + digest.Parts(root).String()[:16]
	h := &Here{root: root, home: home, dir: filepath.Join(home, "workspaces", name+".git"), inside: map[int]int{}}
	var hidden []string
	if rel, inside := within(root, home); inside {
		hidden = append(hidden, rel)
	}
	h.sieve = newSieve(opts, true, hidden...)
	if h.lock, err = openLock(filepath.Join(home, "workspaces", name+".lock")); err != nil {
		return nil, err
	}
	h.git = plain.with("GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1", "GIT_LITERAL_PATHSPECS=1").
		on(h.dir, root, filepath.Join(h.dir, "index")).configured(hereSettings...)
	h.git.lock = h.lock
	h.record = newRecorder(h.git, ourselves, filepath.Join(h.dir, "COMMIT"))
	if err := h.open(ctx, plain); err != nil {
		h.record.close()
		h.lock.Close()
		return nil, err
	}
	sweepTrials(home)
	return h, nil
}

// open makes the repository whole under its lock, then looks at the files for the first time.
func (h *Here) open(ctx context.Context, plain git) error {
	release, err := h.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	if _, err := os.Stat(filepath.Join(h.dir, "HEAD")); err != nil {
		if _, err := h.git.run(ctx, nil, "init", "-q", "--template=", "--initial-branch=here"); err != nil {
			return err
		}
	}
	for file, text := range map[string]string{"exclude": excludes(ctx, plain, h.root, h.home), "attributes": asTheyAre} {
		if err := writeFile(filepath.Join(h.dir, "info", file), text); err != nil {
			return err
		}
	}
	if _, err := h.git.line(ctx, "rev-parse", "-q", "--verify", hereRef); failedWith(err, 1) {
		if err := h.begin(ctx); err != nil {
			return err
		}
	}
	h.tidy(ctx)
	_, left, err := h.keepNow(ctx, "chore(plan): the files as they were found")
	h.left = left
	return err
}

// begin makes the first state, which is empty, so that there always is one to compare with.
func (h *Here) begin(ctx context.Context) error {
	tree, err := h.git.run(ctx, nil, "mktree")
	if err != nil {
		return err
	}
	first, err := h.record.commit(ctx, strings.TrimSpace(string(tree)), "chore(plan): nothing yet")
	if err != nil {
		return err
	}
	return h.record.move(ctx, hereRef, first, "")
}

// tidy packs the repository when it has grown to thousands of loose objects; a failure costs space, nothing else.
func (h *Here) tidy(ctx context.Context) {
	const many = 27 // of the 256 folders of objects, git itself looks at this one
	if entries, err := os.ReadDir(filepath.Join(h.dir, "objects", "17")); err == nil && len(entries) > many {
		_, _ = h.git.run(ctx, nil, "repack", "-d", "-q")
	}
}

// take waits for the right to use the shadow repository. Who has it knows that no other git of ours is at work, so a
// lock file that is there was left by one that died.
func (h *Here) take(ctx context.Context) (release func(), err error) {
	h.turn.Lock()
	if err := waitLock(ctx, h.lock); err != nil {
		h.turn.Unlock()
		return nil, err
	}
	for _, stale := range []string{"index.lock", "HEAD.lock", hereRef + ".lock", "config.lock"} {
		_ = os.Remove(filepath.Join(h.dir, filepath.FromSlash(stale)))
	}
	return func() {
		unlock(h.lock)
		h.turn.Unlock()
	}, nil
}

// Enter gives the project root.
func (h *Here) Enter(_ context.Context, _ string, writes bool) (engine.Place, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errClosed()
	}
	p := &herePlace{here: h, before: h.head, since: h.first + len(h.rounds), sinceOmitted: h.gone + len(h.omitted),
		writes: writes}
	h.inside[p.since]++
	return p, nil
}

// Head is the last kept state.
func (h *Here) Head() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.head
}

// Left names what was left out when the workspace was opened, each with why.
func (h *Here) Left() []string { return h.left }

// Diff shows what changed between two states.
func (h *Here) Diff(ctx context.Context, from, to string) ([]byte, error) {
	return h.git.diff(ctx, from, to)
}

// Show gives the content that a file had in a state.
func (h *Here) Show(ctx context.Context, state, name string) ([]byte, error) {
	return h.git.show(ctx, state, name)
}

// Close waits for the commits that are being made, and lets the repository go.
func (h *Here) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	h.mu.Unlock()
	h.served.Wait()
	h.record.close()
	return h.lock.Close()
}

func errClosed() error { return fault.New(fault.Internal, "the workspace is closed") }
