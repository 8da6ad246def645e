package cli

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/cairn-plan/cairn/internal/journal"
)

// lacking begins what an attempt has on record when the system could not confine it as its policy asks.
const lacking = "lacking: "

// watchful tells, once in a run, what the system does not protect from the tasks that it sees run.
type watchful struct {
	follower
	told bool
}

func (w *watchful) take(entries []journal.Entry) {
	w.follower.take(entries)
	for _, e := range entries {
		if w.told {
			return
		}
		if says := unprotected(e); says != "" {
			w.told = true
			w.notice("warning: tasks are confined only in part: " + says + "; see: cairn doctor. To have them refused instead: policy: {sandbox: require}")
		}
	}
}

// unprotected is what an entry says that an attempt lacked; empty for nearly all of them, which are not decoded for it.
func unprotected(e journal.Entry) string {
	if !bytes.Contains(e.Bytes, []byte(`"sandbox":"`+lacking)) {
		return ""
	}
	var r struct {
		Body struct {
			Versions map[string]string `json:"versions"`
		} `json:"body"`
	}
	if json.Unmarshal(e.Bytes, &r) != nil {
		return ""
	}
	says, _ := strings.CutPrefix(r.Body.Versions["sandbox"], lacking)
	return says
}
