package capability

import (
	"net/url"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Mode says whether what a task runs is confined.
type Mode string

// The modes. An empty one is On.
const (
	On      Mode = "on"      // with what this system has; what it lacks is told
	Require Mode = "require" // or not at all
	Off     Mode = "off"     // never
)

// Limits are what the policy of a plan lets an attempt touch. The zero Limits are the default policy around the
// directory of the call. A list that is nil was not given; one that is empty allows nothing.
//
// Paths are from Root, absolute, or begin with ~/ for the person's home folder.
type Limits struct {
	Mode Mode
	Root string // the workspace
	Home string // of cairn

	Read     []string // beside the workspace and the system
	Write    []string // nil: the workspace
	Hosts    []string // nil: none for commands, and for others what their inputs name
	Commands []string // nil: any

	Trial bool // a dry run: nothing but the workspace is written, no host is reached
}

// Reach refuses an address, host or host:port, that the hosts of a policy do not cover.
func (l Limits) Reach(address string) error {
	if l.Hosts == nil || slices.ContainsFunc(l.Hosts, func(pattern string) bool { return covers(pattern, address) }) {
		return nil
	}
	host, _ := SplitHost(address)
	return fault.New(fault.Denied, "the host %s is not allowed by policy.allow.hosts", address).
		Remedy("if it is to be reached, add it: policy: {allow: {hosts: [%s]}}", host)
}

// ReachURL is Reach for what a URL leads to.
func (l Limits) ReachURL(u *url.URL) error {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "ssh": "22", "git": "9418"}[u.Scheme]
	}
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" {
		host += ":" + port
	}
	return l.Reach(host)
}

// covers reports whether a pattern (host, *.domain, host:port, *) allows an address. One without a port allows all
// ports of its hosts.
func covers(pattern, address string) bool {
	if pattern == "*" {
		return true
	}
	allowed, port := SplitHost(pattern)
	host, at := SplitHost(address)
	if port != "" && port != at {
		return false
	}
	allowed, host = strings.ToLower(allowed), strings.ToLower(strings.TrimSuffix(host, "."))
	if domain, ok := strings.CutPrefix(allowed, "*."); ok {
		return strings.HasSuffix(host, "."+domain)
	}
	return allowed == host
}

// SplitHost parts host and port; the port is empty where there is none. An IPv6 address that has one stands in brackets.
func SplitHost(address string) (host, port string) {
	at := strings.LastIndexByte(address, ':')
	if at < 0 || strings.Count(address, ":") > 1 && !strings.Contains(address, "]:") {
		return strings.Trim(address, "[]"), ""
	}
	return strings.Trim(address[:at], "[]"), address[at+1:]
}
