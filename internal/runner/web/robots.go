package web

import (
	"context"
	"errors"
	"io"
	nethttp "net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

const (
	agent     = "cairn/1 (+https://github.com/cairn-plan/cairn)"
	token     = "cairn"
	robotsAge = 24 * time.Hour // how long the rules of a site are taken as read
	maxRobots = 512 << 10      // what is beyond is not read, as the standard allows
)

// permitted asks the robots.txt of a site whether a page may be fetched. The site that has none allows all; one that
// cannot say, because it is unwell, allows nothing.
func (f *Fetcher) permitted(ctx context.Context, to *url.URL, l capability.Limits) error {
	at := &url.URL{Scheme: to.Scheme, Host: to.Host, Path: "/robots.txt"}
	if to.Path == at.Path {
		return nil
	}
	rules, err := f.robots(ctx, at, l)
	if err != nil {
		return err
	}
	path := to.EscapedPath()
	if path == "" {
		path = "/"
	}
	if to.RawQuery != "" {
		path += "?" + to.RawQuery
	}
	if !allows(rules, path) {
		return fault.New(fault.Denied, "%s does not want %s to be fetched by programs", at, to.Path).
			Remedy("read it yourself, ask the site, or set ignore_robots: true where the site is yours")
	}
	return nil
}

func (f *Fetcher) robots(ctx context.Context, at *url.URL, l capability.Limits) (string, error) {
	kept, ok := f.cache.get(at.String())
	if ok && f.now().Sub(kept.Checked) <= robotsAge {
		return string(kept.body), nil
	}
	req, err := nethttp.NewRequestWithContext(ctx, nethttp.MethodGet, at.String(), nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("User-Agent", agent)
	client := nethttp.Client{Transport: f.transport, CheckRedirect: func(next *nethttp.Request, via []*nethttp.Request) error {
		if len(via) > maxRedirects {
			return errRedirects
		}
		return l.ReachURL(next.URL)
	}}
	res, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }() // what was not read is not wanted
	body, err := io.ReadAll(io.LimitReader(res.Body, maxRobots))
	if err != nil {
		return "", err
	}
	switch {
	case res.StatusCode >= 500:
		return "", fault.New(fault.Failed, "%s answered %d, so nobody knows what may be fetched there", at, res.StatusCode).Remedy("try again later")
	case res.StatusCode >= 300:
		body = nil
	}
	p := answer{status: res.StatusCode, header: res.Header, url: at.String(), body: body}.page(input{to: at}, f.now())
	return string(body), f.cache.put(p)
}

// rule is one line of a robots.txt that counts for us.
type rule struct {
	allow   bool
	pattern string
}

// allows judges a path by the rules of a site, as RFC 9309 has it: the group that names us, else the one for all; of the
// rules that match, the longest, and of two as long the one that allows.
func allows(text, path string) bool {
	own, all, named := group(text)
	if !named {
		own = all
	}
	best, allowed := -1, true
	for _, r := range own {
		if r.pattern == "" || !matches(r.pattern, path) {
			continue
		}
		if n := len(r.pattern); n > best || n == best && r.allow {
			best, allowed = n, r.allow
		}
	}
	return allowed
}

// group gathers the rules for us, and those for all.
func group(text string) (own, all []rule, named bool) {
	var mine, everyone, inRules bool
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "user-agent":
			if inRules { // a new group
				mine, everyone, inRules = false, false, false
			}
			who, _, _ := strings.Cut(strings.ToLower(value), "/")
			mine = mine || who == token
			everyone = everyone || who == "*"
			named = named || who == token
		case "allow", "disallow":
			inRules = true
			r := rule{strings.EqualFold(strings.TrimSpace(key), "allow"), value}
			if mine {
				own = append(own, r)
			}
			if everyone {
				all = append(all, r)
			}
		}
	}
	return own, all, named
}

// matches reports whether a pattern, in which * is anything and a last $ the end, begins a path.
func matches(pattern, path string) bool {
	pattern, whole := strings.CutSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(path, parts[0]) {
		return false
	}
	rest := path[len(parts[0]):]
	for i, part := range parts[1:] {
		if last := i == len(parts)-2; last && whole {
			return strings.HasSuffix(rest, part)
		}
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return !whole || rest == ""
}

var errRedirects = errors.New("too many redirects")
