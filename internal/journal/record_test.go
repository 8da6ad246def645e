package journal

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

func sample() Record {
	return Record{
		Plan: "계획 \"x\"\n", Rev: 3, Kind: "task.ended", Time: time.Date(2026, 11, 15, 16, 49, 0, 120_000_000, time.UTC),
		Actor: "person:Ana\\é", Cause: 41, Task: "dig-1/sub", Attempt: 2, Body: []byte(`{"a":[1,{"b":"}]\""}],"n":null}`),
	}
}

// TestFormat fixes the bytes of a record: docs/journal-format.md promises them for ever.
func TestFormat(t *testing.T) {
	e := Seal(sample(), Head{Seq: 41, Hash: digest.Sum([]byte("before"))})
	want := `{"actor":"person:Ana\\é","attempt":2,"body":{"a":[1,{"b":"}]\""}],"n":null},"cause":41,"kind":"task.ended",` +
		`"plan":"계획 \"x\"\n","prev":"` + digest.Sum([]byte("before")).String() + `","rev":3,"seq":42,"task":"dig-1/sub","time":"2026-11-15T16:49:00.12Z"}`
	if string(e.Bytes) != want {
		t.Errorf("\n got %s\nwant %s", e.Bytes, want)
	}
	if e.Hash != digest.Sum(e.Bytes) || e.Seq != 42 || e.Head() != (Head{42, e.Hash}) {
		t.Errorf("entry %+v", e)
	}
	if canonical, err := digest.Canonicalize(e.Bytes); err != nil || string(canonical) != string(e.Bytes) {
		t.Errorf("not the canonical form, which is\n%s (%v)", canonical, err)
	}
	if empty := Seal(Record{}, Head{}); !json.Valid(empty.Bytes) || !strings.Contains(string(empty.Bytes), `"body":{}`) {
		t.Errorf("an empty record is %s", empty.Bytes)
	}
}

// records draws any record that a caller could make.
func records() *rapid.Generator[Record] {
	return rapid.Custom(func(t *rapid.T) Record {
		var body map[string]any
		text := rapid.MapOf(rapid.String(), rapid.OneOf(rapid.Map(rapid.String(), func(s string) any { return s }),
			rapid.Map(rapid.Int32(), func(n int32) any { return n }), rapid.Just[any](nil), rapid.Just[any]([]any{true, map[string]any{}})))
		body = text.Draw(t, "body")
		b, err := digest.Canonical(body)
		if err != nil {
			t.Fatal(err)
		}
		return Record{
			Plan: rapid.String().Draw(t, "plan"), Rev: rapid.IntRange(0, 1<<40).Draw(t, "rev"), Kind: Kind(rapid.String().Draw(t, "kind")),
			Time:  time.Unix(rapid.Int64Range(-1e9, 1e10).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC(),
			Actor: rapid.String().Draw(t, "actor"), Cause: Seq(rapid.Uint64Range(0, 1<<53).Draw(t, "cause")),
			Task: rapid.String().Draw(t, "task"), Attempt: rapid.IntRange(0, math.MaxInt32).Draw(t, "attempt"), Body: b,
		}
	})
}

func TestDecodeReadsWhatSealWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := records().Draw(t, "record")
		head := Head{Seq(rapid.Uint64Range(0, 1<<53-1).Draw(t, "seq")), digest.Parts(rapid.String().Draw(t, "prev"))}
		e := Seal(r, head)
		got, err := Decode(e)
		if err != nil {
			t.Fatalf("%v\n%s", err, e.Bytes)
		}
		if got.Seq != head.Seq+1 || got.Prev != head.Hash || !got.Time.Equal(r.Time) || got.Time.Location() != time.UTC {
			t.Fatalf("read %+v of %s", got, e.Bytes)
		}
		r.Seq, r.Prev, r.Time, got.Time = got.Seq, got.Prev, time.Time{}, time.Time{}
		if string(got.Body) != string(r.Body) {
			t.Fatalf("body %s became %s", r.Body, got.Body)
		}
		r.Body, got.Body = nil, nil
		if r.Plan != got.Plan || r.Actor != got.Actor || r.Task != got.Task || r.Kind != got.Kind ||
			r.Rev != got.Rev || r.Attempt != got.Attempt || r.Cause != got.Cause {
			t.Fatalf("%+v became %+v", r, got)
		}
	})
}

// exact fails if Decode accepts bytes that Append would not have written.
func exact(t interface {
	Helper()
	Errorf(string, ...any)
}, b []byte) {
	t.Helper()
	r, err := Decode(Entry{Bytes: b})
	if err != nil {
		if !fault.Is(err, fault.Tampered) {
			t.Errorf("a damaged record is no fault of the journal: %v", err)
		}
		return
	}
	if again := r.Append(nil); string(again) != string(b) {
		t.Errorf("accepted %q\nwhich is spelt %q", b, again)
	}
}

// TestEveryBit flips each bit of a record: its hash changes, and Decode either refuses it or reads
// another record, which the chain then refuses.
func TestEveryBit(t *testing.T) {
	e := Seal(sample(), Head{Seq: 6, Hash: digest.Sum(nil)})
	for i := range len(e.Bytes) * 8 {
		b := append([]byte(nil), e.Bytes...)
		b[i/8] ^= 1 << (i % 8)
		if digest.Sum(b) == e.Hash {
			t.Fatalf("bit %d does not show in the hash", i)
		}
		exact(t, b)
	}
	for n := range e.Bytes {
		if _, err := Decode(Entry{Bytes: e.Bytes[:n]}); err == nil {
			t.Errorf("cut at %d it still is a record", n)
		}
	}
}

// TestOtherSpellings lists JSON that says the same in another way.
func TestOtherSpellings(t *testing.T) {
	e := Seal(sample(), Head{Seq: 6, Hash: digest.Sum(nil)})
	for _, r := range [][2]string{
		{`Ana\\é`, `Ana\\\u00e9`}, {`Ana\\é`, `Ana\x5cé`}, {`Ana\\é`, `Ana\134é`}, {`\n`, `\u000a`}, {`\n`, "\n"}, {`dig-1/sub`, `dig-1\/sub`},
		{`"attempt":2`, `"attempt":02`}, {`"attempt":2`, `"attempt":2.0`}, {`"attempt":2`, `"attempt":+2`}, {`"attempt":2`, `"attempt": 2`},
		{`00.12Z`, `00.120Z`}, {`00.12Z`, `00.12+00:00`}, {`00.12Z`, `00,12Z`}, {`"prev":"e3b0`, `"prev":"E3B0`}, {`dig-1`, "dig\xff1"},
		{`{"actor"`, ` {"actor"`}, {`"seq":7`, `"seq":99999999999999999`}, {`"seq":7`, `"seq":`}, {`"body":{`, `"body":[`},
	} {
		b := strings.Replace(string(e.Bytes), r[0], r[1], 1)
		if b == string(e.Bytes) {
			t.Fatalf("%s is not in the sample", r[0])
		}
		if _, err := Decode(Entry{Bytes: []byte(b)}); err == nil {
			t.Errorf("accepted %s for %s", r[1], r[0])
		}
	}
	if _, err := Decode(Entry{Bytes: append(e.Bytes, '\n')}); err == nil {
		t.Error("accepted a record with a line end")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Seal(sample(), Head{}).Bytes)
	f.Add(Seal(Record{}, Head{Seq: 1 << 40}).Bytes)
	f.Add([]byte(`{"actor":"\`))
	f.Add([]byte(`{"actor":"","attempt":0,"body":{"`))
	f.Fuzz(func(t *testing.T, b []byte) { exact(t, b) })
}

func BenchmarkDecode(b *testing.B) {
	e := Seal(sample(), Head{Seq: 41})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(e); err != nil {
			b.Fatal(err)
		}
	}
}
