package capability

import (
	"context"
	"encoding/json"
)

// Queuer is a Host that knows how often something may be called.
type Queuer interface {
	// Queue waits for the turn of a nested call, before it is made. It answers with an error when ctx ends, or when the turn
	// would come too late; the call must not be made then.
	Queue(ctx context.Context, id string, with json.RawMessage) error
}

// Queue waits for the turn of a nested call, if the host is a Queuer.
func (c Call) Queue(ctx context.Context, id string, with json.RawMessage) error {
	if q, ok := c.Host.(Queuer); ok {
		return q.Queue(ctx, id, with)
	}
	return nil
}
