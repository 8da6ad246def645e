package lifecycle

import (
	"slices"

	"github.com/cairn-plan/cairn/internal/digest"
)

// Hash names what the run has come to: for every task its status and the hash of its outputs, and the plan's own
// state. Times, attempts, sequence numbers and epochs are left out, so that a run that was disturbed and one
// that was not end in the same hash. It is the SHA-256 of the RFC 8785 form of
// {"plan":STATE,"tasks":{ID:{"outputs":HASH,"status":STATUS}}}, outputs only where there are any.
func (s *State) Hash() digest.ID {
	ids := make([]string, 0, len(s.ids))
	ascii := true
	for id := range s.ids {
		ids = append(ids, id)
		for k := 0; k < len(id); k++ {
			ascii = ascii && id[k] < 0x80
		}
	}
	if ascii {
		slices.Sort(ids)
	} else {
		slices.SortFunc(ids, digest.CompareUTF16)
	}
	h := digest.New()
	b := digest.AppendString(append(make([]byte, 0, 4096), `{"plan":`...), string(s.Phase))
	b = append(b, `,"tasks":{`...)
	for k, id := range ids {
		if k > 0 {
			b = append(b, ',')
		}
		n := &s.nodes[s.ids[id]]
		b = append(digest.AppendString(b, id), `:{`...)
		if n.result != nil && !n.result.Hash.IsZero() {
			b = append(n.result.Hash.AppendHex(append(b, `"outputs":"`...)), `",`...)
		}
		b = append(digest.AppendString(append(b, `"status":`...), string(n.status)), '}')
		if len(b) > 3072 {
			h.Write(b)
			b = b[:0]
		}
	}
	h.Write(append(b, "}}"...))
	return digest.From(h)
}
