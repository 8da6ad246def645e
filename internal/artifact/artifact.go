// Package artifact keeps content under its own hash: immutable, deduplicated, streamed. It knows
// nothing of plans; who made what is told by journal records that name a hash.
//
// A blob is on disk, whole, before Put returns. Reading checks the content against its name, so
// that an altered blob is an error at the latest on its last byte, never silent.
package artifact

import (
	"context"
	"io"
	"iter"

	"github.com/cairn-plan/cairn/internal/digest"
)

// Blob is stored content.
type Blob struct {
	ID   digest.ID
	Size int64
}

// Store keeps blobs. An implementation passes artifacttest.Run.
type Store interface {
	// Put reads r to its end and stores it durably. Equal content is stored once.
	Put(ctx context.Context, r io.Reader) (Blob, error)
	// Open reads a blob; fault.NotFound when it is not there. The reader's last Read answers
	// fault.Tampered when the content does not fit the name.
	Open(ctx context.Context, id digest.ID) (io.ReadCloser, error)
	// Stat tells a blob's size; fault.NotFound when it is not there.
	Stat(ctx context.Context, id digest.ID) (Blob, error)
	// Remove forgets a blob. Removing what is not there is no error.
	Remove(ctx context.Context, id digest.ID) error
	// List yields every blob, in no order.
	List(ctx context.Context) iter.Seq2[Blob, error]
}
