package cli

import (
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/journal"
)

// noted keeps what a follower is told beside the journal.
type noted struct {
	taken   int
	notices []string
}

func (n *noted) take(es []journal.Entry) { n.taken += len(es) }
func (n *noted) notice(text string)      { n.notices = append(n.notices, text) }
func (*noted) close()                    {}

func TestWhatIsLackingIsToldOnce(t *testing.T) {
	entry := func(sandbox string) journal.Entry {
		return journal.Entry{Bytes: []byte(`{"body":{"versions":{"sandbox":"` + sandbox + `"}},"kind":"task.ended"}`)}
	}
	n := &noted{}
	w := &watchful{follower: n}
	w.take([]journal.Entry{entry("off, by policy"), {Bytes: []byte(`{"body":{}}`)}, {Bytes: []byte(`"sandbox":"lacking: torn`)}})
	if len(n.notices) != 0 {
		t.Errorf("%q", n.notices)
	}
	w.take([]journal.Entry{entry("lacking: there are no namespaces"), entry("lacking: again")})
	w.take([]journal.Entry{entry("lacking: and again")})
	if n.taken != 6 || len(n.notices) != 1 || !strings.Contains(n.notices[0], "there are no namespaces; see: cairn doctor") {
		t.Errorf("%d, %q", n.taken, n.notices)
	}
}
