package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/cairn-plan/cairn/internal/model/modeltest"
)

// modelServer is a provider of models for all scripts. What it answers goes by the name of the model that is asked: echo says
// what it was told, seoul gives JSON, busy has no time, refuses will not.
var modelServer = sync.OnceValue(func() string {
	busy := modeltest.Limited(3600)
	answers := modeltest.Answers(func(got modeltest.Received) modeltest.Reply {
		switch {
		case strings.Contains(got.Last(), "Criteria:"):
			return modeltest.Reply{Text: `{"verdicts": [{"number": 1, "ok": true, "reason": "It names Seoul."}, {"number": 2, "ok": false, "reason": "There is no source."}]}`}
		case got.Model == "seoul":
			return modeltest.Reply{Text: "Here it is:\n```json\n{\"city\": \"Seoul\"}\n```", In: 1000, Out: 200}
		case got.Model == "refuses":
			return modeltest.Reply{Refusal: "I would rather not."}
		}
		return modeltest.Reply{Text: got.Last()}
	})
	return httptest.NewServer(modeltest.Always(func(w http.ResponseWriter, r *http.Request, got modeltest.Received) {
		if got.Model == "busy" {
			busy(w, r, got)
			return
		}
		answers(w, r, got)
	})).URL + "/v1" // it ends with the tests
})
