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

// A redirect does not carry data to a host that may not have it.
func TestARedirectIsAskedFor(t *testing.T) {
	got := ""
	other := httptest.NewServer(nethttp.HandlerFunc(func(_ nethttp.ResponseWriter, r *nethttp.Request) { got += r.URL.Path }))
	defer other.Close()
	tries := 0
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		tries++
		nethttp.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/there", nethttp.StatusTemporaryRedirect)
	}))
	defer s.Close()
	with, err := json.Marshal(map[string]any{"url": s.URL + "/?token=hush", "method": "PUT", "body": "Ann", "retries": 3})
	if err != nil {
		t.Fatal(err)
	}
	call := capability.Call{Key: key, With: with, Host: &capabilitytest.Host{}}
	call.May = func(host string) error {
		if host == "localhost" {
			return fault.New(fault.Denied, "nothing was sent to %s", host).Remedy("send it elsewhere")
		}
		return nil
	}
	_, err = http.NewWith(nil, hasty(nil)).Run(t.Context(), call)
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "leads elsewhere: nothing was sent to localhost") || strings.Contains(err.Error(), "hush") ||
		fault.HintOf(err) != "send it elsewhere" {
		t.Errorf("%v (%s)", err, fault.HintOf(err))
	}
	if got != "" || tries != 1 {
		t.Errorf("after %d tries the other host got %q", tries, got)
	}
	call.May = func(string) error { return nil }
	if _, err := http.New(nil).Run(t.Context(), call); err != nil || got != "/there" {
		t.Errorf("a redirect that is fine: %q, %v", got, err)
	}
}
