package risk

import (
	"slices"
	"strings"
)

// call is a program with its arguments, all wrappers taken off.
type call struct {
	name  string // without its folder
	words []word // the first is the program
	cmd   *command
	fed   bool            // more operands come from a list: xargs, find -exec
	level int             // how many wrappers and scripts it was inside
	known map[string]bool // variables that the scripts set; true for a place that mktemp made
}

func (c call) args() []word { return c.words[1:] }

func (c call) span() (at, end int) { return c.words[0].start, c.words[len(c.words)-1].stop }

// program is the name of a program without its folder.
func program(w word) string {
	name := w.text
	if i := strings.LastIndexAny(name, `/\`); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	return strings.TrimSuffix(name, ".exe")
}

// isFlag reports whether a word is an option rather than an operand.
func isFlag(s string) bool { return len(s) > 1 && s[0] == '-' }

// flag reports whether any of these options is given: -f alone or among other letters, --force alone or
// with a value.
func (c call) flag(names ...string) bool {
	for _, a := range c.args() {
		if a.text == "--" {
			return false
		}
		if slices.ContainsFunc(names, func(n string) bool { return given(a.text, n) }) {
			return true
		}
	}
	return false
}

func given(arg, name string) bool {
	switch {
	case !isFlag(arg):
		return false
	case len(name) == 2 && name[1] != '-' && arg[1] != '-':
		return strings.IndexByte(arg, name[1]) > 0
	}
	before, _, _ := strings.Cut(arg, "=")
	return before == name
}

// values gives what is said for any of these options: -c X, -cX, -xc X, --command X, --command=X.
func (c call) values(names ...string) (all []word) {
	args := c.args()
	for i := range args {
		a := args[i].text
		for _, n := range names {
			if !given(a, n) {
				continue
			}
			from := len(a)
			switch eq := strings.IndexByte(a, '='); {
			case len(n) == 2 && a[1] != '-':
				from = strings.IndexByte(a, n[1]) + 1
			case eq >= 0:
				from = eq + 1
			}
			switch {
			case from < len(a):
				w := args[i]
				w.script = w.slice(from, len(a))
				all = append(all, w)
			case i+1 < len(args):
				all = append(all, args[i+1])
			}
			break
		}
	}
	return all
}

// valued lists, for each program, the options whose value stands in the next word, where leaving them
// out would take a value for an operand.
var valued = map[string]map[string]bool{
	"git":       set("-C -c --git-dir --work-tree --namespace --exec-path -o --push-option --repo --receive-pack"),
	"kubectl":   set("-n --namespace --context --cluster --kubeconfig -s --server --user --as -f --filename -l --selector -o --output -c --container"),
	"oc":        set("-n --namespace --context -f --filename -l --selector -o --output"),
	"helm":      set("-n --namespace --kube-context --kubeconfig -f --values --set --version"),
	"docker":    set("-H --host --context --config -l --log-level -e --env -v --volume -p --publish --name -w --workdir -u --user --network --entrypoint --env-file --mount -f --file --project-name --profile"),
	"aws":       set("--profile --region --endpoint-url --output --query --cli-input-json --color"),
	"gcloud":    set("--project --account --configuration --format --zone --region"),
	"az":        set("--subscription -g --resource-group -n --name -o --output --query"),
	"gh":        set("-R --repo"),
	"npm":       set("--prefix -w --workspace --registry --tag --otp"),
	"pnpm":      set("-C --dir --filter -F --registry --tag"),
	"yarn":      set("--cwd"),
	"cargo":     set("--manifest-path -p --package -Z --color --config"),
	"make":      set("-C -f -j -o -W -I --directory --file --makefile"),
	"just":      set("-f -d --justfile --working-directory"),
	"mvn":       set("-f -pl -P -s -T"),
	"systemctl": set("-H -M -t -p -n -o --host --machine --type --property"),
	"migrate":   set("-path -database -source -prefetch -lock-timeout"),
	"alembic":   set("-c -n -x --config --name"),
	"goose":     set("-dir -table"),
	"dbmate":    set("-u -d -e --url --migrations-dir --env"),
	"psql":      set("-c -f -h -p -U -d -v -F -P -R -T -o -L --command --file --host --port --username --dbname --set --variable"),
	"mysql":     set("-e -h -P -u -D --execute --host --port --user --database"),
	"sqlite3":   set("-cmd -separator -nullvalue -newline -init"),
	"redis-cli": set("-h -p -a -n -u --user --pass -r -i"),
	"curl":      set("-X -H -d -o -u -F -T -A -e -b -c -m -x -w -K -E --request --header --data --data-raw --data-binary --data-urlencode --json --output --user --form --upload-file --url --user-agent --cookie --max-time --proxy --retry --connect-timeout --cacert --cert --key --output-dir --write-out"),
	"wget":      set("-O -o -P -T -t -U --output-document --directory-prefix --post-data --post-file --body-data --body-file --method --header --user --password"),
	"chmod":     set("--reference"),
	"chown":     set("--reference --from"),
	"terraform": set("-target -var -var-file -state -replace"),
	"truncate":  set("-s --size -r --reference"),
	"shred":     set("-n -s --iterations --size"),
	"rsync":     set("-e --rsh --exclude --include --filter -f --exclude-from --include-from --files-from --log-file --bwlimit --port --password-file --backup-dir --suffix --max-size --min-size --chmod --chown --info"),
	"scp":       set("-P -i -o -F -J -l -c -S"),
	"ssh":       set("-p -i -l -o -F -J -L -R -D -b -c -E -e -I -m -O -Q -S -W -w -B"),
	"gpg":       set("--homedir -u -r --local-user --recipient -o --output"),
	"flyway":    set(""), "rails": set("-e"), "rake": set("-f -R"),
	"ansible-playbook": set("-i -l -e -u -t --inventory --limit --extra-vars --user --tags --skip-tags --vault-password-file -f --forks"),
}

// alike lists programs that take the options of another.
var alike = map[string]string{
	"podman": "docker", "nerdctl": "docker", "docker-compose": "docker", "tofu": "terraform", "terragrunt": "terraform", "mariadb": "mysql",
	"bun": "npm", "gmake": "make",
}

// operands gives the arguments that are neither options nor their values.
func (c call) operands() (all []word) {
	takes := valued[c.name]
	if like, ok := alike[c.name]; ok {
		takes = valued[like]
	}
	args := c.args()
	for i := 0; i < len(args); i++ {
		switch a := args[i].text; {
		case a == "--":
			return append(all, args[i+1:]...)
		case !isFlag(a):
			all = append(all, args[i])
		case takes[a]:
			i++
		}
	}
	return all
}
