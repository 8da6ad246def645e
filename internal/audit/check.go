package audit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// What a file may prove.
const (
	OfReceipt = "receipt" // what became of a plan
	OfRecords = "records" // that records stand under a head
	OfGrowth  = "growth"  // that a journal only grew
)

// Checked is what a receipt or a proof came to, by itself: no home, no network and no secret is needed.
type Checked struct {
	Of       string
	Plan     string
	Key      string // the verifier of the key that signed
	Trusted  bool   // the reader named that key, or one that leads to it
	Handed   []Handover
	Head     Checkpoint
	Older    Checkpoint // of a growth
	Records  []journal.Record
	Summary  Summary // of a receipt
	Findings []string
}

// Sound reports whether nothing is wrong.
func (c *Checked) Sound() bool { return len(c.Findings) == 0 }

func (c *Checked) find(err error) {
	if err != nil {
		c.Findings = append(c.Findings, err.Error())
	}
}

// Check verifies a receipt or a proof. It lists every finding; an error means that it is neither. Without trust the key
// that the file names is taken, and whether it is the right one is left to the reader.
func Check(text []byte, trust *Trust) (*Checked, error) {
	if err := readable(text); err != nil {
		return nil, err
	}
	c := &Checked{Of: OfReceipt}
	if strings.HasPrefix(string(text), proofTitle+"\n") {
		c.proof(string(text), trust)
	} else {
		c.receipt(text, trust)
	}
	return c, nil
}

// readable says why a text cannot be a receipt or a proof that this program knows.
func readable(text []byte) error {
	title, _, _ := strings.Cut(string(text), "\n")
	version, isReceipt := strings.CutPrefix(title, receiptWord)
	if !isReceipt {
		version = strings.TrimPrefix(title, proofWord)
	}
	switch {
	case len(text) == 0:
		return fault.New(fault.Invalid, "the file is empty").Remedy("make a receipt with: cairn audit receipt PLAN -o FILE")
	case title == Origin:
		return fault.New(fault.Invalid, "this is a signed head, which proves nothing by itself").
			Remedy("where the journal is, prove that it only grew since: cairn audit prove --from FILE")
	case !IsProof(text):
		return fault.New(fault.Invalid, "this is neither a receipt nor a proof: it does not begin with %q or %q", receiptWord, proofWord).
			Remedy("make a receipt with: cairn audit receipt PLAN -o FILE")
	case version != "v1":
		return fault.New(fault.Invalid, "this file is of version %q, and only v1 is known here", clip(version)).
			Remedy("check it with the version of cairn that made it, or a newer one")
	}
	return nil
}

const signatureMark = "\n\n— "

// receipt checks the signature over all, then everything under it, so that a finding tells where a file was altered.
func (c *Checked) receipt(text []byte, trust *Trust) {
	end := bytes.LastIndex(text, []byte(signatureMark))
	if end < 0 {
		c.find(cutShort("front of its signature"))
		return
	}
	paper, err := parseSheet(string(text[:end+1]))
	if err != nil {
		c.find(err)
		return
	}
	var shown, plans, records []string
	for _, part := range []struct {
		name string
		into *[]string
	}{{"how", new([]string)}, {"summary", &shown}, {"plans", &plans}, {"records", &records}} {
		if *part.into, err = paper.takePacked(part.name); err != nil {
			c.find(err)
			return
		}
	}
	v, ok := c.under(paper, records)
	if v == nil {
		return
	}
	n, err := note.Open(text, note.VerifierList(v.verifier))
	if err != nil || !oneSpelling(text, n) {
		c.find(fault.New(fault.Tampered, "the signature of %s does not fit: something above it was altered", v.text))
	}
	c.trust(v, trust)
	// A plan by somebody whom the reader does not know could be made to take for ever.
	if ok && c.Sound() {
		c.derive(plans, records, shown)
	}
}

// proof checks a proof, of whichever sort.
func (c *Checked) proof(text string, trust *Trust) {
	paper, err := parseSheet(text)
	if err != nil {
		c.find(err)
		return
	}
	if how, err := paper.take("how"); err != nil || !slices.Equal(how, []string{proofHow}) {
		c.find(fault.New(fault.Tampered, "section how was altered"))
		return
	}
	var v *Verifier
	if len(paper.sections) > 0 && paper.sections[0].name == "older" {
		c.Of = OfGrowth
		v = c.growth(paper)
	} else {
		c.Of = OfRecords
		v = c.inclusion(paper)
	}
	if v != nil {
		c.trust(v, trust)
	}
}

func (c *Checked) inclusion(paper *sheet) *Verifier {
	name, err := paper.take("plan")
	if err == nil && len(name) != 1 {
		err = fault.New(fault.Tampered, "section plan was altered")
	}
	if err != nil {
		c.find(err)
		return nil
	}
	c.Plan = name[0]
	records, err := paper.take("records")
	if err != nil {
		c.find(err)
		return nil
	}
	v, _ := c.under(paper, records)
	for i, l := range records {
		r, err := journal.Decode(journal.Entry{Plan: c.Plan, Seq: journal.Seq(i + 1), Bytes: []byte(l)})
		if err != nil || r.Plan != c.Plan {
			c.find(fault.New(fault.Tampered, "line %d of the records is no record of plan %s", i+1, clip(c.Plan)))
			continue
		}
		c.Records = append(c.Records, r)
	}
	return v
}

func (c *Checked) growth(paper *sheet) *Verifier {
	older, err := paper.take("older")
	if err != nil {
		c.find(err)
		return nil
	}
	hashes, err := paper.take("hashes")
	if err != nil {
		c.find(err)
		return nil
	}
	v := c.signed(paper)
	if v == nil {
		return nil
	}
	if c.Older, err = checkHead(v, older); err != nil {
		c.find(err)
		return v
	}
	proof, ok := parseHashes(hashes)
	if !ok || c.Older.Size > c.Head.Size || tlog.CheckTree(proof, int64(c.Head.Size), c.Head.Root, int64(c.Older.Size), c.Older.Root) != nil {
		c.find(fault.New(fault.Tampered, "the hashes do not show that the head of size %d begins with that of size %d", c.Head.Size, c.Older.Size))
	}
	return v
}

// under checks that records stand under the head that ends the sheet. It answers the verifier, and whether they do.
func (c *Checked) under(paper *sheet, records []string) (*Verifier, bool) {
	where, err1 := paper.take("positions")
	hashes, err2 := paper.take("hashes")
	if err1 != nil || err2 != nil {
		c.find(err1)
		c.find(err2)
		return nil, false
	}
	v := c.signed(paper)
	if v == nil {
		return nil, false
	}
	ids := make([]digest.ID, len(records))
	for i, l := range records {
		ids[i] = digest.Sum([]byte(l))
	}
	positions, ok1 := parseSpans(where, len(records))
	proof, ok2 := parseHashes(hashes)
	root, ok := provenRoot(c.Head.Size, positions, ids, proof)
	if !ok1 || !ok2 || !ok || root != c.Head.Root {
		c.find(fault.New(fault.Tampered, "the records do not lead to the root that was signed at size %d: one of them, a position or a hash was altered", c.Head.Size))
		return v, false
	}
	return v, true
}

// signed checks keys and head, the last sections of every sheet. Without them there is no verifier.
func (c *Checked) signed(paper *sheet) *Verifier {
	keys, err1 := paper.take("keys")
	signer, err2 := paper.take("signer")
	head, err3 := paper.take("head")
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			c.find(err)
			return nil
		}
	}
	if len(paper.sections) > 0 {
		c.find(fault.New(fault.Tampered, "section %s does not belong here", clip(paper.sections[0].name)))
		return nil
	}
	handed, ok := parseChain(keys)
	if !ok || len(signer) != 1 || len(handed) > 0 && handed.last() != signer[0] {
		c.find(fault.New(fault.Tampered, "the keys do not lead to the one that signed"))
		return nil
	}
	v, err := chained("", signer[0], handed)
	if err != nil {
		c.find(fault.New(fault.Tampered, "section signer holds no key"))
		return nil
	}
	c.Key, c.Handed = v.text, handed
	if c.Head, err = checkHead(v, head); err != nil {
		c.find(err)
		return nil
	}
	return v
}

func checkHead(v *Verifier, lines []string) (Checkpoint, error) {
	h, err := ParseHead([]byte(strings.Join(lines, "\n") + "\n"))
	if err != nil {
		return Checkpoint{}, err
	}
	return v.Check(h)
}

func (c *Checked) trust(v *Verifier, t *Trust) {
	if t == nil {
		return
	}
	err := t.judge(v, c.Head.Size)
	c.find(err)
	c.Trusted = err == nil
}

// derive carries the plan out again from its records and compares what that comes to with what the receipt says.
func (c *Checked) derive(plans, records, shown []string) {
	texts := map[digest.ID]string{}
	for _, p := range plans {
		texts[digest.Sum([]byte(p))] = p
	}
	entries := make([]journal.Entry, len(records))
	for i, l := range records {
		entries[i] = journal.Entry{Seq: journal.Seq(i + 1), Bytes: []byte(l), Hash: digest.Sum([]byte(l))}
	}
	first, err := journal.Decode(entries[0])
	if err != nil {
		c.find(err)
		return
	}
	c.Plan = first.Plan
	var law lifecycle.Submitted
	if json.Unmarshal(first.Body, &law) == nil && law.Law > lifecycle.Law {
		c.find(fault.New(fault.Tampered, "the run is under edition %d of the law, and this cairn knows no later one than %d: check it with a newer cairn", law.Law, lifecycle.Law))
		return
	}
	hist, err := foldAll(c.Plan, entries, func(id digest.ID) ([]byte, error) {
		if t, ok := texts[id]; ok {
			return []byte(t), nil
		}
		return nil, fault.New(fault.Tampered, "the text of the plan with hash %s is missing", id)
	})
	if err != nil {
		c.find(err)
		return
	}
	c.Records = hist.records
	if c.Summary, err = hist.summarize(); err != nil {
		c.find(err)
		return
	}
	again, err := c.Summary.lines()
	if err != nil {
		c.find(err)
	} else if !slices.Equal(again, shown) || !slices.Equal(hist.texts, plans) {
		c.find(fault.New(fault.Tampered, "the summary is not what follows from the records"))
	}
}
