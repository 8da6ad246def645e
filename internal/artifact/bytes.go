package artifact

import (
	"bytes"
	"context"
	"io"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// PutBytes stores what is in memory already.
func PutBytes(ctx context.Context, s Store, b []byte) (Blob, error) {
	return s.Put(ctx, bytes.NewReader(b))
}

// ReadAll reads a blob into memory, refusing one that is larger than most.
func ReadAll(ctx context.Context, s Store, id digest.ID, most int64) ([]byte, error) {
	b, err := s.Stat(ctx, id)
	if err != nil {
		return nil, err
	}
	if b.Size > most {
		return nil, fault.New(fault.Invalid, "artifact %s has %d bytes, more than the %d that can be taken into memory here", id.Short(), b.Size, most).
			Remedy("read it as a file: cairn artifact get %s", id.Short())
	}
	r, err := s.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	buf := bytes.NewBuffer(make([]byte, 0, b.Size+bytes.MinRead))
	_, err = io.Copy(buf, r)
	return buf.Bytes(), err
}
