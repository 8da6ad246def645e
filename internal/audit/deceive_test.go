package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// Whoever has the key can sign anything; what does not follow from the records is found all the same.
func TestSignedLiesAreFound(t *testing.T) {
	d := released(t)
	file := string(d.receipt("release"))
	text := file[:strings.LastIndex(file, "\n\n— ")+1]
	key, err := audit.LoadKey(audit.KeyPath(d.dir))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ old, new, says string }{
		"state":    {`"state": "completed"`, `"state": "abandoned"`, "the summary is not what follows from the records"},
		"approver": {`"by": "person:bob"`, `"by": "person:eve"`, "the summary is not what follows from the records"},
		"plan":     {`"run":"make ship"`, `"run":"make shop"`, "the text of the plan with hash"},
		"no plan":  {"== plans 1\n", "== plans 2\n{}\n", "the summary is not what follows from the records"},
	} {
		lie := strings.Replace(text, tc.old, tc.new, 1)
		if lie == text {
			t.Fatalf("%s: there is no %q in\n%s", name, tc.old, text)
		}
		signed, err := key.SignText(lie)
		if err != nil {
			t.Fatal(err)
		}
		wantFinding(t, signed, trusting(t, key.String()), tc.says)
	}
}

// A journal that was made up, signed and sealed by the rules, but not by the law, has no receipt.
func TestRecordsThatDoNotFollowAreFound(t *testing.T) {
	for name, tc := range map[string]struct {
		record journal.Record
		says   string
	}{
		"no beginning":  {journal.Record{Plan: "fake", Rev: 1, Kind: lifecycle.PlanPaused, Actor: "person:eve"}, "cannot stand where it does"},
		"not canonical": {journal.Record{Plan: "fake", Rev: 1, Kind: "plan.submitted", Actor: "person:eve", Body: []byte(`{"spec":7}`)}, "has a body that plan.submitted does not"},
		"newer law": {journal.Record{Plan: "fake", Rev: 1, Kind: "plan.submitted", Actor: "person:eve", Body: []byte(`{"law":99}`)},
			"edition 99 of the law"},
		"no kind": {journal.Record{Plan: "fake", Rev: 1, Kind: "plan.imagined", Actor: "person:eve"}, "which is no fact"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			tc.record.Time = d.now
			if err := d.store.Append(t.Context(), []journal.Entry{journal.Seal(tc.record, journal.Head{})}); err != nil {
				t.Fatal(err)
			}
			d.seal()
			if _, err := audit.Receipt(t.Context(), d.home(), "fake"); err == nil {
				t.Error("there is a receipt of it")
			}
			// The proof that the record is there is sound: it says no more than that.
			proof := string(d.prove("fake", ""))
			wantSound(t, []byte(proof), nil)
			_, rest, _ := strings.Cut(proof, "== records")
			key, err := audit.LoadKey(audit.KeyPath(d.dir))
			if err != nil {
				t.Fatal(err)
			}
			forged, err := key.SignText(fmt.Sprintf("cairn receipt v1\n\n== how 0\n\n== summary 0\n\n== plans 0\n\n== records%s", rest))
			if err != nil {
				t.Fatal(err)
			}
			wantFinding(t, forged, nil, tc.says)
		})
	}
}
