package http

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	nethttp "net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// version is the note beside a part: from which version of what it is. The address is told by its hash, for it may
// hold a secret.
type version struct {
	From     digest.ID `json:"from"`
	ETag     string    `json:"etag,omitempty"`
	Modified string    `json:"modified,omitempty"`
}

// validator is what If-Range takes; a weak tag does not promise the same bytes.
func (v version) validator() string {
	if v.ETag != "" && !strings.HasPrefix(v.ETag, "W/") {
		return v.ETag
	}
	return v.Modified
}

func (f *fetch) part() string { return f.name + ".part" }
func (f *fetch) note() string { return f.name + ".part.json" }

func (f *fetch) size() int64 {
	st, err := f.root.Stat(f.part())
	if err != nil || f.known().validator() == "" {
		return 0
	}
	return st.Size()
}

// known is the version that the part is of; none when it is of something else.
func (f *fetch) known() (v version) {
	raw, err := f.root.ReadFile(f.note())
	if err != nil || json.Unmarshal(raw, &v) != nil || v.From != digest.Sum([]byte(f.in.to.String())) {
		return version{}
	}
	return v
}

// try fetches what is still missing, or all of it when the server has another version by now.
func (f *fetch) try(ctx context.Context, r *Runner) (nethttp.Header, int, error) {
	req, err := f.in.request(ctx)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Accept-Encoding", "identity") // ranges are of these bytes
	from := f.size()
	if from > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(from, 10)+"-")
		req.Header.Set("If-Range", f.known().validator())
	}
	client := nethttp.Client{Transport: r.transport, CheckRedirect: f.in.follow}
	res, err := client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = res.Body.Close() }() // what was not read is not wanted
	f.final = res.Request.URL.Redacted()
	switch res.StatusCode {
	case nethttp.StatusOK:
		from, f.had = 0, 0
	case nethttp.StatusPartialContent:
		if begins(res.Header) != from {
			return f.anew(ctx, r)
		}
	case nethttp.StatusRequestedRangeNotSatisfiable:
		if total(res.Header) == from && from > 0 {
			return res.Header, nethttp.StatusOK, nil // it was all there
		}
		return f.anew(ctx, r)
	default:
		b, _ := io.ReadAll(io.LimitReader(res.Body, longest)) // a reason, if there is one
		f.refused = unexpected(f.in, res.StatusCode, b)
		return res.Header, res.StatusCode, nil
	}
	f.refused = nil
	return res.Header, nethttp.StatusOK, f.write(res, from)
}

// anew drops a part that the server does not go on with, and fetches all.
func (f *fetch) anew(ctx context.Context, r *Runner) (nethttp.Header, int, error) {
	f.drop()
	f.had = 0
	return f.try(ctx, r)
}

func (f *fetch) drop() {
	_ = f.root.Remove(f.part()) // they may not be there
	_ = f.root.Remove(f.note())
}

var rangeForm = regexp.MustCompile(`^bytes (\d+)-\d+/`)

func begins(h nethttp.Header) int64 {
	m := rangeForm.FindStringSubmatch(h.Get("Content-Range"))
	if m == nil {
		return -1
	}
	n, _ := strconv.ParseInt(m[1], 10, 64) // digits
	return n
}

func total(h nethttp.Header) int64 {
	n, err := strconv.ParseInt(strings.TrimPrefix(h.Get("Content-Range"), "bytes */"), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// write appends what comes, after noting of which version it is.
func (f *fetch) write(res *nethttp.Response, from int64) error {
	if res.ContentLength >= 0 && from+res.ContentLength > f.limit {
		return f.tooLong()
	}
	v := version{From: digest.Sum([]byte(f.in.to.String())), ETag: res.Header.Get("ETag"), Modified: res.Header.Get("Last-Modified")}
	if from == 0 {
		if err := f.root.WriteFile(f.note(), asJSON(v), 0o600); err != nil {
			return f.explain(err)
		}
	}
	w, err := f.root.OpenFile(f.part(), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return f.explain(err)
	}
	_, err = w.Seek(from, io.SeekStart)
	if err = errors.Join(err, w.Truncate(from)); err != nil {
		_ = w.Close()
		return f.explain(err)
	}
	n, err := io.Copy(sink{w}, io.LimitReader(&alive{res.Body, f.host}, f.limit-from+1))
	if done := errors.Join(w.Sync(), w.Close()); done != nil {
		return f.explain(done)
	}
	var full *diskError
	switch {
	case errors.As(err, &full):
		return f.explain(full.error)
	case err == nil && from+n > f.limit:
		f.drop()
		return f.tooLong()
	}
	return err
}

// sink tells a failing disk from a failing network.
type sink struct{ w io.Writer }

type diskError struct{ error }

func (s sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		err = &diskError{err}
	}
	return n, err
}

func (f *fetch) tooLong() error {
	return fault.New(fault.Failed, "%s has more than %d bytes", f.in.place(), f.limit).Remedy("raise max_bytes")
}

func (f *fetch) explain(err error) error {
	name := filepath.ToSlash(f.name)
	switch {
	case errors.Is(err, fs.ErrPermission), strings.Contains(err.Error(), "escapes from parent"):
		return fault.Wrap(fault.Denied, err, "%s may not be written", name).Remedy("change the permissions of its folder; links that lead out are not followed")
	case strings.Contains(err.Error(), "no space left"):
		return fault.Wrap(fault.Failed, err, "the disk is full").Remedy("make room and resume: what was fetched is kept in %s.part", name)
	}
	return fault.Wrap(fault.Failed, err, "%s cannot be written", name)
}

func (f *fetch) measure(name string) (int64, string, error) {
	r, err := f.root.Open(name)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = r.Close() }() // it was only read
	h := digest.New()
	n, err := io.Copy(h, &alive{r, f.host})
	return n, digest.From(h).String(), err
}

// finish checks the file and puts it in its place.
func (f *fetch) finish() (capability.Result, error) {
	size, sum, err := f.measure(f.part())
	if err != nil {
		return capability.Result{}, f.explain(err)
	}
	if f.sum != "" && sum != f.sum {
		f.drop() // going on with it would never help
		return capability.Result{}, fault.New(fault.Failed, "%s is not the file that is wanted: its SHA-256 is %s", f.in.place(), sum).Remedy("check the address and sha256; nothing was put at %s", filepath.ToSlash(f.name))
	}
	if err := f.root.Rename(f.part(), f.name); err != nil {
		return capability.Result{}, f.explain(err)
	}
	_ = f.root.Remove(f.note()) // without its part it means nothing
	return f.result(size, sum), nil
}

func (f *fetch) result(size int64, sum string) capability.Result {
	out := capability.Result{Dir: ".", Outputs: map[string]json.RawMessage{"path": asJSON(filepath.ToSlash(f.name)), "size": asJSON(size), "sha256": asJSON(sum), "resumed": asJSON(f.had)}}
	if f.final != "" {
		out.Outputs["url"] = asJSON(f.final)
	}
	return out
}
