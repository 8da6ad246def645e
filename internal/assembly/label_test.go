//go:build unix

package assembly_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cairn-plan/cairn/internal/assembly"
	"github.com/cairn-plan/cairn/internal/driver/local"
	"github.com/cairn-plan/cairn/internal/plan"
)

const labelled = `
plan: labelled
inputs: {here: "URL", away: "AWAY"}
policy: {labels: {pii: {deny: [localhost]}, internal: {allow: [noop, http.request]}}}
tasks:
  - {id: rows, uses: noop, with: {outputs: {names: [Ann, Bob]}}, outputs: {names: {type: list, labels: [pii]}}}
  - {id: fine, needs: [rows], uses: http.request, with: {url: "${inputs.here}/fine", headers: {X: "of ${rows.names}"}}}
  - {id: each, needs: [rows], each: "${rows.names}", uses: http.request, with: {url: "${inputs.away}/each", headers: {X: "${item}"}}}
  - {id: led, needs: [rows], uses: http.request, with: {url: "${inputs.here}/led", headers: {X: "of ${rows.names}"}}}
  - {id: chain, needs: [rows], with: {to: "${inputs.here}", who: {x: "${rows.names}"}}, run: "noop(outputs=who) -> a; http.request(url=to) -> b"}
  - {id: chained, needs: [rows], with: {to: "${inputs.here}/led", who: "${rows.names}"}, run: "http.request(url=to) -> b"}
  - {id: plan, labels: [internal], uses: noop, with: {outputs: {n: 1}}, outputs: {n: number}}
  - {id: kept, needs: [plan], with: {n: "${plan.n}"}, run: "noop(outputs=n) -> a; shell(run=\"true\") -> b"}
  - {id: left, needs: [plan], with: {n: "${plan.n}", to: "${inputs.here}"}, run: "http.request(url=to) -> b"}
`

// What data may not reach gets nothing, by whatever way the plan would send it.
func TestLabelledDataStays(t *testing.T) {
	var away atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { away.Add(1) }))
	defer other.Close()
	elsewhere := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/led" {
			http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
		}
	}))
	defer here.Close()
	text := strings.NewReplacer("URL", here.URL, "AWAY", elsewhere).Replace(labelled)
	h, err := assembly.Open(context.Background(), options(folder(t, text), ""))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	p, faults := plan.Read("plan.yaml", []byte(text), plan.Options{Capabilities: h.Capabilities})
	// Only what the chain hands to the shell shows beforehand.
	if errs := faults.Errors(); len(errs) != 1 || errs[0].Code != plan.CodeLabel || !strings.Contains(errs[0].Msg, "kept hands ${plan.n} to shell") {
		t.Fatal(faults)
	}
	name, err := h.Engine.Submit(context.Background(), p, "plan.yaml", "person:ann")
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Engine.Open(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := (&local.Driver{}).Drive(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	why := "nothing was sent to localhost, which may not have what is pii, as data of rows.names is (policy.labels.pii, deny: localhost)"
	for id, want := range map[string]string{"fine": "", "each-1": why, "each-2": why, "led": "leads elsewhere: " + why, "chain": "", "chained": why,
		"kept": "nothing was sent to shell, which may not have what is internal", "left": ""} {
		task, ok := r.State.Task(id)
		if !ok || (want == "") != (task.Status == "completed") || !strings.Contains(task.Error, want) {
			t.Errorf("%s is %s: %s", id, task.Status, task.Error)
		}
	}
	if away.Load() != 0 {
		t.Errorf("%d requests arrived", away.Load())
	}
}
