package git_test

import (
	"encoding/json"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// hub is a server that speaks as much of the APIs of GitHub (under /github) and Gitea (under /api/v1) as a
// pull request needs.
type hub struct {
	*httptest.Server
	mu    sync.Mutex
	pulls []map[string]any
	fail  func(w nethttp.ResponseWriter, r *nethttp.Request) bool // answers in its place
	posts int
}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{}
	mux := nethttp.NewServeMux()
	for prefix, scheme := range map[string]string{"/github": "Bearer ", "/api/v1": "token "} {
		mux.HandleFunc(prefix+"/repos/acme/shop/pulls", func(w nethttp.ResponseWriter, r *nethttp.Request) {
			h.mu.Lock()
			defer h.mu.Unlock()
			if r.Method == nethttp.MethodPost {
				h.posts++
			}
			switch {
			case h.fail != nil && h.fail(w, r):
			case r.Header.Get("Authorization") != scheme+"${secret:FORGE}":
				say(w, 401, map[string]any{"message": "Bad credentials for " + r.Header.Get("Authorization")})
			case r.Method == nethttp.MethodGet:
				h.list(w, r)
			default:
				h.open(w, r)
			}
		})
	}
	h.Server = httptest.NewServer(mux)
	t.Cleanup(h.Close)
	return h
}

func (h *hub) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pulls, h.fail, h.posts = nil, nil, 0
}

func say(w nethttp.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// list gives two a page, as a forge may.
func (h *hub) list(w nethttp.ResponseWriter, r *nethttp.Request) {
	page := 1
	_, _ = fmt.Sscan(r.URL.Query().Get("page"), &page)
	found := []map[string]any{}
	for _, p := range h.pulls {
		if want := r.URL.Query().Get("head"); want == "" || want == p["label"] {
			found = append(found, p)
		}
	}
	from := min((page-1)*2, len(found))
	say(w, 200, found[from:min(from+2, len(found))])
}

func (h *hub) open(w nethttp.ResponseWriter, r *nethttp.Request) {
	var in map[string]any
	b, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(b, &in)
	owner, branch, fork := strings.Cut(in["head"].(string), ":")
	if !fork {
		owner, branch = "acme", in["head"].(string)
	}
	p := h.add(owner, branch, in["base"].(string))
	p["title"], p["draft"] = in["title"], in["draft"]
	say(w, 201, p)
}

func (h *hub) add(owner, branch, base string) map[string]any {
	end := func(owner, ref string) map[string]any {
		return map[string]any{"ref": ref, "repo": map[string]any{"owner": map[string]any{"login": owner}}}
	}
	n := len(h.pulls) + 1
	p := map[string]any{"number": n, "html_url": fmt.Sprintf("https://forge.example/acme/shop/pulls/%d", n), "state": "open", "label": owner + ":" + branch,
		"head": end(owner, branch), "base": end("acme", base)}
	h.pulls = append(h.pulls, p)
	return p
}

func (h *hub) with(forge, more string) string {
	api := h.URL + "/github"
	if forge == "gitea" {
		api = h.URL + "/api/v1"
	}
	return `{"forge": "` + forge + `", "api": "` + api + `/", "repo": "acme/shop", "token": "${secret:FORGE}", "head": "feature", "base": "main", "title": "T", "body": "B"` + more + `}`
}

func TestPullRequest(t *testing.T) {
	h := newHub(t)
	k := task{t: t, dir: t.TempDir()}
	for _, forge := range []string{"github", "gitea"} {
		t.Run(forge, func(t *testing.T) {
			h.reset()
			for _, branch := range []string{"a", "b", "c"} { // others, over more than one page
				h.add("acme", branch, "main")
			}
			h.add("ada", "feature", "main")
			h.add("acme", "feature", "release")
			probe := func() bool {
				run, call, err := k.call("git.pr.open", h.with(forge, ""))
				if err != nil {
					t.Fatal(err)
				}
				res, done, err := run.(capability.Prober).Probe(t.Context(), call)
				if err != nil || done && string(res.Outputs["number"]) != "6" {
					t.Errorf("%v, %v", res, err)
				}
				return done
			}
			if probe() {
				t.Error("it was found before it was opened")
			}
			out := k.must("git.pr.open", h.with(forge, ""))
			if string(out["number"]) != "6" || string(out["created"]) != "true" || text(t, out["url"]) != "https://forge.example/acme/shop/pulls/6" {
				t.Errorf("%s", out)
			}
			if !probe() {
				t.Error("it was opened and is not found")
			}
			if out := k.must("git.pr.open", h.with(forge, "")); string(out["number"]) != "6" || string(out["created"]) != "false" || h.posts != 1 {
				t.Errorf("a second time: %s, %d posts", out, h.posts)
			}
			k.must("git.pr.open", strings.Replace(h.with(forge, `, "draft": true`), `"feature"`, `"bob:other"`, 1))
			if p := h.pulls[6]; p["draft"] != true && p["title"] != "WIP: T" || p["label"] != "bob:other" {
				t.Errorf("draft: %v", p)
			}
		})
	}
	p, err := k.preview("git.pr.open", h.with("gitea", ""))
	if err != nil || !strings.Contains(strings.Join(p.Commands, "\n"), "/api/v1/repos/acme/shop/pulls") || strings.Contains(fmt.Sprint(p), "secret:") {
		t.Errorf("%v, %v", p, err)
	}
}

func TestForgeRefuses(t *testing.T) {
	h := newHub(t)
	k := task{t: t, dir: t.TempDir()}
	for name, c := range map[string]struct {
		method  string // which request is answered so
		status  int
		header  map[string]string
		body    string
		code    fault.Code
		says    string
		remedy  string
		exclude string
	}{
		"500":           {"GET", 500, nil, "<html>oops", fault.Failed, "answered 500", "later", "html"},
		"502 when sent": {"POST", 502, nil, "", fault.Failed, "answered 502", "later", ""},
		"422": {"POST", 422, nil, `{"message": "Validation Failed", "errors": [{"message": "No commits between main and feature"}, "more"]}`, fault.Conflict,
			"Validation Failed; No commits between main and feature; more", "push feature first", ""},
		"409":            {"POST", 409, nil, `{"message": "pull request already exists"}`, fault.Conflict, "already exists", "no pull request is open", ""},
		"401":            {"GET", 401, nil, `{"message": "Bad credentials: ${secret:FORGE}"}`, fault.Denied, "Bad credentials: ...", "token", "secret:FORGE"},
		"403":            {"POST", 403, nil, `{"message": "Resource not accessible"}`, fault.Denied, "not accessible", "right to write", ""},
		"404":            {"GET", 404, nil, `{"message": "Not Found"}`, fault.NotFound, "Not Found", "check api", ""},
		"418":            {"GET", 418, nil, `{}`, fault.Failed, "answered 418", "documentation", ""},
		"moved":          {"GET", 301, map[string]string{"Location": "https://u:pw@new.example/"}, "", fault.Failed, "answered 301", "new.example", "pw"},
		"rate limit":     {"GET", 403, map[string]string{"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "1800000000"}, `{}`, fault.Failed, "until 2027-01-15T08:00:00Z", "backoff", ""},
		"secondary":      {"POST", 403, map[string]string{"Retry-After": "60"}, `{}`, fault.Failed, "for 60 seconds", "backoff", ""},
		"too many":       {"GET", 429, nil, ``, fault.Failed, "lets nobody ask more", "backoff", ""},
		"no list":        {"GET", 200, nil, `{"login": "page"}`, fault.Failed, "no list of pull requests", "check api", ""},
		"no pull":        {"POST", 200, nil, `{}`, fault.Failed, "not with a pull request", "check api", ""},
		"many open ones": {"GET", 200, nil, `[{"number": 1}]`, fault.Failed, "too many open", "close some", ""},
	} {
		for _, forge := range []string{"github", "gitea"} {
			h.reset()
			h.fail = func(w nethttp.ResponseWriter, r *nethttp.Request) bool {
				if r.Method != c.method {
					return false
				}
				for name, v := range c.header {
					w.Header().Set(name, v)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
				return true
			}
			_, err := k.run("git.pr.open", h.with(forge, ""))
			if err == nil || fault.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) || !strings.Contains(fault.HintOf(err), c.remedy) {
				t.Errorf("%s, %s: %v (%s)", name, forge, err, fault.HintOf(err))
				continue
			}
			if c.exclude != "" && strings.Contains(err.Error()+fault.HintOf(err), c.exclude) {
				t.Errorf("%s tells %s: %v (%s)", name, c.exclude, err, fault.HintOf(err))
			}
		}
	}
}

func TestForgeIsAway(t *testing.T) {
	gone := newHub(t)
	gone.Close()
	k := task{t: t, dir: t.TempDir()}
	k.refused("git.pr.open", gone.with("github", ""), fault.Failed, "cannot be reached")
	cut := newHub(t)
	cut.fail = func(w nethttp.ResponseWriter, _ *nethttp.Request) bool {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "[")
		return true
	}
	k.refused("git.pr.open", cut.with("github", ""), fault.Failed, "cannot be reached")
	full := cut.with("github", "")
	for from, to := range map[string]string{`"head": "feature"`: `"head": "main"`, `"api": "http`: `"api": "http://u:p@`, `"forge": "github"`: `"forge": "svn"`, `"repo": "acme/shop"`: `"repo": "acme"`,
		`"token": "${secret:FORGE}"`: `"token": "a\nb"`, `"title": "T"`: `"title": " "`, `"base": "main"`: `"base": 1`} {
		run, call, _ := k.call("git.pr.open", strings.Replace(full, from, to, 1))
		if _, err := run.Run(t.Context(), call); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", to, err)
		}
		if _, _, err := run.(capability.Prober).Probe(t.Context(), call); !fault.Is(err, fault.Invalid) {
			t.Errorf("probing %s: %v", to, err)
		}
		if _, err := run.(capability.Previewer).Preview(t.Context(), call); !fault.Is(err, fault.Invalid) {
			t.Errorf("previewing %s: %v", to, err)
		}
	}
}

func TestPullText(t *testing.T) {
	k := task{t: t, dir: t.TempDir()}
	out := k.must("git.pr.text", `{"plan": "p", "goal": "Make it\nbetter", "tasks": [{"id": "a", "title": "Do a", "note": "3 files\n## not a head"}, {"id": "b", "status": "failed"}],
		"decisions": [{"gate": "ship", "verdict": "approved", "by": "ada", "why": "read"}], "checks": ["go test"], "facts": ["412 passed", " "], "closes": ["#12"]}`)
	want := `Make it
better

## What was done

- [x] Do a: 3 files ## not a head
- [ ] b (failed)

## Decisions

- ship approved by ada: read

## Checks

- go test

## Facts

- 412 passed

Closes #12
Plan: p
`
	if text(t, out["title"]) != "Make it better" || text(t, out["body"]) != want {
		t.Errorf("%s\n%s", out["title"], text(t, out["body"]))
	}
	long := strings.Repeat("word ", 40)
	for with, want := range map[string]string{`{"tasks": [{"id": "a"}]}`: "a", `{"tasks": [{"id": "a", "title": "A"}]}`: "A", `{"title": "` + long + `"}`: strings.Repeat("word ", 13) + "word…",
		`{"title": "` + strings.Repeat("한", 80) + `"}`: strings.Repeat("한", 71) + "…"} {
		if out := k.must("git.pr.text", with); text(t, out["title"]) != want {
			t.Errorf("%s: %s", with, out["title"])
		}
	}
	k.refused("git.pr.text", `{"goal": " "}`, fault.Invalid, "nothing to tell")
	k.refused("git.pr.text", `{}`, fault.Invalid, "")
	facts, _ := json.Marshal(strings.Split(strings.Repeat(long+"\n", 500), "\n"))
	run, call, _ := k.call("git.pr.text", `{"goal": "g", "facts": `+string(facts)+`}`)
	res, err := run.Run(t.Context(), call)
	if err != nil || len(res.Artifacts) != 1 || res.Artifacts[0].Size > 61000 {
		t.Errorf("%v, %v", res, err)
	}
	b, _ := call.Host.(interface{ Content(string) ([]byte, bool) }).Content("body")
	if !strings.Contains(string(b), "more, which the journal tells") {
		t.Error("it does not say that something was left out")
	}
}
