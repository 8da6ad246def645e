package risk

import "strings"

var (
	toShell   = verdict{"fetch-to-shell", RemoteCode, Dangerous, "runs what it fetches from the network, unread"}
	ranLater  = verdict{"run-downloaded", RemoteCode, Critical, "runs a file that it has just fetched from the network"}
	hidden    = verdict{"decode-to-shell", RemoteCode, Dangerous, "runs text that is disguised by an encoding"}
	shellName = set("sh bash zsh dash ksh ash fish csh tcsh pwsh powershell rbash")
	decoders  = set("base64 base32 xxd uudecode openssl gpg rev")
)

// shell reads programs that run text as commands. It reports whether c was one and is dealt with.
func (s *scan) shell(c call) bool {
	switch {
	case shellName[c.name]:
		s.interpreted(c)
		if w, ok := c.commandString(); ok {
			s.script(w.script, c.level+1, false)
		}
	case c.name == "source" || c.name == ".":
		s.remote(c, c.args())
	case c.name == "trap" && len(c.args()) > 0:
		s.script(c.args()[0].script, c.level+1, false)
	case c.name == "su" || c.name == "runuser" || c.name == "script" || c.name == "flock" || c.name == "vagrant" || c.name == "npx":
		scripts := c.values("-c", "--command", "--call")
		if len(scripts) == 0 {
			return false
		}
		if c.name == "su" {
			s.found(asRoot, c)
		}
		s.script(scripts[0].script, c.level+1, false)
	case c.name == "env" && c.leads("-S --split-string", ""):
		for _, w := range c.values("-S", "--split-string") {
			s.script(w.script, c.level+1, false)
		}
	case c.name == "nix-shell" || c.name == "nix" || c.name == "gcloud" && c.flag("--command"):
		scripts := c.values("--run", "--command")
		if len(scripts) == 0 {
			return false
		}
		s.script(scripts[0].script, c.level+1, false)
	case c.name == "at" || c.name == "batch":
		s.documents(c)
	default:
		return false
	}
	return true
}

// commandString is the script of sh -c, which is the first operand wherever the c stands.
func (c call) commandString() (word, bool) {
	found := false
	for _, a := range c.args() {
		switch {
		case isFlag(a.text):
			found = found || given(a.text, "-c") || given(a.text, "--command") || given(a.text, "-Command")
		case found:
			return a, true
		}
	}
	return word{}, false
}

// interpreted looks at what an interpreter reads: a pipe, a document, a file, a substitution.
func (s *scan) interpreted(c call) {
	s.remote(c, c.args())
	operands := c.operands()
	script := c.flag("-c", "-e", "--command", "-Command", "--eval", "-r")
	reads := len(operands) == 0 || operands[0].text == "-" || operands[0].text == "/dev/stdin" || c.flag("-s")
	if !script && reads {
		from := c.cmd.reads
		switch {
		case c.cmd.fetched:
			_, end := c.span()
			s.add(toShell, c.cmd.pipeline, end)
		case from != nil && len(from.words) > 0 && decoders[program(from.words[0])]:
			s.add(hidden, from.words[0].start, c.cmd.end)
		case from != nil && shellName[c.name]:
			s.script(printed(from), c.level+1, true)
		}
	}
	if shellName[c.name] {
		s.documents(c)
	}
	if !script && len(operands) > 0 && s.downloads[here(operands[0].text)] {
		s.found(ranLater, c)
	}
}

// remote reports words that hold what a download will print.
func (s *scan) remote(c call, words []word) {
	for _, w := range words {
		if w.fetched {
			s.found(toShell, c)
			return
		}
	}
}

// documents reads the here-documents that are handed to c as scripts.
func (s *scan) documents(c call) {
	for _, d := range c.cmd.documents {
		s.script(d.body, c.level+1, !d.plain)
	}
}

// printed is what a command writes that only repeats its words: echo and printf.
func printed(c *command) script {
	if c == nil || len(c.words) < 2 {
		return script{}
	}
	switch program(c.words[0]) {
	case "echo", "printf":
	default:
		return script{}
	}
	words := c.words[1:]
	for len(words) > 1 && isFlag(words[0].text) {
		words = words[1:]
	}
	return joined(words)
}

// downloads reports whether a command prints or stores what it fetches.
func downloads(words []word) bool {
	for i, w := range words {
		if i > 8 {
			return false
		}
		switch program(w) {
		case "curl", "wget", "fetch", "aria2c", "iwr", "irm", "Invoke-WebRequest", "http", "https", "xh":
			return !w.quoted || i == 0
		case "echo", "printf", "grep", "rg", "which", "man", "type", "apt-get", "apt", "brew", "apk", "dnf", "yum", "command":
			return false
		}
	}
	return false
}

// seen remembers the files that a command fetches.
func (s *scan) seen(c call) {
	if c.name != "curl" && c.name != "wget" {
		return
	}
	names := c.values("-o", "--output")
	if c.name == "wget" {
		names = c.values("-O", "--output-document")
	}
	for _, w := range names {
		s.downloads[here(w.text)] = true
	}
	if len(names) > 0 || c.name == "curl" && !c.flag("-O", "--remote-name") {
		return
	}
	for _, w := range c.operands() {
		path, _, _ := strings.Cut(w.text, "?")
		if i := strings.LastIndexByte(path, '/'); i >= 0 && i+1 < len(path) {
			s.downloads[path[i+1:]] = true
		}
	}
}

// here is a path of the current folder without ./ before it.
func here(path string) string { return strings.TrimPrefix(path, "./") }
