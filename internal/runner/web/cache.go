package web

import (
	"encoding/json"
	"errors"
	nethttp "net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// page is one version of a page, as the cache keeps it.
type page struct {
	URL      string    `json:"url"`
	Final    string    `json:"final_url"`
	Type     string    `json:"content_type"`
	ETag     string    `json:"etag,omitempty"`
	Modified string    `json:"modified,omitempty"`
	Fetched  time.Time `json:"fetched_at"`
	Checked  time.Time `json:"checked_at"`
	Hash     digest.ID `json:"sha256"`
	body     []byte
}

// page makes of an answer what is kept of it.
func (a answer) page(in input, now time.Time) page {
	now = now.UTC()
	kind := a.header.Get("Content-Type")
	if kind == "" {
		kind = nethttp.DetectContentType(a.body)
	}
	return page{URL: in.to.String(), Final: a.url, Type: strings.ToValidUTF8(kind, ""), ETag: a.header.Get("ETag"), Modified: a.header.Get("Last-Modified"),
		Fetched: now, Checked: now, Hash: digest.Sum(a.body), body: a.body}
}

// cache is a folder: for each address a note of its page, and for each content a file named by its hash.
type cache struct{ dir string }

func (c cache) note(address string) string {
	return filepath.Join(c.dir, digest.Sum([]byte(address)).String()+".json")
}

func (c cache) file(id digest.ID) string { return filepath.Join(c.dir, id.String()+".body") }

// get finds a page. One whose bytes are gone, or are not what its note says, is not there.
func (c cache) get(address string) (p page, ok bool) {
	raw, err := os.ReadFile(c.note(address))
	if err != nil || json.Unmarshal(raw, &p) != nil || p.URL != address {
		return page{}, false
	}
	if p.body, err = os.ReadFile(c.file(p.Hash)); err != nil || digest.Sum(p.body) != p.Hash {
		return page{}, false
	}
	return p, true
}

// put keeps a page: the bytes before the note that names them.
func (c cache) put(p page) error {
	err := os.MkdirAll(c.dir, 0o755)
	if _, missing := os.Stat(c.file(p.Hash)); err == nil && missing != nil {
		err = c.write(c.file(p.Hash), p.body)
	}
	if err == nil {
		err = c.write(c.note(p.URL), asJSON(p))
	}
	if err != nil {
		return fault.Wrap(fault.Failed, err, "the page cannot be kept in the cache %s", c.dir).Remedy("make room, or make the folder writable")
	}
	return nil
}

// write makes a file in one step.
func (c cache) write(name string, content []byte) error {
	f, err := os.CreateTemp(c.dir, ".new-")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it may be gone
	}
	return err
}
