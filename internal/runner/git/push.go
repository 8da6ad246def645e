package git

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// PushContract is what git.push promises.
func PushContract() capability.Contract {
	c := builtin("git.push", "Push one branch to a remote, and nothing else")
	c.Inputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "remote": {"type": "string", "minLength": 1, "default": "origin", "description": "The name of a remote, or its address"},
    "branch": {"type": "string", "minLength": 1, "description": "The one that is checked out when absent"},
    "to": {"type": "string", "minLength": 1, "description": "Its name at the remote; the same when absent"},
    "lease": {"type": "string", "pattern": "^([0-9a-f]{40}|[0-9a-f]{64})$", "description": "Replace what is there, provided that it is still this commit"},
    "token": {"type": "string", "minLength": 1, "description": "For https: ${secret:NAME}"},
    "user": {"type": "string", "minLength": 1, "default": "x-access-token", "description": "Whose token it is, where the server asks"}
  },
  "additionalProperties": false
}`)
	c.Outputs = json.RawMessage(`{
  "type": "object",
  "properties": {
    "remote": {"type": "string"},
    "branch": {"type": "string", "description": "At the remote"},
    "commit": {"type": "string"},
    "pushed": {"type": "boolean", "description": "False when the remote had it already"}
  },
  "required": ["remote", "branch", "commit", "pushed"]
}`)
	c.Needs.Network, c.To = true, []string{"remote"}
	c.Repeat, c.Criticality, c.CostTier = capability.Once, "critical", 2
	c.Examples = []capability.Example{
		{Says: "Push the branch that is checked out", With: json.RawMessage(`{"remote": "origin"}`)},
		{Says: "Push a branch under another name", With: json.RawMessage(`{"remote": "origin", "branch": "main", "to": "review/main"}`)},
	}
	return c
}

// Push performs git.push. The remote tells whether a push that was cut off arrived.
type Push struct{}

var (
	_ capability.Runner    = Push{}
	_ capability.Prober    = Push{}
	_ capability.Previewer = Push{}
)

type pushing struct {
	Remote string `json:"remote"`
	Branch string `json:"branch"`
	To     string `json:"to"`
	Lease  string `json:"lease"`
	Token  string `json:"token"`
	User   string `json:"user"`
}

// parcel is what goes where.
type parcel struct {
	pushing
	repo
	commit string
	lim    capability.Limits
}

func (p parcel) ref() string { return "refs/heads/" + p.To }

func beginPush(ctx context.Context, call capability.Call) (p parcel, err error) {
	p.pushing, p.lim = pushing{Remote: "origin", User: "x-access-token"}, call.Limits
	if err = decode(call, "git.push", &p.pushing); err != nil {
		return p, err
	}
	if p.repo, err = open(ctx, call); err != nil {
		return p, err
	}
	if _, err := p.born(ctx, "push"); err != nil {
		return p, err
	}
	if p.Branch == "" {
		h, err := p.attached(ctx, "push")
		if err != nil {
			return p, err
		}
		p.Branch = h.branch
	}
	if p.To == "" {
		p.To = p.Branch
	}
	for _, name := range []string{p.Branch, p.To} {
		if err := p.named(ctx, name); err != nil {
			return p, err
		}
	}
	a, err := p.run(ctx, "", "rev-parse", "--verify", "--quiet", "refs/heads/"+p.Branch)
	if err != nil {
		return p, err
	}
	if p.commit = strings.TrimSpace(string(a.out)); p.commit == "" {
		return p, fault.New(fault.NotFound, "there is no branch %s to push", p.Branch).Remedy("see which there are with: git branch")
	}
	err = p.address(ctx)
	return p, err
}

// address finds the remote, and gives the token to that server alone; not on the command line, where
// others could read it.
func (p *parcel) address(ctx context.Context) error {
	if strings.HasPrefix(p.Remote, "-") {
		return fault.New(fault.Invalid, "%q is no remote", p.Remote)
	}
	to := p.Remote
	if !strings.ContainsAny(to, `:/\`) {
		a, err := p.run(ctx, "", "remote", "get-url", "--push", to)
		if err != nil {
			return err
		}
		if to = strings.TrimSpace(string(a.out)); a.exit != 0 {
			return fault.New(fault.NotFound, "there is no remote %s in this repository", p.Remote).Remedy("add it: git remote add %s ADDRESS", p.Remote)
		}
	}
	if err := reach(p.lim, to); err != nil {
		return err
	}
	follow := "initial"
	if p.lim.Hosts != nil { // a server that sends git elsewhere is not followed
		follow = "false"
		p.repo = p.with("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.followRedirects", "GIT_CONFIG_VALUE_0="+follow)
	}
	if p.Token == "" {
		return nil
	}
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fault.New(fault.Invalid, "a token is for https, and %s is not", clean(to)).Remedy("leave token out, or give the https address of the remote")
	}
	basic := base64.StdEncoding.EncodeToString([]byte(p.User + ":" + p.Token))
	p.repo = p.with("GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_1=http.followRedirects", "GIT_CONFIG_VALUE_1="+follow,
		"GIT_CONFIG_KEY_0=http."+u.Scheme+"://"+u.Host+"/.extraHeader", "GIT_CONFIG_VALUE_0=Authorization: Basic "+basic)
	return nil
}

// reach refuses the host of a remote that the policy does not let be reached: of a URL, or of host:path, which is ssh.
func reach(l capability.Limits, remote string) error {
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		return l.ReachURL(u)
	}
	host, _, ssh := strings.Cut(remote, ":")
	if !ssh || strings.ContainsAny(host, `/\`) {
		return nil // a folder
	}
	return l.Reach(host[strings.LastIndexByte(host, '@')+1:] + ":22")
}

// args is the push itself. What goes is named by its hash, so that no other branch and no later commit
// goes with it.
func (p parcel) args(more ...string) []string {
	args := append([]string{"push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no"}, more...)
	if p.Lease != "" {
		args = append(args, "--force-with-lease="+p.ref()+":"+p.Lease)
	}
	return append(args, p.Remote, p.commit+":"+p.ref())
}

// Run implements capability.Runner.
func (Push) Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	p, err := beginPush(ctx, call)
	if err != nil {
		return capability.Result{}, err
	}
	a, err := p.runFor(ctx, p.host, "", p.args()...)
	if err != nil {
		return capability.Result{}, err
	}
	if a.exit != 0 {
		return capability.Result{}, p.refused(a)
	}
	return p.result(flag(a) != '='), nil
}

func (p parcel) result(pushed bool) capability.Result {
	return capability.Result{Dir: ".", Outputs: map[string]json.RawMessage{"remote": asJSON(clean(p.Remote)), "branch": asJSON(p.To),
		"commit": asJSON(p.commit), "pushed": asJSON(pushed)}}
}

// flag is how the one ref fared: blank, +, *, =, or !.
func flag(a answer) byte {
	for line := range strings.Lines(string(a.out)) {
		if len(line) > 2 && line[1] == '\t' {
			return line[0]
		}
	}
	return 0
}

// refused says why the remote did not take it.
func (p parcel) refused(a answer) error {
	said := clean(string(a.out))
	switch {
	case strings.Contains(said, "[remote rejected]"):
		why := said[strings.Index(said, "[remote rejected]")+len("[remote rejected]"):]
		why, _, _ = strings.Cut(why, "\n")
		return fault.New(fault.Denied, "the remote %s refused %s: %s%s", clean(p.Remote), p.To, strings.Trim(why, " ()"), reasons(a.err)).
			Remedy("its rules forbid it: push to another branch with to, and open a pull request")
	case strings.Contains(said, "stale info"):
		return fault.New(fault.Conflict, "%s at the remote is not at %.12s any more, so it is not replaced", p.To, p.Lease).
			Remedy("fetch, look at what is new there, and give the commit that may be replaced in lease")
	case strings.Contains(said, "[rejected]"):
		return fault.New(fault.Conflict, "%s at the remote has commits that %s has not", p.To, p.Branch).
			Remedy("fetch and merge or rebase onto it, then resume; nothing was pushed")
	}
	return p.explain("push", a)
}

// reasons are what the hooks of a remote said, which git passes on.
func reasons(stderr string) string {
	var said []string
	for line := range strings.Lines(stderr) {
		if text, ok := strings.CutPrefix(line, "remote: "); ok && strings.TrimSpace(text) != "" {
			said = append(said, strings.TrimSpace(text))
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "; it says: " + cut(strings.Join(said, " "), 300)
}

// there is where the branch is at the remote; empty when it is not.
func (p parcel) there(ctx context.Context) (string, error) {
	a, err := p.run(ctx, "", "ls-remote", "--quiet", p.Remote, p.ref())
	if err != nil {
		return "", err
	}
	if a.exit != 0 {
		return "", p.explain("ls-remote", a)
	}
	tip, _, _ := strings.Cut(string(a.out), "\t")
	return tip, nil
}

// Probe implements capability.Prober: the remote has the commit, or it has not.
func (Push) Probe(ctx context.Context, call capability.Call) (capability.Result, bool, error) {
	p, err := beginPush(ctx, call)
	if err != nil {
		return capability.Result{}, false, err
	}
	tip, err := p.there(ctx)
	if err != nil || tip == "" {
		return capability.Result{}, false, err
	}
	if tip == p.commit {
		return p.result(true), true, nil
	}
	// Somebody may have pushed more on top of it; what is not here cannot be, for we never saw it.
	a, err := p.run(ctx, "", "merge-base", "--is-ancestor", p.commit, tip)
	if err != nil || a.exit != 0 {
		return capability.Result{}, false, err
	}
	return p.result(true), true, nil
}

// Preview implements capability.Previewer: what would go, and whether the remote would take it as far as
// it says.
func (Push) Preview(ctx context.Context, call capability.Call) (capability.Preview, error) {
	p, err := beginPush(ctx, call)
	if err != nil {
		return capability.Preview{}, err
	}
	pre := capability.Preview{Commands: []string{"git push " + clean(p.Remote) + " " + p.Branch + ":" + p.To},
		Unforeseen: []string{"rules and hooks of the remote, which are asked only by a real push"}}
	tip, err := p.there(ctx)
	if err != nil {
		pre.Unforeseen = append(pre.Unforeseen, "the remote cannot be asked: "+err.Error())
		return pre, nil //nolint:nilerr // that is what a preview has to tell
	}
	a, err := p.run(ctx, "", p.args("--dry-run")...)
	if err != nil {
		return pre, err
	}
	if a.exit != 0 {
		return pre, p.refused(a)
	}
	span := []string{p.commit, "--not", "--remotes"}
	if tip != "" {
		if _, err := p.repo.commit(ctx, tip); err != nil {
			pre.Unforeseen = append(pre.Unforeseen, "which commits the remote lacks: what it has is not here")
			return pre, nil //nolint:nilerr // it is not here, and that was told
		}
		span = []string{tip + ".." + p.commit}
	}
	log, err := p.ask(ctx, append([]string{"log", "--oneline", "--no-decorate", "-n", "200"}, span...)...)
	for line := range strings.Lines(log) {
		pre.Commands = append(pre.Commands, "  "+clean(strings.TrimSpace(line)))
	}
	return pre, err
}
