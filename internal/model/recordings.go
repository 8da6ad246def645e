package model

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// Recordings are the exchanges of a home: the content among its artifacts, and in a folder which of them answers what. A
// file REQUEST/EFFECT holds the hash of an Entry; it appears whole or not at all. A nil Recordings has none and keeps none.
type Recordings struct {
	Dir       string
	Artifacts artifact.Store
}

// under finds what was answered to a request under an effect key.
func (r *Recordings) under(ctx context.Context, request, effect digest.ID) (Entry, bool, error) {
	if r == nil || effect.IsZero() {
		return Entry{}, false, nil
	}
	return r.read(ctx, filepath.Join(r.Dir, request.String(), effect.String()))
}

// read follows one file to its exchange. One that leads nowhere, because its content was dropped, is as good as none.
func (r *Recordings) read(ctx context.Context, file string) (e Entry, ok bool, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return e, false, nil
	}
	if err != nil {
		return e, false, fault.Wrap(fault.Invalid, err, "read a recorded answer").Remedy("make %s readable by you", r.Dir)
	}
	id, bad := digest.Parse(string(text))
	if bad != nil {
		return e, false, nil //nolint:nilerr // a file that was never finished is none
	}
	body, err := artifact.ReadAll(ctx, r.Artifacts, id, 4*maxBody)
	if fault.Is(err, fault.NotFound) {
		return e, false, nil
	}
	if err != nil {
		return e, false, err
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return e, false, fault.Wrap(fault.Tampered, err, "the recorded answer %s cannot be read", id.Short())
	}
	return e, true, nil
}

// put keeps an exchange. Content is stored before the file that names it.
func (r *Recordings) put(ctx context.Context, request, effect digest.ID, e Entry, clean func(string) string) error {
	if r == nil {
		return nil
	}
	body, err := json.Marshal(e)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "record an answer")
	}
	if clean != nil {
		body = []byte(clean(string(body)))
	}
	blob, err := artifact.PutBytes(ctx, r.Artifacts, body)
	if err != nil {
		return err
	}
	dir := filepath.Join(r.Dir, request.String())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fault.Wrap(fault.Invalid, err, "record an answer").Remedy("make %s a folder that you can write", r.Dir)
	}
	return whole(filepath.Join(dir, effect.String()), []byte(blob.ID.String()))
}

// drop forgets what was answered under an effect key. The content stays among the artifacts.
func (r *Recordings) drop(effect digest.ID, requests []digest.ID) {
	if r == nil {
		return
	}
	for _, id := range requests {
		_ = os.Remove(filepath.Join(r.Dir, id.String(), effect.String())) // one that stays is only used again
	}
}

// whole writes a file that is there entirely or not at all, whatever dies meanwhile.
func whole(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "record an answer")
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is in nobody's way
		return fault.Wrap(fault.Invalid, err, "record an answer")
	}
	return nil
}

// files lists the recordings of a request, sorted: the same one answers every time.
func (r *Recordings) files(request string) (all []string, err error) {
	entries, err := os.ReadDir(filepath.Join(r.Dir, request))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Wrap(fault.Invalid, err, "list recorded answers").Remedy("make %s readable by you", r.Dir)
	}
	for _, e := range entries {
		if _, err := digest.Parse(e.Name()); err == nil { // the rest was never finished
			all = append(all, filepath.Join(r.Dir, request, e.Name()))
		}
	}
	return all, nil
}

// requests lists what was asked.
func (r *Recordings) requests() (ids []string, err error) {
	folders, err := r.files("")
	for _, f := range folders {
		ids = append(ids, filepath.Base(f))
	}
	return ids, err
}
