package git

import (
	"context"
	"encoding/json"
	"fmt"
	nethttp "net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

const pullOpen = "git.pr.open"

// PullOpenContract is what git.pr.open promises.
func PullOpenContract() capability.Contract {
	c := builtin(pullOpen, "Open a pull request at GitHub or Gitea, or find the one that the branch has")
	c.Inputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "forge": {"enum": ["github", "gitea"]},
    "api": {"type": "string", "pattern": "^https?://", "description": "Where its API begins: https://api.github.com (the default of github), https://HOST/api/v3, https://HOST/api/v1"},
    "repo": {"type": "string", "pattern": "^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$", "description": "OWNER/NAME"},
    "token": {"type": "string", "minLength": 1, "description": "${secret:NAME}"},
    "head": {"type": "string", "minLength": 1, "description": "The branch with the changes; OWNER:BRANCH when it is in a fork"},
    "base": {"type": "string", "minLength": 1, "description": "The branch that is to take them"},
    "title": {"type": "string", "pattern": "\\S"},
    "body": {"type": "string"},
    "draft": {"type": "boolean", "default": false}
  },
  "required": ["forge", "repo", "token", "head", "base", "title"],
  "additionalProperties": false
}`)
	c.Outputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "number": {"type": "integer"},
    "url": {"type": "string", "description": "For people"},
    "created": {"type": "boolean", "description": "False when the branch had one already; it is left as it is"}
  },
  "required": ["number", "url", "created"]
}`)
	c.Needs.Network, c.To = true, []string{"api=https://api.github.com"}
	c.Repeat, c.Criticality, c.CostTier = capability.Once, "critical", 2
	c.Examples = []capability.Example{
		{Says: "Open one at GitHub", With: json.RawMessage(`{"forge": "github", "api": "http://localhost/github", "repo": "acme/shop", "token": "${secret:FORGE}",
  "head": "plan/retries", "base": "main", "title": "Add partial retries", "body": "As planned."}`)},
		{Says: "Open a draft at Gitea, from a fork", With: json.RawMessage(`{"forge": "gitea", "api": "http://localhost/api/v1", "repo": "acme/shop", "token": "${secret:FORGE}",
  "head": "ada:retries", "base": "main", "title": "Add partial retries", "draft": true}`)},
	}
	return c
}

// PullOpen performs git.pr.open. A branch has one open pull request for a base, so the forge tells whether
// it was opened.
type PullOpen struct{ transport nethttp.RoundTripper }

var (
	_ capability.Runner    = (*PullOpen)(nil)
	_ capability.Prober    = (*PullOpen)(nil)
	_ capability.Previewer = (*PullOpen)(nil)
)

// NewPullOpen makes a PullOpen. A nil transport is the usual network.
func NewPullOpen(transport nethttp.RoundTripper) *PullOpen {
	if transport == nil {
		usual := nethttp.DefaultTransport.(*nethttp.Transport).Clone()
		usual.DisableKeepAlives = true // nothing is left open when the engine ends
		transport = usual
	}
	return &PullOpen{transport}
}

// request is a pull request that is to be.
type request struct {
	Forge string `json:"forge"`
	API   string `json:"api"`
	Repo  string `json:"repo"`
	Token string `json:"token"`
	Head  string `json:"head"`
	Base  string `json:"base"`
	Title string `json:"title"`
	Body  string `json:"body"`
	Draft bool   `json:"draft"`
}

var repoName = regexp.MustCompile(`^[\w.-]+/[\w.-]+$`)

func (o *PullOpen) begin(call capability.Call) (*forge, error) {
	var in request
	if err := decode(call, pullOpen, &in); err != nil {
		return nil, err
	}
	if in.API == "" && in.Forge == "github" {
		in.API = "https://api.github.com"
	}
	u, err := url.Parse(strings.TrimRight(in.API, "/"))
	switch {
	case in.Forge != "github" && in.Forge != "gitea":
		return nil, fault.New(fault.Invalid, "there is no forge %q", in.Forge).Remedy("github and gitea are known")
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil:
		return nil, fault.New(fault.Invalid, "the API of the forge has no address").Remedy("write it whole in api, without a password: https://HOST/api/v1")
	case !repoName.MatchString(in.Repo):
		return nil, fault.New(fault.Invalid, "%q is no repository of a forge", in.Repo).Remedy("write it as OWNER/NAME")
	case in.Head == "" || in.Base == "" || strings.TrimSpace(in.Title) == "":
		return nil, fault.New(fault.Invalid, "a pull request needs head, base and title")
	case in.Head == in.Base:
		return nil, fault.New(fault.Invalid, "head and base are both %s", in.Head).Remedy("name the branch with the changes in head")
	case in.Token == "" || strings.ContainsAny(in.Token, "\r\n"):
		return nil, fault.New(fault.Invalid, "there is no token for the forge").Remedy(`give one that may write pull requests: token: "${secret:NAME}"`)
	}
	if err := call.Limits.ReachURL(u); err != nil {
		return nil, err
	}
	return &forge{request: in, at: u, transport: o.transport, host: call.Host}, nil
}

// Run implements capability.Runner.
func (o *PullOpen) Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	f, err := o.begin(call)
	if err != nil {
		return capability.Result{}, err
	}
	pull, err := f.find(ctx)
	if err != nil {
		return capability.Result{}, err
	}
	if pull != nil {
		return pull.result(false), nil
	}
	if pull, err = f.create(ctx); err != nil {
		return capability.Result{}, err
	}
	return pull.result(true), nil
}

// Probe implements capability.Prober.
func (o *PullOpen) Probe(ctx context.Context, call capability.Call) (capability.Result, bool, error) {
	f, err := o.begin(call)
	if err != nil {
		return capability.Result{}, false, err
	}
	pull, err := f.find(ctx)
	if err != nil || pull == nil {
		return capability.Result{}, false, err
	}
	return pull.result(true), true, nil
}

// Preview implements capability.Previewer: shown, not sent.
func (o *PullOpen) Preview(_ context.Context, call capability.Call) (capability.Preview, error) {
	f, err := o.begin(call)
	if err != nil {
		return capability.Preview{}, err
	}
	return capability.Preview{
		Commands: []string{
			fmt.Sprintf("POST %s/repos/%s/pulls", f.at, f.Repo),
			fmt.Sprintf("  from %s into %s: %s", f.Head, f.Base, f.Title),
		},
		Unforeseen: []string{"whether the branch has a pull request already, and whether the forge takes this one"},
	}, nil
}

// pull is a pull request as both forges show it.
type pull struct {
	Number int    `json:"number"`
	URL    string `json:"html_url"`
	State  string `json:"state"`
	Head   end    `json:"head"`
	Base   end    `json:"base"`
}

type end struct {
	Ref  string `json:"ref"`
	Repo struct {
		Owner struct {
			Login string `json:"login"`
		} `json:"owner"`
	} `json:"repo"`
}

func (p pull) result(created bool) capability.Result {
	return capability.Result{Dir: ".", Outputs: map[string]json.RawMessage{"number": asJSON(p.Number), "url": asJSON(p.URL), "created": asJSON(created)}}
}
