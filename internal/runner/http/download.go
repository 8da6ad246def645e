package http

import (
	"context"
	"encoding/json"
	nethttp "net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

// DownloadID is the id of the capability that fetches files.
const DownloadID = "http.download"

// DownloadContract is what http.download promises.
func DownloadContract() capability.Contract {
	return capability.Contract{
		ID: DownloadID, Version: "1.0.0", Summary: "Fetch a file; what was fetched before a connection broke, or the machine stopped, is not fetched again",
		Inputs: json.RawMessage(`{
  "type": "object",
  "properties": {
    "url": {"type": "string", "pattern": "^https?://", "description": "http or https"},
    "path": {"type": "string", "minLength": 1, "description": "Where the file goes, from the task's directory; it is whole when it is there"},
    "headers": {"type": "object", "additionalProperties": {"type": "string"}},
    "sha256": {"type": "string", "pattern": "^[0-9a-fA-F]{64}$", "description": "What the file must be; one that is there already is not fetched again"},
    "timeout": {"type": "string", "description": "For all of it, such as 10m; 30m when absent"},
    "max_bytes": {"type": "integer", "minimum": 0, "description": "A longer file is a failure; 4 GiB when absent"},
    "redirects": {"type": "integer", "minimum": 0, "maximum": 20, "description": "How many are followed; 10 when absent"},
    "retries": {"type": "integer", "minimum": 0, "maximum": 20, "description": "How often it goes on after a break; 5 when absent"}
  },
  "required": ["url", "path"],
  "additionalProperties": false
}`),
		Outputs: json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string"}, "size": {"type": "integer"}, "sha256": {"type": "string"},
    "url": {"type": "string", "description": "Where it came from, after redirects; absent when it was there"},
    "resumed": {"type": "integer", "description": "Bytes that were there from an earlier try"}
  },
  "required": ["path", "size", "sha256", "resumed"]
}`),
		Positional: []string{"url", "path"},
		To:         []string{"url"},
		Needs:      capability.Needs{Network: true, Write: true},
		Repeat:     capability.Repeatable, Criticality: "moderate", CostTier: 1, Provider: "builtin",
		Examples: []capability.Example{{Says: "Fetch an archive", With: json.RawMessage(`{"url": "http://localhost/", "path": "downloads/archive.tar.gz"}`)}},
	}
}

// Download performs http.download. The file grows beside its place, with a note of which version of it the server was
// giving; it takes its place whole.
type Download struct{ r *Runner }

var (
	_ capability.Runner    = Download{}
	_ capability.Previewer = Download{}
)

const (
	downloadTimeout = 30 * time.Minute
	downloadRetries = 5
	maxDownload     = 4 << 30
)

// fetch is a download under way.
type fetch struct {
	in   input
	name string // in the system's spelling
	sum  string
	root *os.Root
	host capability.Host

	had     int64  // bytes from an earlier call
	limit   int64  // of the whole
	final   string // address, after redirects
	refused error  // what the last answer was, when it was no file
}

func (d Download) begin(call capability.Call) (*fetch, error) {
	var own struct {
		Path    string `json:"path"`
		Sum     string `json:"sha256"`
		Retries *int   `json:"retries"`
		Max     *int64 `json:"max_bytes"`
	}
	in, err := parse(call, DownloadID)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(call.With, &own); err != nil {
		return nil, wrong(DownloadID, err)
	}
	if in.Timeout == "" {
		in.wait = downloadTimeout
	}
	if own.Retries == nil {
		in.Retries = ptr(downloadRetries)
	}
	if own.Max == nil {
		in.MaxBytes = ptr(int64(maxDownload))
	}
	name := filepath.Clean(filepath.FromSlash(own.Path))
	if own.Path == "" || name == "." || !filepath.IsLocal(name) || strings.ContainsRune(name, 0) {
		return nil, fault.New(fault.Invalid, "%q is no path inside the task's directory", own.Path).Remedy("give a path from there, without a leading / and without ..")
	}
	if err := sandbox.MayWrite(call.Limits, filepath.Join(call.Dir, name)); err != nil {
		return nil, err
	}
	return &fetch{in: in, name: name, sum: strings.ToLower(own.Sum), host: call.Host, limit: *in.MaxBytes}, nil
}

// Run implements capability.Runner.
func (d Download) Run(ctx context.Context, call capability.Call) (capability.Result, error) {
	f, err := d.begin(call)
	if err != nil {
		return capability.Result{}, err
	}
	if f.root, err = os.OpenRoot(call.Dir); err != nil {
		return capability.Result{}, fault.Wrap(fault.NotFound, err, "the working directory %s cannot be opened", call.Dir).Remedy("create it first, or name another in dir")
	}
	defer func() { _ = f.root.Close() }() // what was written is synced
	if f.sum != "" {
		if size, sum, err := f.measure(f.name); err == nil && sum == f.sum {
			return f.result(size, sum), nil
		}
	}
	if dir := filepath.Dir(f.name); dir != "." {
		if err := f.root.MkdirAll(dir, 0o755); err != nil {
			return capability.Result{}, f.explain(err)
		}
	}
	f.had = f.size()
	ctx, cancel := context.WithTimeoutCause(ctx, f.in.wait, errTimeout)
	defer cancel()
	if err := d.r.persist(ctx, f.in, func() (nethttp.Header, int, error) { return f.try(ctx, d.r) }); err != nil {
		return capability.Result{}, err
	}
	if f.refused != nil {
		return capability.Result{}, f.refused
	}
	return f.finish()
}

// Preview implements capability.Previewer.
func (d Download) Preview(_ context.Context, call capability.Call) (capability.Preview, error) {
	f, err := d.begin(call)
	if err != nil {
		return capability.Preview{}, err
	}
	return capability.Preview{Commands: append([]string{f.in.shown() + " > " + filepath.ToSlash(f.name)}, f.in.lines()...), Unforeseen: []string{"what the file holds, and how long it is"}}, nil
}
