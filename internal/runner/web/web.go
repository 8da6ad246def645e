// Package web performs the capability web.fetch: one page of the web, as bytes and as the text that a person would
// read on it.
//
// A site's robots.txt is asked first and obeyed, on every host that a redirect leads to; when it cannot be had because
// the site is unwell, nothing is fetched. What was fetched is kept in a cache under its hash, with the time and with what
// the server calls that version, so that a page that did not change is not sent again. The cache belongs to
// the Fetcher alone; losing it costs time and nothing else. Files in it appear whole or not at all.
package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	nethttp "net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// ID is the capability's id.
const ID = "web.fetch"

const (
	inline         = 4 << 10 // what is longer is stored as an artifact
	defaultMax     = 16 << 20
	defaultTimeout = time.Minute
	maxRedirects   = 10
)

// Contract is what web.fetch promises.
func Contract() capability.Contract {
	return capability.Contract{
		ID: ID, Version: "1.0.0", Summary: "Fetch a page of the web, and give what is to be read on it; robots.txt is obeyed",
		Inputs: json.RawMessage(`{
  "type": "object",
  "properties": {
    "url": {"type": "string", "pattern": "^https?://", "description": "http or https"},
    "max_age": {"type": "string", "description": "Take the page from the cache when it was fetched or checked no longer ago, such as 24h; 0s, the default, asks the server whether it changed"},
    "max_bytes": {"type": "integer", "minimum": 1, "maximum": 268435456, "description": "A longer page is a failure; 16 MiB when absent"},
    "timeout": {"type": "string", "description": "For all of it, such as 10s; 1m when absent"},
    "ignore_robots": {"type": "boolean", "default": false, "description": "For a site of your own"}
  },
  "required": ["url"],
  "additionalProperties": false
}`),
		Outputs: json.RawMessage(`{
  "type": "object",
  "properties": {
    "url": {"type": "string"},
    "final_url": {"type": "string", "description": "After redirects"},
    "title": {"type": "string"},
    "text": {"type": "string", "description": "What is to be read, in UTF-8; headings begin with #, items of lists with -. An artifact when over 4 KiB; absent when it is no text"},
    "raw": {"type": "string", "description": "The bytes as they came, an artifact"},
    "content_type": {"type": "string"},
    "fetched_at": {"type": "string", "description": "When these bytes were fetched, RFC 3339"},
    "sha256": {"type": "string", "description": "Of the bytes"},
    "from_cache": {"type": "boolean", "description": "They were there, and the server was not asked or said that nothing changed"}
  },
  "required": ["url", "final_url", "title", "content_type", "fetched_at", "sha256", "from_cache"]
}`),
		Positional: []string{"url"},
		To:         []string{"url"},
		Needs:      capability.Needs{Network: true},
		Repeat:     capability.Repeatable, Criticality: "safe", CostTier: 1, Provider: "builtin",
		Examples: []capability.Example{
			{Says: "Read a page", With: json.RawMessage(`{"url": "http://localhost/page"}`)},
			{Says: "Read a page that may be a day old", With: json.RawMessage(`{"url": "http://localhost/page", "max_age": "24h"}`)},
		},
	}
}

// Fetcher performs web.fetch. It keeps no connection between calls.
type Fetcher struct {
	cache     cache
	transport nethttp.RoundTripper
	now       func() time.Time
}

var _ capability.Runner = (*Fetcher)(nil)

// New makes a Fetcher whose cache is a folder, made when it is needed. A nil transport is the usual network, a
// nil clock the machine's.
func New(dir string, transport nethttp.RoundTripper, now func() time.Time) *Fetcher {
	if transport == nil {
		transport = &nethttp.Transport{
			Proxy:                  nethttp.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
			TLSHandshakeTimeout:    15 * time.Second,
			MaxResponseHeaderBytes: 1 << 20,
			DisableKeepAlives:      true,
			ForceAttemptHTTP2:      true,
		}
	}
	if now == nil {
		now = time.Now
	}
	return &Fetcher{cache: cache{dir}, transport: transport, now: now}
}

// All lists the capability of this package.
func All(f *Fetcher) []capability.Entry { return []capability.Entry{{Contract: Contract(), Runner: f}} }

// input is what the contract's input schema lets through, and what was made of it.
type input struct {
	URL          string `json:"url"`
	MaxAge       string `json:"max_age"`
	MaxBytes     int64  `json:"max_bytes"`
	Timeout      string `json:"timeout"`
	IgnoreRobots bool   `json:"ignore_robots"`

	to   *url.URL
	age  time.Duration
	wait time.Duration
	lim  capability.Limits
}

func parse(call capability.Call) (input, error) {
	in := input{MaxBytes: defaultMax, wait: defaultTimeout, lim: call.Limits}
	if err := json.Unmarshal(call.With, &in); err != nil {
		return in, fault.Wrap(fault.Invalid, err, "the inputs of %s are wrong", ID).Remedy("see what it takes with: cairn capability show %s", ID)
	}
	var err error
	if in.to, err = url.Parse(in.URL); err != nil || in.to.Host == "" || in.to.Scheme != "http" && in.to.Scheme != "https" || in.to.User != nil {
		return in, fault.New(fault.Invalid, "that is no address of a page").Remedy("write it whole, without a password: https://host/path")
	}
	if err := in.lim.ReachURL(in.to); err != nil {
		return in, err
	}
	in.to.Fragment = ""
	for text, d := range map[*string]*time.Duration{&in.MaxAge: &in.age, &in.Timeout: &in.wait} {
		if *text == "" {
			continue
		}
		if *d, err = time.ParseDuration(*text); err != nil || *d < 0 {
			return in, fault.New(fault.Invalid, "%q is no duration", *text).Remedy("write it like 500ms, 10s or 24h")
		}
	}
	if in.MaxBytes <= 0 {
		in.MaxBytes = defaultMax
	}
	return in, nil
}

var errTimeout = errors.New("the time for the page was over")

// Run implements capability.Runner.
func (f *Fetcher) Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	in, err := parse(call)
	if err != nil {
		return capability.Result{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, in.wait, errTimeout)
	defer cancel()
	if ctx.Err() != nil {
		return capability.Result{}, explain(ctx, in, ctx.Err())
	}
	p, cached, err := f.page(ctx, in, call.Host)
	if err != nil {
		return capability.Result{}, err
	}
	return give(ctx, call, in, p, cached)
}

// page takes a page from the cache or from its server.
func (f *Fetcher) page(ctx context.Context, in input, host capability.Host) (page, bool, error) {
	kept, ok := f.cache.get(in.to.String())
	if ok && in.age > 0 && f.now().Sub(kept.Checked) <= in.age && int64(len(kept.body)) <= in.MaxBytes {
		return kept, true, nil
	}
	if !in.IgnoreRobots {
		if err := f.permitted(ctx, in.to, in.lim); err != nil {
			return page{}, false, explain(ctx, in, err)
		}
	}
	got, err := f.ask(ctx, in, kept, host)
	if err != nil {
		return page{}, false, explain(ctx, in, err)
	}
	if got.status == nethttp.StatusNotModified && ok {
		kept.Checked = f.now().UTC()
		return kept, true, f.cache.put(kept)
	}
	if got.status < 200 || got.status > 299 {
		return page{}, false, unexpected(in, got)
	}
	p := got.page(in, f.now())
	return p, false, f.cache.put(p)
}

// ask makes the request, conditional on the version that is kept.
func (f *Fetcher) ask(ctx context.Context, in input, kept page, host capability.Host) (answer, error) {
	req, err := nethttp.NewRequestWithContext(ctx, nethttp.MethodGet, in.to.String(), nil)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Accept", "text/html, application/xhtml+xml, text/*;q=0.9, */*;q=0.5")
	if kept.ETag != "" {
		req.Header.Set("If-None-Match", kept.ETag)
	}
	if kept.Modified != "" {
		req.Header.Set("If-Modified-Since", kept.Modified)
	}
	client := nethttp.Client{Transport: f.transport, CheckRedirect: func(next *nethttp.Request, via []*nethttp.Request) error {
		if len(via) > maxRedirects {
			return errRedirects
		}
		next.Header.Del("If-None-Match") // another page has other versions
		next.Header.Del("If-Modified-Since")
		if err := in.lim.ReachURL(next.URL); err != nil {
			return err
		}
		if in.IgnoreRobots {
			return nil
		}
		return f.permitted(next.Context(), next.URL, in.lim)
	}}
	res, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }() // what was not read is not wanted
	a := answer{status: res.StatusCode, header: res.Header, url: res.Request.URL.String()}
	if a.body, err = io.ReadAll(io.LimitReader(&alive{res.Body, host}, in.MaxBytes+1)); err != nil {
		return a, err
	}
	if int64(len(a.body)) > in.MaxBytes {
		return a, fault.New(fault.Failed, "%s is longer than %d bytes", in.place(), in.MaxBytes).Remedy("raise max_bytes, or fetch it with http.download")
	}
	return a, nil
}

// answer is what a server gave.
type answer struct {
	status int
	header nethttp.Header
	url    string
	body   []byte
}

// alive tells the watchdog of every piece that arrives.
type alive struct {
	r    io.Reader
	host capability.Host
}

func (a *alive) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if a.host != nil && n > 0 {
		a.host.Beat()
	}
	return n, err
}

// give puts a page among the outputs.
func give(ctx context.Context, call capability.Call, in input, p page, cached bool) (capability.Result, error) {
	out := capability.Result{Dir: ".", Outputs: map[string]json.RawMessage{
		"url": asJSON(in.URL), "final_url": asJSON(p.Final), "content_type": asJSON(p.Type), "fetched_at": asJSON(p.Fetched.UTC().Format(time.RFC3339)),
		"sha256": asJSON(p.Hash.String()), "from_cache": asJSON(cached)}}
	raw, err := call.Host.Put(ctx, "raw", "file", bytes.NewReader(p.body))
	if err != nil {
		return out, err
	}
	out.Artifacts = append(out.Artifacts, raw)
	title, text, readable := read(p.body, p.Type)
	out.Outputs["title"] = asJSON(title)
	if !readable {
		return out, nil
	}
	if len(text) <= inline {
		out.Outputs["text"] = asJSON(text)
		return out, nil
	}
	ref, err := call.Host.Put(ctx, "text", "text", strings.NewReader(text))
	if err == nil {
		out.Artifacts = append(out.Artifacts, ref)
	}
	return out, err
}

func asJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // text, numbers and times are always JSON
	}
	return raw
}
