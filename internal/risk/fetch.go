package risk

import (
	"slices"
	"strings"
)

// Rows about software that is fetched and run.
var fetchRules = []rule{
	{verdict{"install-url", RemoteCode, Critical, "installs software from an address, and runs what comes with it"}, "pip pip3 pipx npm pnpm yarn bun gem brew uv", "", "", "", installsURL},
	{verdict{"install-url", RemoteCode, Critical, "installs software from an address, and runs what comes with it"}, "pip pip3 uv", "", "-i --index-url --extra-index-url", "", installsElsewhere},
	{verdict{"install-url", RemoteCode, Critical, "installs software from an address, and runs what comes with it"}, "cargo", "install", "--git", "", nil},
	{verdict{"install-url", RemoteCode, Critical, "installs software from an address, and runs what comes with it"}, "rpm dpkg installer msiexec", "", "-i -U -ivh -Uvh --install", "", remoteOperand},
	{verdict{"install-url", RemoteCode, Critical, "runs what it fetches from the network, unread"}, "deno bun npx", "run|*", "", "", remoteOperand},
	{verdict{"fetch-to-shell", RemoteCode, Dangerous, "runs what it fetches from the network, unread"}, "iex Invoke-Expression", "", "", "", func(c call) bool {
		return slices.ContainsFunc(c.args(), func(w word) bool { return w.fetched || downloads([]word{w}) }) || c.cmd.fetched
	}},
}

func remote(s string) bool {
	return strings.Contains(s, "://") && !strings.HasPrefix(s, "file://") || strings.HasPrefix(s, "git+") || strings.HasPrefix(s, "github:") ||
		strings.Contains(s, "@git+")
}

func remoteOperand(c call) bool {
	return slices.ContainsFunc(c.operands(), func(w word) bool { return remote(w.text) })
}

// installsURL reports whether an installation names an address instead of a package.
func installsURL(c call) bool {
	ops := c.operands()
	if len(ops) == 0 || !slices.ContainsFunc(ops[:min(2, len(ops))], func(w word) bool {
		return slices.Contains([]string{"install", "i", "add", "exec", "run"}, w.text)
	}) {
		return false
	}
	return slices.ContainsFunc(ops[1:], func(w word) bool { return remote(w.text) })
}

// installsElsewhere reports whether packages come from an index other than the usual.
func installsElsewhere(c call) bool {
	if !slices.ContainsFunc(c.operands(), func(w word) bool { return w.text == "install" }) {
		return false
	}
	return slices.ContainsFunc(c.values("-i", "--index-url", "--extra-index-url"), func(w word) bool {
		return remote(w.text) && !strings.Contains(w.text, "://pypi.org/")
	})
}

// secretFiles are parts of the paths under which people keep what opens doors.
var secretFiles = []string{"/.ssh/", "id_rsa", "id_ed25519", "/.aws/", ".env", "/.netrc", "/.kube/config", "/.gnupg/", "/etc/shadow", "credentials.json",
	"/.docker/config.json", ".pem", "/.npmrc", "/.pypirc"}

// sendsSecret finds a file of secrets, or the whole environment, among what a request sends.
func (s *scan) sendsSecret(c call) {
	leak := verdict{"send-secret", Exposure, Dangerous, "sends keys or passwords to another machine"}
	for _, w := range c.values("-d", "--data", "--data-binary", "--data-raw", "--data-urlencode", "-F", "--form", "-T", "--upload-file", "--post-file", "--body-file") {
		_, path, ok := strings.Cut(w.text, "@")
		if !ok {
			path = w.text
		}
		if slices.ContainsFunc(secretFiles, func(part string) bool { return strings.Contains("/"+path, part) }) {
			s.found(leak, c)
			return
		}
	}
	if from := c.cmd.reads; from != nil && len(from.words) > 0 {
		name := program(from.words[0])
		reads := slices.ContainsFunc(from.words[1:], func(w word) bool {
			return slices.ContainsFunc(secretFiles, func(part string) bool { return strings.Contains(w.text, part) })
		})
		if name == "printenv" || name == "env" && len(from.words) == 1 || name == "cat" && reads {
			s.add(leak, from.words[0].start, c.cmd.end)
		}
	}
}
