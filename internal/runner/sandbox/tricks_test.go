//go:build linux

package sandbox_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/runner/process"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
	"github.com/cairn-plan/cairn/internal/view"
)

// trick is one thing that a hostile task may try.
type trick struct {
	name   string
	script string
	with   func(*sandbox.Policy)
	spec   func(*process.Spec)
	held   func(*world, result) bool // nil: it did not say that it broke out, and no secret got out
	needs  string                    // what alone holds it
}

// silent is the ordinary check: nothing secret was read, and no attack says that it succeeded.
func silent(_ *world, r result) bool {
	return r.err == nil && !strings.Contains(string(r.out), secret) && !strings.Contains(string(r.out), broke)
}

// limited checks that the task was ended for its limits and did not get to the end of its script.
func limited(_ *world, r result) bool {
	return !strings.Contains(string(r.out), broke) && (r.Limit != "" || r.Signal != "" || r.Exit != 0)
}

// unchanged checks that a file is as it was made.
func unchanged(path, text string) func(*world, result) bool {
	return func(w *world, r result) bool { return silent(w, r) && w.read(path) == text }
}

// absent checks that a file was not made.
func absent(path string) func(*world, result) bool {
	return func(w *world, r result) bool { return silent(w, r) && !w.there(path) }
}

// quick checks that the task did not keep the engine waiting for what it left behind.
func quick(w *world, r result) bool { return silent(w, r) && r.took < 20*time.Second }

// tricks are run one after another, each in a world of its own. That nothing is left running is checked for each.
var tricks = []trick{
	// The machine's resources.
	{name: "fork bomb", script: `i=0; while [ $i -lt 300 ]; do sleep 60 & i=$((i+1)); done; sleep 2; echo BROKE OUT`,
		with: func(p *sandbox.Policy) { p.Processes = 40 }, held: limited},
	{name: "fork bomb in sessions of its own", script: `i=0; while [ $i -lt 300 ]; do setsid sleep 60 & i=$((i+1)); done; sleep 2; echo BROKE OUT`,
		with: func(p *sandbox.Policy) { p.Processes = 40 }, held: limited},
	{name: "fork bomb, each from the last", script: `cd src; cat > b.sh <<'X'
[ $1 -gt 9 ] && exec sleep 60
sh b.sh $(($1+1)) & sh b.sh $(($1+1)) & wait
X
sh b.sh 0; echo BROKE OUT`, with: func(p *sandbox.Policy) { p.Processes = 40 }, held: limited},
	{name: "one huge file", script: `head -c 64000000 /dev/zero > src/big; echo`, with: func(p *sandbox.Policy) { p.FileSize = 4 << 20 },
		held: func(w *world, _ result) bool { _, n := w.size("user/project"); return n < 5<<20 }},
	{name: "disk filler", script: `i=0; while [ $i -lt 100 ]; do head -c 8000000 /dev/zero > src/big$i; i=$((i+1)); done; sleep 1; echo BROKE OUT`,
		with: func(p *sandbox.Policy) { p.Disk = 64 << 20 }, held: limited},
	{name: "many files", script: `mkdir src/many; i=0; while [ $i -lt 60000 ]; do : > src/many/$i; i=$((i+1)); done; sleep 1; echo BROKE OUT`,
		with: func(p *sandbox.Policy) { p.Files = 2000 }, held: limited},
	{name: "memory hog", script: `$ATTACK memory 600`, with: func(p *sandbox.Policy) { p.Memory = 300 << 20 }, held: limited},
	{name: "memory hog in many processes", script: `for i in 1 2 3 4 5 6 7 8; do $ATTACK memory 60 & done; wait`,
		with: func(p *sandbox.Policy) { p.Memory = 300 << 20 }},
	{name: "processor burner", script: `while :; do :; done`, with: func(p *sandbox.Policy) { p.CPU = time.Second }, held: limited},
	{name: "processor burner in turns", script: `while :; do sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'; done`,
		with: func(p *sandbox.Policy) { p.CPU = time.Second }, held: limited},
	{name: "raising its own limits", script: `ulimit -c unlimited 2>/dev/null && echo BROKE OUT; ulimit -t unlimited 2>/dev/null && echo BROKE OUT; true`},
	{name: "more open files than it may", script: `$ATTACK files 100`, with: func(p *sandbox.Policy) { p.OpenFiles = 50 }},

	// Outliving the task. That nothing is left is checked for every trick.
	{name: "double fork", script: `( ( sleep 60 & ) & )`, held: quick},
	{name: "setsid", script: `setsid sleep 60 &`, held: quick},
	{name: "nohup", script: `nohup sleep 60 >/dev/null 2>&1 &`, held: quick},
	{name: "disown", script: `bash -c 'sleep 60 & disown -a'`, held: quick},
	{name: "daemon that is deaf and hidden", script: `(setsid sh -c '(trap "" TERM HUP INT; cd /; exec env -i PATH="$PATH" MARK="$MARK" sh -c "while :; do sleep 1; done") >/dev/null 2>&1 </dev/null &' &); sleep 0.2`, held: quick},
	{name: "background process that holds the pipe", script: `sleep 60 & exit 0`, held: quick},
	{name: "output after its end", script: `(sleep 3; echo BROKE OUT) & exit 0`, held: quick},
	{name: "killing its keeper to set a daemon free", script: `setsid sleep 60 & sleep 0.1; kill -9 $PPID; sleep 0.3`,
		held: func(*world, result) bool { return true }},

	// Writing where it may not.
	{name: "writing into the home folder", script: `echo x > $USERHOME/new`, held: absent("user/new")},
	{name: "writing .bashrc", script: `echo evil >> $USERHOME/.bashrc`, held: unchanged("user/.bashrc", "# mine\n")},
	{name: "writing authorized_keys", script: `echo key >> $USERHOME/.ssh/authorized_keys`, held: absent("user/.ssh/authorized_keys")},
	{name: "a new git hook", script: `echo evil > .git/hooks/post-checkout`, held: absent("user/project/.git/hooks/post-checkout")},
	{name: "a git hook moved into place", script: `echo evil > src/h; mv src/h .git/hooks/post-checkout`, held: absent("user/project/.git/hooks/post-checkout")},
	{name: "changing a git hook", script: `echo evil >> .git/hooks/pre-commit`, held: unchanged("user/project/.git/hooks/pre-commit", "#!/bin/sh\n")},
	{name: "writing .git/config", script: `printf '[core]\nfsmonitor=evil' > .git/config`, held: unchanged("user/project/.git/config", "[core]\n")},
	{name: "replacing .git/config", script: `echo evil > src/c; mv -f src/c .git/config`, held: unchanged("user/project/.git/config", "[core]\n")},
	{name: "replacing .git", script: `mv .git old; mkdir -p .git/hooks; echo evil > .git/hooks/post-checkout`, held: absent("user/project/.git/hooks/post-checkout")},
	{name: "replacing .git/hooks", script: `mv .git/hooks .git/old; mkdir .git/hooks; echo evil > .git/hooks/post-checkout`, held: absent("user/project/.git/hooks/post-checkout")},
	{name: "unmounting what covers the hooks", script: `$ATTACK umount .git/hooks; echo evil > .git/hooks/post-checkout`, held: absent("user/project/.git/hooks/post-checkout")},
	{name: "writing /etc", script: `$ATTACK openw /etc/passwd`},
	{name: "writing the cairn home", script: `echo x > .cairn/new`, held: absent("user/project/.cairn/new")},
	{name: "changing the journal", script: `echo x > .cairn/cairn.db`, held: unchanged("user/project/.cairn/cairn.db", secret)},
	{name: "removing the cairn home", script: `rm -rf .cairn`, held: unchanged("user/project/.cairn/cairn.db", secret)},
	{name: "replacing the cairn home", script: `mv .cairn old; mkdir .cairn; echo x > .cairn/cairn.db`, held: unchanged("user/project/.cairn/cairn.db", secret)},
	{name: "symbolic link to outside", script: `cd src; ln -s $OUTSIDE/victim l; echo evil > l`, held: unchanged("outside/victim", "mine\n")},
	{name: "link to the folder above", script: `cd src; ln -s ../.. up; echo evil > up/new`, held: absent("user/new")},
	{name: "dots", script: `echo evil > ../../outside/victim`, held: unchanged("outside/victim", "mine\n")},
	{name: "hard link to outside", script: `cd src; ln $OUTSIDE/victim l; echo evil > l`, held: unchanged("outside/victim", "mine\n")},
	{name: "renaming over outside", script: `cd src; echo evil > e; mv -f e $OUTSIDE/victim`, held: unchanged("outside/victim", "mine\n")},
	{name: "renaming from outside", script: `mv $OUTSIDE/victim src`, held: unchanged("outside/victim", "mine\n")},
	{name: "truncating outside", script: `$ATTACK truncate $OUTSIDE/victim`, held: unchanged("outside/victim", "mine\n")},
	{name: "changing modes outside", script: `chmod 777 $OUTSIDE/victim`, needs: "namespaces",
		held: func(w *world, _ result) bool {
			st, err := os.Stat(filepath.Join(w.outside, "victim"))
			return err == nil && st.Mode().Perm() == 0o644
		}},
	{name: "out of the temporary folder", script: `echo x > $TMPDIR/../new`, held: absent("new")},
	{name: "leaving a folder that cannot be removed", script: `mkdir $TMPDIR/d; echo x > $TMPDIR/d/f; chmod 000 $TMPDIR/d; echo $TMPDIR > src/where`,
		held: func(w *world, r result) bool {
			dir := strings.TrimSpace(w.read("user/project/src/where"))
			_, err := os.Stat(dir)
			return silent(w, r) && dir != "" && os.IsNotExist(err)
		}},

	// Reading what is not its own.
	{name: "reading .ssh", script: `cat $USERHOME/.ssh/id_ed25519`},
	{name: "reading .aws", script: `cat $USERHOME/.aws/credentials`},
	{name: "reading .netrc", script: `cat $USERHOME/.netrc`},
	{name: "reading .config", script: `cat $USERHOME/.config/gh/hosts.yml`},
	{name: "reading .bash_history", script: `cat $USERHOME/.bash_history`},
	{name: "reading the cairn home", script: `cat .cairn/cairn.db .cairn/artifacts/a`},
	{name: "reading another's files", script: `cat $BASE/other/private`},
	{name: "reading /etc/shadow", script: `cat /etc/shadow /etc/gshadow | grep -q . && echo BROKE OUT`},
	{name: "through /proc/self/root", script: `cat /proc/self/root$USERHOME/.netrc`},
	{name: "through the keeper's root", script: `cat /proc/$PPID/root$USERHOME/.netrc`},
	{name: "through the engine's root", script: `cat /proc/$ENGINE/root$USERHOME/.netrc`},
	{name: "copying by a hard link", script: `cd src; ln $USERHOME/.netrc l && cat l`},
	{name: "a raw disk", script: `for d in /dev/vda /dev/sda /dev/nvme0n1 /dev/loop0; do $ATTACK open $d; done`},
	{name: "a raw disk of its own making", script: `cd src; $ATTACK mknod d && $ATTACK open d`},
	{name: "/dev/mem", script: `$ATTACK open /dev/mem; $ATTACK open /dev/kmsg; $ATTACK open /dev/port`},

	// Other processes.
	{name: "environment of the first process", script: `grep -q . /proc/1/environ && [ "$(cat /proc/1/comm)" != cairn ] && echo BROKE OUT`,
		held: silent},
	{name: "environment of the engine", script: `grep -q PATH= /proc/$ENGINE/environ && echo BROKE OUT`},
	{name: "environment of the keeper", script: `grep -q . /proc/$PPID/environ && echo BROKE OUT`},
	{name: "memory of the engine", script: `$ATTACK mem $ENGINE; $ATTACK vmread $ENGINE`},
	{name: "memory of the keeper", script: `$ATTACK mem $PPID`},
	{name: "tracing the engine", script: `$ATTACK trace $ENGINE`},
	{name: "tracing the keeper", script: `$ATTACK trace $PPID`},
	{name: "signals to the engine", script: `$ATTACK signal $ENGINE`},
	{name: "signals to the supervisor", script: `$ATTACK signal $SUPERVISOR`},
	{name: "writing the keeper's program", script: `$ATTACK openw /proc/$PPID/exe`},
	{name: "writing into inherited descriptors", script: `$ATTACK fds`},
	{name: "descriptors of the keeper", script: `for f in /proc/$PPID/fd/*; do $ATTACK openw $f; done`},

	// The network.
	{name: "TCP to a local service", script: `$ATTACK dial tcp $TCP`},
	{name: "UDP", script: `$ATTACK send $UDP`, held: func(w *world, _ result) bool { return !w.hears() }},
	{name: "UDP without a network", script: `$ATTACK send $UDP`, with: func(p *sandbox.Policy) { p.Loopback = false }},
	{name: "listening", script: `$ATTACK listen`, with: func(p *sandbox.Policy) { p.Loopback = false }},
	{name: "a way out of its own network", needs: "namespaces", script: `ip link 2>/dev/null | grep -qv 'lo:' && ip route 2>/dev/null | grep -q . && echo BROKE OUT; grep -q '[a-z]*[0-9]:' /proc/net/dev && echo BROKE OUT; true`},
	{name: "another's network namespace", script: `$ATTACK setns $ENGINE; nsenter -n -t $ENGINE true 2>/dev/null && echo BROKE OUT; true`},
	{name: "abstract socket of a service", script: `$ATTACK dial unix $ABSTRACT`},
	{name: "socket of a service", script: `$ATTACK dial unix $SOCKET`},
	{name: "abstract socket when sockets are allowed", script: `$ATTACK dial unix $ABSTRACT`, with: func(p *sandbox.Policy) { p.Unix = true }},
	{name: "TCP to a port beside the allowed one", script: `$ATTACK dial tcp $TCP`, with: func(p *sandbox.Policy) { p.Connect = []uint16{1} }},
	{name: "MPTCP, which Landlock does not see", script: `$ATTACK mptcp`, with: func(p *sandbox.Policy) { p.Connect, p.Bind = []uint16{1}, []uint16{1} }},
	{name: "listening when only connecting is allowed", script: `$ATTACK listen`, with: func(p *sandbox.Policy) { p.Connect = []uint16{sandbox.AnyPort} }},

	// The kernel.
	{name: "mount", script: `mkdir src/m; $ATTACK mount src/m`},
	{name: "chroot", script: `$ATTACK chroot .`},
	{name: "user namespace", script: `$ATTACK userns`},
	{name: "another's namespace", script: `$ATTACK setns $ENGINE`},
	{name: "setting the clock", script: `$ATTACK clock`},
	{name: "kernel settings", script: `$ATTACK openw /proc/sys/kernel/core_pattern; $ATTACK openw /proc/sysrq-trigger; $ATTACK openw /sys/power/state`},
	{name: "io_uring", script: `$ATTACK uring`},
	{name: "keyrings", script: `$ATTACK keys`},
	{name: "setuid program", script: `cd src; cp $(command -v id) mine; chown 4242 mine && chmod u+s mine && [ "$(./mine -u)" = 4242 ] && echo BROKE OUT; true`},
	{name: "core dump", script: `cd src; ulimit -c unlimited; sh -c 'kill -SEGV $$'; ls core* 2>/dev/null && echo BROKE OUT; true`},

	// The engine itself.
	{name: "huge output", script: `head -c 80000000 /dev/zero | tr '\0' 'x'`, spec: func(p *process.Spec) { p.MaxOutput = 1 << 20 },
		held: func(w *world, r result) bool {
			return silent(w, r) && len(r.out) == 1<<20 && r.Truncated == 80000000-1<<20
		}},
	{name: "output without a newline", script: `head -c 3000000 /dev/zero`,
		held: func(w *world, r result) bool {
			return silent(w, r) && len(r.out) == 3000000 && len(r.Stdout) == process.TailSize
		}},
	{name: "closing all descriptors", script: `exec 0<&- 1>&- 2>&-; sleep 0.1; : > src/done`,
		held: func(w *world, r result) bool { return quick(w, r) && w.there("user/project/src/done") }},
	{name: "LD_PRELOAD left over", script: `env | grep -q ^LD_PRELOAD= && echo BROKE OUT; true`},
	{name: "LD_PRELOAD for the keeper", script: `true`, spec: func(p *process.Spec) {
		p.Env = append(p.Env, "LD_PRELOAD=/nowhere.so", "GODEBUG=inittrace=1", "GOTRACEBACK=crash")
	},
		held: func(w *world, r result) bool { return silent(w, r) && !strings.Contains(string(r.out), "init ") }},
	{name: "terminal escapes", script: `printf 'a\033]0;owned\007\033[2J\033[31mb\rc\n'; exit 3`,
		held: func(w *world, r result) bool {
			body, _ := json.Marshal(map[string]string{"why": string(r.Stdout)})
			shown := view.LogLine(journal.Record{Kind: lifecycle.PlanPaused, Body: body})
			return strings.Contains(shown, "owned") && silent(w, r) && strings.Contains(string(r.out), "\x1b]0;owned\x07") && !strings.ContainsAny(shown, "\x1b\x07\r\n")
		}},
	{name: "umask", script: `umask 0; echo x > $TMPDIR/leak; stat -c %a $TMPDIR | grep -qx 700 || echo BROKE OUT; umask 022; : > src/f; [ $(stat -c %a src/f) = 644 ] || echo BROKE OUT`},
}
