package git

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

const (
	patience  = 30 * time.Second // for one answer of a forge
	maxAnswer = 8 << 20
	pageSize  = 50
	maxPages  = 20 // of open pull requests that are looked through
)

// forge is one repository at a forge, and what is asked of it.
type forge struct {
	request
	at        *url.URL
	transport nethttp.RoundTripper
	host      capability.Host
}

var errPatience = errors.New("the forge did not answer in time")

// reply is what a forge answered.
type reply struct {
	status int
	header nethttp.Header
	body   []byte
}

func (f *forge) do(ctx context.Context, method, path string, query url.Values, body any) (reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(asJSON(body))
	}
	to := f.at.JoinPath("repos", f.Repo, path)
	to.RawQuery = query.Encode()
	req, err := nethttp.NewRequestWithContext(ctx, method, to.String(), content)
	if err != nil {
		return reply{}, fault.Wrap(fault.Invalid, err, "the forge cannot be asked")
	}
	scheme, accept := "token", "application/json"
	if f.Forge == "github" {
		scheme, accept = "Bearer", "application/vnd.github+json"
		req.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	}
	req.Header.Set("Authorization", scheme+" "+f.Token)
	req.Header.Set("Accept", accept)
	req.Header.Set("User-Agent", "cairn")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	client := nethttp.Client{Transport: f.transport, CheckRedirect: func(*nethttp.Request, []*nethttp.Request) error { return nethttp.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return reply{}, f.unreachable(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // what was not read is not wanted
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return reply{}, f.unreachable(ctx, err)
	}
	if f.host != nil {
		f.host.Beat()
	}
	return reply{res.StatusCode, res.Header, b}, nil
}

func (f *forge) unreachable(ctx context.Context, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errPatience):
		return fault.Wrap(fault.Failed, cause, "%s did not answer within %s", f.at.Host, patience).Remedy("try again later")
	case cause != nil:
		return fault.Wrap(fault.Interrupted, cause, "asking %s was stopped", f.at.Host)
	}
	return fault.Wrap(fault.Failed, err, "the forge at %s cannot be reached", f.at.Host).Remedy("check api, and the network")
}

// find looks for an open pull request of the same branches.
func (f *forge) find(ctx context.Context) (*pull, error) {
	owner, branch, fork := strings.Cut(f.Head, ":")
	if !fork {
		owner, _, _ = strings.Cut(f.Repo, "/")
		branch = f.Head
	}
	query := url.Values{"state": {"open"}}
	if f.Forge == "github" {
		query.Set("head", owner+":"+branch)
		query.Set("base", f.Base)
		query.Set("per_page", strconv.Itoa(pageSize))
	} else {
		query.Set("limit", strconv.Itoa(pageSize))
	}
	for page := 1; page <= maxPages; page++ {
		query.Set("page", strconv.Itoa(page))
		r, err := f.do(ctx, nethttp.MethodGet, "pulls", query, nil)
		if err != nil {
			return nil, err
		}
		if r.status != nethttp.StatusOK {
			return nil, f.refused(r)
		}
		var all []pull
		if err := json.Unmarshal(r.body, &all); err != nil {
			return nil, fault.Wrap(fault.Failed, err, "%s answered with what is no list of pull requests", f.at).Remedy("check api: it is where the API of the forge begins")
		}
		for _, p := range all {
			if p.Head.Ref == branch && p.Base.Ref == f.Base && strings.EqualFold(p.Head.Repo.Owner.Login, owner) {
				return &p, nil
			}
		}
		if len(all) == 0 { // a forge may give less a page than was asked for
			return nil, nil
		}
	}
	return nil, fault.New(fault.Failed, "%s has too many open pull requests to look through", f.Repo).Remedy("close some")
}

func (f *forge) create(ctx context.Context) (*pull, error) {
	body := map[string]any{"title": f.Title, "head": f.Head, "base": f.Base, "body": f.Body}
	switch {
	case f.Forge == "github":
		body["draft"] = f.Draft
	case f.Draft:
		body["title"] = "WIP: " + f.Title // what Gitea takes for a draft
	}
	r, err := f.do(ctx, nethttp.MethodPost, "pulls", nil, body)
	if err != nil {
		return nil, err
	}
	var p pull
	switch {
	case r.status == nethttp.StatusCreated && json.Unmarshal(r.body, &p) == nil && p.Number > 0:
		return &p, nil
	case r.status < 300:
		return nil, fault.New(fault.Failed, "%s answered %d, and not with a pull request", f.at, r.status).Remedy("check api: it is where the API of the forge begins")
	}
	return nil, f.refused(r)
}

// refused says why a forge did not do what was asked.
func (f *forge) refused(r reply) error {
	said := f.said(r)
	what := fmt.Sprintf("the forge at %s answered %d", f.at.Host, r.status)
	if said != "" {
		what += ": " + said
	}
	switch {
	case limited(r):
		return fault.New(fault.Failed, "%s lets nobody ask more for now%s", f.at.Host, until(r.header)).Remedy("wait longer between tries: retry: {times: 5, backoff: 1m..15m}")
	case r.status == nethttp.StatusUnauthorized:
		return fault.New(fault.Denied, "%s", what).Remedy("the token is not valid there, or not any more: make another")
	case r.status == nethttp.StatusForbidden:
		return fault.New(fault.Denied, "%s", what).Remedy("the token may not do this: it needs the right to write pull requests of %s", f.Repo)
	case r.status == nethttp.StatusNotFound:
		return fault.New(fault.NotFound, "%s", what).Remedy("check api, repo, head and base; a token without rights sees nothing either: %s", f.Repo)
	case r.status == nethttp.StatusConflict, r.status == nethttp.StatusUnprocessableEntity:
		return fault.New(fault.Conflict, "%s", what).Remedy("push %s first, check that it has commits that %s has not, and that no pull request is open for it", f.Head, f.Base)
	case r.status >= 300 && r.status < 400:
		return fault.New(fault.Failed, "%s", what).Remedy("the repository has moved to %s: correct api and repo", clean(r.header.Get("Location")))
	case r.status >= 500:
		return fault.New(fault.Failed, "%s", what).Remedy("the forge failed: try again later")
	}
	return fault.New(fault.Failed, "%s", what).Remedy("see what the forge says about it in its documentation")
}

// limited tells a limit of calls from a right that is missing: GitHub answers 403 to both.
func limited(r reply) bool {
	return r.status == nethttp.StatusTooManyRequests ||
		r.status == nethttp.StatusForbidden && (r.header.Get("X-Ratelimit-Remaining") == "0" || r.header.Get("Retry-After") != "")
}

func until(h nethttp.Header) string {
	if after := h.Get("Retry-After"); after != "" {
		if _, err := strconv.Atoi(after); err == nil {
			return ", for " + after + " seconds"
		}
	}
	if reset, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64); err == nil {
		return ", until " + time.Unix(reset, 0).UTC().Format(time.RFC3339)
	}
	return ""
}

// said is the forge's own reason, without the token should it repeat it.
func (f *forge) said(r reply) string {
	var m struct {
		Message string `json:"message"`
		Errors  []any  `json:"errors"`
	}
	text := ""
	if json.Unmarshal(r.body, &m) == nil {
		text = m.Message
		for _, e := range m.Errors {
			switch e := e.(type) {
			case string:
				text += "; " + e
			case map[string]any:
				if s, ok := e["message"].(string); ok {
					text += "; " + s
				}
			}
		}
	}
	return cut(line(strings.ReplaceAll(text, f.Token, "...")), 300)
}
