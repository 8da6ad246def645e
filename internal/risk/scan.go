package risk

import (
	"slices"
	"strings"
)

// scan goes through the commands of a script and of the scripts inside it.
type scan struct {
	report
	downloads map[string]bool // files that an earlier command fetched
	assigned  map[string]bool // variables that the scripts set; true for a place that mktemp made
}

func newScan(text string) *scan {
	return &scan{report: report{text: text}, downloads: map[string]bool{}, assigned: map[string]bool{}}
}

// Shell reports what a command line may do that cannot be taken back, in the order of the text.
func Shell(text string) []Finding {
	s := newScan(text)
	s.script(script{text: text}, 0, false)
	return s.sorted()
}

var (
	tooDeep  = verdict{"too-deep", RemoteCode, Critical, "nests commands so deep that they were not read"}
	bomb     = verdict{"fork-bomb", Outage, Dangerous, "starts copies of itself until the machine stops"}
	rawDisk  = verdict{"device-write", Deletion, Dangerous, "writes over a disk"}
	network  = verdict{"reverse-shell", RemoteCode, Dangerous, "ties a shell to a network connection"}
	accounts = verdict{"system-file", Privilege, Critical, "changes a file that decides who may do what on this machine"}
)

// script reads one script. spent says that its substitutions were read before, by the shell around it.
func (s *scan) script(sc script, level int, spent bool) {
	if level > maxWrapping {
		s.add(tooDeep, sc.origin(0), sc.origin(len(sc.text)))
		return
	}
	p := parse(sc, s.assigned, spent)
	for i := range p.commands {
		s.command(p, i, level)
	}
	if p.deep {
		s.add(tooDeep, sc.origin(0), sc.origin(len(sc.text)))
	}
}

func (s *scan) command(p *parser, i, level int) {
	c := &p.commands[i]
	if c.source >= 0 {
		c.reads = &p.commands[c.source]
	}
	for _, r := range c.redirects {
		s.redirect(r, c)
	}
	if len(c.words) == 0 {
		return
	}
	if c.inside != "" && c.words[0].text == c.inside && c.reads != nil && len(c.reads.words) > 0 && c.reads.words[0].text == c.inside {
		s.add(bomb, c.reads.words[0].start, c.end)
	}
	s.call(call{words: c.words, cmd: c, level: level})
}

func (s *scan) redirect(r redirect, c *command) {
	to, at := r.to.text, r.to.start
	if len(c.words) > 0 {
		at = min(at, c.words[0].start)
	}
	switch {
	case strings.HasPrefix(to, "/dev/tcp/") || strings.HasPrefix(to, "/dev/udp/"):
		s.add(network, at, r.to.stop)
	case !r.writes():
	case isDisk(to):
		s.add(rawDisk, at, r.to.stop)
	case isAccounts(to):
		s.add(accounts, at, r.to.stop)
	}
	if r.writes() && len(c.words) > 0 && downloads(c.words) {
		s.downloads[here(to)] = true
	}
}

// call takes the wrappers off a command, then judges what is left.
func (s *scan) call(c call) {
	for len(c.words) > 0 {
		if c.level > maxWrapping {
			at, end := c.span()
			s.add(tooDeep, at, end)
			return
		}
		c.name, c.known = program(c.words[0]), s.assigned
		inner, wrapped := s.unwrap(c)
		if !wrapped {
			s.judge(c)
			return
		}
		c = inner
	}
}

func (s *scan) judge(c call) {
	s.seen(c)
	s.special(c)
	if s.downloads[here(c.words[0].text)] {
		s.found(ranLater, c)
	}
	if strings.HasPrefix(c.name, "mkfs.") {
		c.name = "mkfs"
	}
	if v, ok := judge(c); ok {
		s.found(v, c)
	}
}

func (s *scan) found(v verdict, c call) {
	at, end := c.span()
	s.add(v, at, end)
}

// special looks at programs whose arguments need more than a row of a table.
func (s *scan) special(c call) {
	switch c.name {
	case "find", "fd", "fdfind":
		s.find(c)
	case "curl", "wget", "http", "https", "xh":
		s.request(c)
	case "python", "python3", "node", "deno", "perl", "ruby", "php", "bun":
		s.interpreter(c)
	case "psql", "mysql", "mariadb", "sqlite3", "sqlite", "duckdb", "clickhouse-client", "clickhouse", "sqlcmd", "cockroach", "snowsql",
		"bq", "pgcli", "mycli", "usql":
		s.database(c)
	case "redis-cli", "valkey-cli", "mongo", "mongosh":
		s.keyValue(c)
	case "dd", "cp", "tee", "mv", "install":
		s.copies(c)
	}
}

func isDisk(path string) bool {
	rest, ok := strings.CutPrefix(path, "/dev/")
	if !ok {
		return strings.HasPrefix(path, `\\.\PhysicalDrive`)
	}
	return slices.ContainsFunc([]string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "dm-", "md", "mem", "kmem", "loop"},
		func(p string) bool { return strings.HasPrefix(rest, p) })
}

func isAccounts(path string) bool {
	switch path {
	case "/etc/passwd", "/etc/shadow", "/etc/group", "/etc/sudoers", "/etc/ssh/sshd_config", "/etc/crontab", "/etc/ld.so.preload":
		return true
	}
	return strings.HasPrefix(path, "/etc/sudoers.d/") || strings.HasPrefix(path, "/etc/cron.") ||
		strings.HasPrefix(path, "/etc/pam.d/") || strings.HasSuffix(path, "/.ssh/authorized_keys")
}
