package capability_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

func TestReach(t *testing.T) {
	for _, c := range []struct {
		hosts   string
		address string
		ok      bool
	}{
		{"example.com", "example.com", true},
		{"example.com", "EXAMPLE.com.:8443", true},
		{"example.com", "www.example.com", false},
		{"example.com", "example.com.evil.org", false},
		{"*.example.com", "www.example.com:443", true},
		{"*.example.com", "a.b.example.com", true},
		{"*.example.com", "example.com", false},
		{"*.example.com", "badexample.com", false},
		{"example.com:8080", "example.com:8080", true},
		{"example.com:8080", "example.com:80", false},
		{"example.com:8080", "example.com", false},
		{"127.0.0.1:80 [::1]:81", "[::1]:81", true},
		{"::1", "[::1]:9", true},
		{"::1", "::1", true},
		{"*", "anything:1", true},
		{"", "example.com", false},
	} {
		err := capability.Limits{Hosts: append([]string{}, strings.Fields(c.hosts)...)}.Reach(c.address)
		if (err == nil) != c.ok {
			t.Errorf("%s by %q: %v", c.address, c.hosts, err)
		}
		if err != nil && (!fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "policy.allow.hosts") || !strings.Contains(fault.HintOf(err), "policy:")) {
			t.Errorf("%v, %s", err, fault.HintOf(err))
		}
	}
	l := capability.Limits{Hosts: []string{"a.org:443", "::1", "b.org:22"}}
	for address, ok := range map[string]bool{"https://a.org/x": true, "http://a.org": false, "http://[::1]/": true, "ssh://git@b.org/r.git": true, "foo://a.org": false} {
		if u, err := url.Parse(address); err != nil || (l.ReachURL(u) == nil) != ok {
			t.Errorf("%s: %v", address, l.ReachURL(u))
		}
	}
	if err := (capability.Limits{}).Reach("anything"); err != nil {
		t.Error(err)
	}
}
