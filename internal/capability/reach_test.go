package capability_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
)

func TestReachTellsHosts(t *testing.T) {
	for _, c := range []struct {
		to, with string
		want     []string
	}{
		{"url", `{"url": "https://user:pw@Shop.Example.com.:8443/a?b#c"}`, []string{"shop.example.com"}},
		{"url", `{"url": "http://[::1]:80/"}`, []string{"::1"}},
		{"url", `{"url": "https://${where.host}/x"}`, []string{""}},
		{"url", `{"url": "${where.url}"}`, []string{""}},
		{"url", `{"url": 5}`, nil},
		{"url", `{}`, nil},
		{"url", ``, []string{""}},
		{"database", `{"database": "data/shop.db"}`, nil},
		{"database", `{"database": "postgres://ann@db.example/shop"}`, []string{"db.example"}},
		{"remote", `{"remote": "origin"}`, nil},
		{"remote", `{"remote": "git@forge.example:acme/shop.git"}`, []string{"forge.example"}},
		{"api=https://api.forge.example", `{}`, []string{"api.forge.example"}},
		{"api=https://api.forge.example", `{"api": "https://own.example/v1"}`, []string{"own.example"}},
		{"https://weather.example/now?town=${inputs.town}", `{"town": "x"}`, []string{"weather.example"}},
		{"https://${inputs.town}.example/", `{"town": "x"}`, []string{"*"}},
		{"run,any host", `{"run": "curl -d @x 'https://a.example/x' && wget http://b.example"}`, []string{"*", "a.example", "b.example"}},
	} {
		contract := capability.Contract{ID: "a.b", Provider: "builtin", To: strings.Split(c.to, ",")}
		names, hosts := contract.Reach(json.RawMessage(c.with))
		if !slices.Equal(names, []string{"a.b"}) || !slices.Equal(hosts, c.want) {
			t.Errorf("%s %s: %q %q, not %q", c.to, c.with, names, hosts, c.want)
		}
	}
}

func TestReachOfARegistry(t *testing.T) {
	r := capability.NewRegistry()
	c := contract("a.b")
	c.Provider, c.To = "tools/a.yaml", []string{capability.AnyHost}
	if err := r.Add(c, nothing); err != nil {
		t.Fatal(err)
	}
	names, hosts := r.Reach("a.b", nil)
	if !slices.Equal(names, []string{"a.b", "tools/a.yaml"}) || !slices.Equal(hosts, []string{capability.Anywhere}) {
		t.Errorf("%q %q", names, hosts)
	}
	if names, hosts := r.Reach("not.here", nil); !slices.Equal(names, []string{"not.here"}) || hosts != nil {
		t.Errorf("%q %q", names, hosts)
	}
}
