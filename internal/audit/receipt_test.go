package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

func TestReceiptTellsWhatBecameOfAPlan(t *testing.T) {
	d := released(t)
	file := d.receipt("release")
	key := d.home().Verifier.String()
	c := wantSound(t, file, trusting(t, key))
	s := c.Summary
	if c.Of != audit.OfReceipt || !c.Trusted || c.Key != key || s.Plan != "release" || s.State != lifecycle.PlanCompleted || s.Submitted.By != "person:ann" {
		t.Errorf("%+v", c)
	}
	if string(s.Goal) != `{"objective":"ship it, étape 1"}` || s.Title != "Release <1.0> & more" {
		t.Errorf("goal %s, title %s", s.Goal, s.Title)
	}
	if len(s.Decisions) != 1 || s.Decisions[0].By != "person:bob" || string(s.Decisions[0].Says) != `{"approved":true,"why":"the diff is <small>"}` {
		t.Errorf("decisions %+v", s.Decisions)
	}
	if len(s.Tasks) != 3 || s.Tasks[0].Outputs.IsZero() || !s.Tasks[1].Outputs.IsZero() || s.Tasks[1].Kind != "gate" {
		t.Errorf("tasks %+v", s.Tasks)
	}
	if len(c.Records) != int(s.Records.Last) || s.Records.Facts != 5 {
		t.Errorf("%d records, %+v", len(c.Records), s.Records)
	}
	// The one who reads it without a key is told so.
	if c := wantSound(t, file, nil); c.Trusted {
		t.Error("a key that nobody named is trusted")
	}
	for _, says := range []string{"cairn audit verify FILE --key KEY", key, "docs/proofs.md"} {
		if !strings.Contains(string(file), says) {
			t.Errorf("the receipt does not say %q", says)
		}
	}
}

// What is under way has a receipt too, of what is recorded so far; what came after its head is not in it.
func TestReceiptOfARunUnderWay(t *testing.T) {
	d := newDesk(t)
	r := d.submit(release)
	r.end("build", "built")
	before := d.receipt("release")
	r.take("person:bob", lifecycle.GateDecided, "agree", &lifecycle.Decided{Why: "too early"})
	after := d.receipt("release")
	if c := wantSound(t, before, nil); c.Summary.State != lifecycle.PlanRunning || len(c.Summary.Decisions) != 0 {
		t.Errorf("%+v", c.Summary)
	}
	if c := wantSound(t, after, nil); !c.Summary.State.Over() || len(c.Summary.Decisions) != 1 {
		t.Errorf("%+v", c.Summary)
	}
}

// Nothing in a receipt can be changed, and it cannot be cut, without a finding.
func TestEveryByteOfAReceiptCounts(t *testing.T) {
	d := released(t)
	d.rotate("for the test")
	r := d.submit("plan: after\ntasks: [{id: a, uses: shell, run: 'true'}]\n")
	r.end("a", "")
	file := d.receipt("after")
	c := wantSound(t, file, nil)
	wantTampered := func(what string, bad []byte) {
		t.Helper()
		c, err := audit.Check(bad, nil)
		if err == nil && c.Sound() {
			t.Fatalf("%s, and nothing was found", what)
		}
		if err != nil && (!fault.Is(err, fault.Invalid) || fault.HintOf(err) == "") {
			t.Fatalf("%s: %v", what, err)
		}
	}
	for i := 0; i < len(file); i += stride {
		bad := slices.Clone(file)
		bad[i] ^= 1 << (i % 8)
		wantTampered(fmt.Sprintf("byte %d (%q) was changed", i, file[i]), bad)
		wantTampered(fmt.Sprintf("it was cut at byte %d", i), file[:i])
	}
	wantTampered("something was added", append(slices.Clone(file), '\n'))
	wantTampered("its signature stands twice", append(slices.Clone(file), file[strings.LastIndex(string(file), "—"):]...))
	if len(c.Handed) != 1 {
		t.Errorf("%d handovers", len(c.Handed))
	}
}

// A finding says what was altered, not only that something was.
func TestFindingsSayWhere(t *testing.T) {
	d := released(t)
	file := string(d.receipt("release"))
	for name, tc := range map[string]struct{ old, new, says string }{
		"record":    {`"approved":true`, `"approved":tru`, "do not lead to the root"},
		"section":   {"== plans 1", "== plant 1", "section plant stands where section plans has to be"},
		"count":     {"== plans 1", "== plans 0", "where a section has to begin"},
		"far count": {"== head 6", "== head 7", "cut short: it ends in section head"},
		"summary":   {`"state": "completed"`, `"state": "abandoned"`, "the signature of cairn-journal+"},
		"why":       {"the diff is <small>\"\n", "the diff is <large>\"\n", "the signature of cairn-journal+"},
		"position":  {"== positions 3\n1", "== positions 3\n2", "do not lead to the root"},
		"root":      {"cairn journal v1\n", "cairn journal v2\n", "no signed head"},
		"another":   {"== head 6\n", "== tail 0\n\n== head 6\n", "section tail stands"},
		"superfluous": {"\n\n— cairn-journal " + file[strings.LastIndex(file, "journal ")+8:], "\n\n== tail 0\n\n— cairn-journal " +
			file[strings.LastIndex(file, "journal ")+8:], "section tail does not belong here"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(file, tc.old) {
				t.Fatalf("there is no %q in\n%s", tc.old, file)
			}
			wantFinding(t, []byte(strings.Replace(file, tc.old, tc.new, 1)), nil, tc.says)
		})
	}
}

func TestWhatIsNoReceipt(t *testing.T) {
	d := released(t)
	head, err := os.ReadFile(audit.HeadPath(d.dir))
	if err != nil {
		t.Fatal(err)
	}
	for text, says := range map[string]string{
		"":                       "empty",
		"hello":                  "neither a receipt nor a proof",
		"cairn receipt v2\n":     "of version \"v2\"",
		"cairn proof v1beta\nxx": "of version",
		string(head):             "is a signed head",
	} {
		_, err := audit.Check([]byte(text), nil)
		wantFault(t, err, fault.Invalid, says)
	}
}

func TestReceiptIsOfItsKey(t *testing.T) {
	d, stranger := released(t), released(t)
	file := d.receipt("release")
	wantFinding(t, file, trusting(t, stranger.home().Verifier.String()), "not the one that you named")
	for _, text := range []string{"", "cairn-journal+00000000+AAAA", "other" + strings.TrimPrefix(d.home().Verifier.String(), "cairn-journal"), "cairn key v1\n"} {
		_, err := audit.ParseTrust(text)
		wantFault(t, err, fault.Invalid, "no public key")
	}
}

// Old receipts stay good when the key is replaced, and whoever knows an old key is led to the new one.
func TestReceiptsOutliveTheirKey(t *testing.T) {
	d := released(t)
	old := d.home().Verifier.String()
	before := d.receipt("release")
	first := d.rotate("ann has left")
	second := d.rotate("and once more")
	r := d.submit("plan: after\ntasks: [{id: a, uses: shell, run: 'true'}]\n")
	r.end("a", "")
	after := d.receipt("release")
	chain, err := os.ReadFile(audit.KeyPath(d.dir) + ".chain")
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]string{"old": old, "second": second.Old, "new": second.New, "chain": string(chain)} {
		if c := wantSound(t, after, trusting(t, key)); !c.Trusted || c.Key != second.New || len(c.Handed) != 2 || c.Handed[0].Why != "ann has left" {
			t.Errorf("%s: %+v", name, c)
		}
	}
	wantSound(t, before, trusting(t, old))
	wantSound(t, before, trusting(t, string(chain)))
	wantFinding(t, before, trusting(t, second.New), "not the one that you named")
	if first.Old != old || first.New != second.Old || first.Size != second.Size {
		t.Errorf("%+v %+v", first, second)
	}
	rep, err := audit.Verify(context.Background(), d.home())
	if err != nil || !rep.Sound() {
		t.Errorf("%v %+v", err, rep)
	}
}

// A plan of many records is packed, and all the same by every measure.
func TestLongReceiptIsPacked(t *testing.T) {
	d := newDesk(t)
	r := d.submit(wide(300))
	r.together(func() {
		for i := range 300 {
			r.end(fmt.Sprintf("t%d", i), strings.Repeat("x", i))
		}
	})
	file := d.receipt("wide")
	if !strings.Contains(string(file), "\n== records.gz ") {
		t.Error("it is not packed")
	}
	c := wantSound(t, file, nil)
	if len(c.Summary.Tasks) != 300 || c.Summary.Hash != r.state.Hash() {
		t.Errorf("%d tasks", len(c.Summary.Tasks))
	}
	at := bytes.Index(file, []byte("\n== records.gz ")) + 40
	for _, i := range []int{at, at + 1000} {
		bad := slices.Clone(file)
		if bad[i] = 'A'; file[i] == 'A' {
			bad[i] = 'B'
		}
		wantFinding(t, bad, nil, "records cannot be unpacked")
	}
}

func wide(n int) string {
	var b strings.Builder
	b.WriteString("plan: wide\npolicy: {workers: 1000}\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {id: t%d, uses: shell, run: make}\n", i)
	}
	return b.String()
}

func TestReceiptOfNothing(t *testing.T) {
	d := newDesk(t)
	_, err := audit.Receipt(t.Context(), d.home(), "release")
	wantFault(t, err, fault.NotFound, "nothing was signed yet")
	d.submit(release)
	_, err = audit.Receipt(t.Context(), d.home(), "relaese")
	wantFault(t, err, fault.NotFound, "no plan relaese")
	home := d.home()
	home.Sealer = func() (*audit.Sealer, error) { return nil, fault.New(fault.NotFound, "no key").Remedy("look for it") }
	_, err = audit.Receipt(t.Context(), home, "release")
	wantFault(t, err, fault.NotFound, "no key")
}

// A receipt of a journal that was altered is not made.
func TestNoReceiptOfAnAlteredJournal(t *testing.T) {
	d := released(t)
	home := d.home()
	home.Artifacts = nothing{}
	_, err := audit.Receipt(t.Context(), home, "release")
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("the plan's text is gone: %v", err)
	}
	home = d.home()
	home.Journal = altered{d.store}
	_, err = audit.Receipt(t.Context(), home, "release")
	wantFault(t, err, fault.Tampered, "damaged")
	_, err = audit.ProveRecords(t.Context(), home, "release", "")
	wantFault(t, err, fault.Tampered, "do not lead to the root")
}

// The state can be computed from what the summary says, by the rule of docs/journal-format.md.
func TestSummaryGivesTheStateHash(t *testing.T) {
	c := wantSound(t, released(t).receipt("release"), nil)
	var tasks []string
	for _, task := range c.Summary.Tasks {
		out := ""
		if !task.Outputs.IsZero() {
			out = fmt.Sprintf(`"outputs":"%s",`, task.Outputs)
		}
		tasks = append(tasks, fmt.Sprintf(`"%s":{%s"status":"%s"}`, task.ID, out, task.Status))
	}
	slices.Sort(tasks)
	if got := digest.Sum(fmt.Appendf(nil, `{"plan":"%s","tasks":{%s}}`, c.Summary.State, strings.Join(tasks, ","))); got != c.Summary.Hash {
		t.Errorf("%s, not %s", got, c.Summary.Hash)
	}
}

func BenchmarkReceipt(b *testing.B) {
	d := newDesk(b)
	r := d.submit(wide(1000))
	r.together(func() {
		for i := range 1000 {
			r.end(fmt.Sprintf("t%d", i), "done")
		}
	})
	var file []byte
	b.Run("make", func(b *testing.B) {
		for b.Loop() {
			file = d.receipt("wide")
		}
	})
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			wantSound(b, file, nil)
		}
	})
}
