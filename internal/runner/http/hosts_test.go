package http_test

import (
	"encoding/json"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/capability/capabilitytest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/http"
)

// A host that the policy does not name is not reached, by a redirect neither; nor is a file written that it does not name.
func TestHostsOfThePolicy(t *testing.T) {
	asked := 0
	other := httptest.NewServer(nethttp.HandlerFunc(func(nethttp.ResponseWriter, *nethttp.Request) { asked++ }))
	defer other.Close()
	first := httptest.NewServer(nethttp.RedirectHandler(other.URL, nethttp.StatusFound))
	defer first.Close()
	run := func(c capability.Runner, with map[string]string, l capability.Limits) error {
		raw, err := json.Marshal(with)
		if err != nil {
			t.Fatal(err)
		}
		l.Root = t.TempDir()
		_, err = c.Run(t.Context(), capability.Call{With: raw, Dir: l.Root, Host: &capabilitytest.Host{}, Limits: l})
		return err
	}
	r := http.New(nil)
	here := capability.Limits{Hosts: []string{strings.TrimPrefix(first.URL, "http://")}}
	for _, url := range []string{first.URL, other.URL} {
		if err := run(r, map[string]string{"url": url}, here); err == nil || !strings.Contains(err.Error(), "policy.allow.hosts") || asked != 0 {
			t.Errorf("%v, %d requests", err, asked)
		}
	}
	if err := run(r, map[string]string{"url": first.URL}, capability.Limits{Hosts: []string{"127.0.0.1"}}); err != nil || asked != 1 {
		t.Errorf("%v, %d requests", err, asked)
	}
	for _, e := range http.All(r) {
		if e.Contract.ID != http.DownloadID {
			continue
		}
		if err := run(e.Runner, map[string]string{"url": other.URL, "path": "src/f"}, capability.Limits{Write: []string{"out"}}); !fault.Is(err, fault.Denied) {
			t.Error(err)
		}
	}
}
