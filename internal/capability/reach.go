package capability

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Anywhere stands for the hosts of a call that may talk to any, such as a command.
const Anywhere = "*"

// AnyHost is in Contract.To when no input tells which host is reached.
const AnyHost = "any host"

// Reach tells what the data of a call goes to: the capability and whoever provides it by name, and hosts. The host in
// an address that a reference is yet to bring is empty.
func (c Contract) Reach(with json.RawMessage) (names, hosts []string) {
	names = []string{c.ID}
	if p := c.provider(); p != "builtin" {
		names = append(names, p)
	}
	var in map[string]json.RawMessage
	_ = json.Unmarshal(with, &in) // without inputs nothing is known of them
	for _, to := range c.To {
		name, usual, _ := strings.Cut(to, "=")
		switch {
		case to == AnyHost:
			hosts = append(hosts, Anywhere)
		case strings.Contains(name, "://"):
			hosts = append(hosts, hostsIn(to, Anywhere)...)
		case in == nil:
			hosts = append(hosts, "")
		default:
			text := usual
			_ = json.Unmarshal(in[name], &text) // one that is left out is the usual
			hosts = append(hosts, hostsIn(text, "")...)
		}
	}
	slices.Sort(hosts)
	return names, slices.Compact(hosts)
}

var (
	inURL = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://([^\s/?#"'<>|;&()\\]+)`)
	inSCP = regexp.MustCompile(`^[\w.-]+@([\w.-]+):`) // git@host:path
)

// hostsIn finds the hosts of a text that is an address, or has some in it. What a reference brings is told as open.
func hostsIn(text, open string) (hosts []string) {
	for _, m := range inURL.FindAllStringSubmatch(text, -1) {
		host := m[1][strings.LastIndexByte(m[1], '@')+1:]
		if strings.Contains(host, "${") {
			hosts = append(hosts, open)
			continue
		}
		host = (&url.URL{Host: host}).Hostname() // without the port
		hosts = append(hosts, strings.ToLower(strings.TrimSuffix(host, ".")))
	}
	if m := inSCP.FindStringSubmatch(text); m != nil {
		hosts = append(hosts, strings.ToLower(m[1]))
	}
	if len(hosts) == 0 && strings.HasPrefix(text, "${") {
		hosts = append(hosts, open) // a reference brings the whole address
	}
	return hosts
}

// Reach tells what the data of a call goes to; of a capability that is not here, only its name.
func (s *Snapshot) Reach(id string, with json.RawMessage) (names, hosts []string) {
	e, ok := s.entries[id]
	if !ok {
		return []string{id}, nil
	}
	return e.Contract.Reach(with)
}

// Reach tells what the data of a call goes to.
func (r *Registry) Reach(id string, with json.RawMessage) (names, hosts []string) {
	return r.Snapshot().Reach(id, with)
}
