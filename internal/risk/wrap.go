package risk

import (
	"slices"
	"strings"
)

// wrapper is a program whose operands are another command.
type wrapper struct {
	verbs  string   // operands that make it one: exec, compose run
	valued string   // options whose value is the next word
	skip   int      // operands of its own before the command
	only   string   // it is one only with one of these options
	never  string   // it is none with one of these
	assign bool     // NAME=value may come first
	fed    bool     // the command gets more operands from a list
	script bool     // its words are joined and read as a script
	says   *verdict // what using it means by itself
}

var asRoot = verdict{"sudo", Privilege, Critical, "runs a command with the rights of the administrator"}

// wrappers, by program; of several the first that fits.
var wrappers = map[string][]wrapper{
	"sudo": {{valued: "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --role --type", never: "-l -v -k -K -V --list --validate --version --help",
		assign: true, says: &asRoot}},
	"doas":        {{valued: "-u -C -a", says: &asRoot}},
	"pkexec":      {{valued: "--user", says: &asRoot}},
	"runuser":     {{valued: "-u -c", never: "-c --command", says: &asRoot}},
	"env":         {{valued: "-u -C --unset --chdir", never: "-S --split-string", assign: true}},
	"exec":        {{valued: "-a"}},
	"command":     {{never: "-v -V"}},
	"builtin":     {{}},
	"nohup":       {{}},
	"setsid":      {{}},
	"chronic":     {{}},
	"unbuffer":    {{}},
	"busybox":     {{}},
	"caffeinate":  {{valued: "-t -w"}},
	"tini":        {{valued: "-e"}},
	"dumb-init":   {{valued: "-r"}},
	"time":        {{valued: "-f -o"}},
	"nice":        {{valued: "-n"}},
	"ionice":      {{valued: "-c -n -p"}},
	"chrt":        {{skip: 1}},
	"taskset":     {{skip: 1}},
	"stdbuf":      {{valued: "-i -o -e"}},
	"timeout":     {{valued: "-k -s --kill-after --signal", skip: 1}},
	"gtimeout":    {{valued: "-k -s", skip: 1}},
	"retry":       {{valued: "-t -d --times --delay"}},
	"strace":      {{valued: "-o -e -p -s"}},
	"chroot":      {{skip: 1}},
	"unshare":     {{}},
	"nsenter":     {{valued: "-t"}},
	"systemd-run": {{valued: "-p -u --unit --property --uid --gid"}},
	"gosu":        {{skip: 1}},
	"su-exec":     {{skip: 1}},
	"flock":       {{valued: "-w -E", skip: 1, never: "-c --command"}},
	"xargs":       {{valued: "-n -P -I -L -d -a -s -E -i --max-args --max-procs --replace --max-lines --delimiter --arg-file", fed: true}},
	"parallel":    {{valued: "-j -N -n -a --jobs --delay --timeout --joblog --colsep", fed: true, script: true}},
	"watch":       {{valued: "-n --interval", script: true}},
	"eval":        {{script: true}},
	"ssh":         {{valued: "-p -i -l -o -F -J -L -R -D -b -c -E -e -I -m -O -Q -S -W -w -B", skip: 1, script: true}},
	"rsh":         {{valued: "-l", skip: 1, script: true}},
	"docker":      containers, "podman": containers, "nerdctl": containers,
	"docker-compose": {{verbs: "exec|run", valued: containerFlags, skip: 1}},
	"kubectl":        {{verbs: "exec|debug", valued: "-c -n --container --namespace --context", skip: 1}},
	"oc":             {{verbs: "exec|rsh", valued: "-c -n", skip: 1}},
	"lxc":            {{verbs: "exec", skip: 1}},
	"npx":            {{valued: "-p --package -w --workspace", never: "-c --call"}},
	"bunx":           {{}}, "pnpx": {{}}, "uvx": {{valued: "--from --with -p --python"}},
	"npm":    {{verbs: "exec|x", valued: "-w --workspace"}},
	"pnpm":   {{verbs: "exec|dlx", valued: "-C --filter"}},
	"yarn":   {{verbs: "exec|dlx", valued: "--cwd -p"}},
	"poetry": {{verbs: "run"}}, "pipenv": {{verbs: "run"}}, "hatch": {{verbs: "run"}}, "pdm": {{verbs: "run"}}, "rye": {{verbs: "run"}},
	"uv":     {{verbs: "run", valued: "--with -p --python --extra --group --env-file --project --directory"}},
	"bundle": {{verbs: "exec"}},
	"mise":   {{verbs: "exec|x"}}, "asdf": {{verbs: "exec"}}, "rbenv": {{verbs: "exec"}}, "pyenv": {{verbs: "exec"}},
	"op": {{verbs: "run", valued: "--env-file"}}, "doppler": {{verbs: "run", valued: "-p -c --project --config"}},
	"dotenv": {{valued: "-e -f"}}, "dotenvx": {{verbs: "run", valued: "-f"}},
	"chamber": {{verbs: "exec", skip: 1}}, "aws-vault": {{verbs: "exec", skip: 1}}, "direnv": {{verbs: "exec", skip: 1}},
	"python": modules, "python3": modules,
}

const containerFlags = "-e --env -v --volume -p --publish --name -w --workdir -u --user --network --net --entrypoint --env-file --mount -l --label -h --hostname --platform --add-host -m --memory --cpus --gpus"

var (
	containers = []wrapper{
		{verbs: "compose exec|run", valued: containerFlags + " -f --file --project-name --profile", skip: 1},
		{verbs: "exec|run", valued: containerFlags, skip: 1},
		{verbs: "container exec|run", valued: containerFlags, skip: 1},
	}
	modules = []wrapper{{only: "-m"}}
)

// unwrap takes one wrapper off. What is a script is read at once, and nothing is left.
func (s *scan) unwrap(c call) (inner call, wrapped bool) {
	if s.shell(c) {
		return call{}, true
	}
	for i := range wrappers[c.name] {
		w := &wrappers[c.name][i]
		if w.only != "" && !c.leads(w.only, "") || w.never != "" && c.leads(w.never, w.valued) {
			continue
		}
		rest, ok := w.inner(c)
		if !ok || len(rest) == 0 && len(c.cmd.documents) == 0 {
			continue
		}
		if w.says != nil {
			s.found(*w.says, c)
		} else if v, ok := judge(c); ok {
			s.found(v, c)
		}
		inner = call{words: rest, cmd: c.cmd, fed: c.fed || w.fed, level: c.level + 1}
		if w.script {
			s.remote(c, rest)
			s.script(joined(rest), c.level+1, false)
			s.documents(c)
			return call{}, true
		}
		return inner, true
	}
	return call{}, false
}

// leads reports whether one of these options stands before the command that a wrapper wraps.
func (c call) leads(names, valued string) bool {
	takes, list := set(valued), strings.Fields(names)
	args := c.args()
	for i := 0; i < len(args) && isFlag(args[i].text); i++ {
		if slices.ContainsFunc(list, func(n string) bool { return given(args[i].text, n) }) {
			return true
		}
		if takes[args[i].text] {
			i++
		}
	}
	return false
}

// inner finds the command that is wrapped.
func (w *wrapper) inner(c call) (words []word, ok bool) {
	takes := set(w.valued)
	verbs := strings.Fields(w.verbs)
	skip, options := w.skip, true
	args := c.args()
	for i := 0; i < len(args); i++ {
		a := args[i].text
		switch {
		case w.only != "" && a == w.only:
			return args[i+1:], true
		case a == "--" && options:
			options = false
		case options && isFlag(a):
			if takes[a] {
				i++
			}
		case len(verbs) > 0:
			if !slices.Contains(strings.Split(verbs[0], "|"), a) {
				return nil, false
			}
			verbs = verbs[1:]
		case w.assign && assigns(a):
		case skip > 0:
			skip--
		default:
			return args[i:], true
		}
	}
	return nil, len(verbs) == 0
}
