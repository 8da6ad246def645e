package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
)

func (a *app) auditVerify() *cobra.Command {
	var key string
	c := &cobra.Command{
		Use:   "verify [PLAN | FILE [--key KEY|FILE]]",
		Short: "recompute every hash, chain, state and signature; list all that is wrong",
		Example: "  cairn audit verify\n  cairn audit verify first --json\n" +
			"  cairn audit verify first.receipt --key journal.key.pub",
		Args:              takes(0, 1),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				text, isFile, err := a.handed(c.Context(), args[0])
				if err != nil {
					return err
				}
				if isFile {
					return runCheckFile(args[0], text, key, a.out())
				}
			}
			if key != "" {
				return fault.New(fault.Invalid, "--key is for a receipt or a proof").Remedy("name the file: cairn audit verify FILE --key KEY")
			}
			return a.within(c.Context(), func(_ place, h *House) error {
				home, err := h.Audit()
				if err != nil {
					return err
				}
				return runVerify(c.Context(), home, args, a.out())
			})
		},
	}
	c.Flags().StringVar(&key, "key", "", "the public key that you trust, or a file that holds it")
	return c
}

// handed reads a file that somebody handed over. What is no file is a plan; what is both is the file if it looks like one
// of ours.
func (a *app) handed(ctx context.Context, name string) (text []byte, isFile bool, err error) {
	info, err := os.Stat(name)
	if err != nil || info.IsDir() {
		if pathLike(name) && !a.hasPlan(ctx, name) {
			return nil, true, fault.New(fault.NotFound, "there is no file %s", name).Remedy("name a receipt, a proof, or a plan")
		}
		return nil, false, nil
	}
	if text, err = os.ReadFile(name); err != nil {
		return nil, true, fault.Wrap(fault.Invalid, err, "read the file").Remedy("make %s a file that you can read", name)
	}
	return text, audit.IsProof(text) || pathLike(name) || !a.hasPlan(ctx, name), nil
}

// pathLike reports whether a name is more likely that of a file.
func pathLike(name string) bool {
	return strings.ContainsAny(name, `/\`) || filepath.Ext(name) != ""
}

// hasPlan reports whether there is a home with such a plan.
func (a *app) hasPlan(ctx context.Context, name string) (found bool) {
	// Where there is none, or it cannot be read, there is no such plan either.
	_ = a.within(ctx, func(_ place, h *House) error {
		head, err := h.Engine.Journal.Head(ctx, name)
		found = err == nil && head.Seq > 0
		return err
	})
	return found
}

// runCheckFile verifies a receipt or a proof by itself, and lists every finding before it fails for any.
func runCheckFile(name string, text []byte, key string, out Out) error {
	trust, err := trustIn(key)
	if err != nil {
		return err
	}
	c, err := audit.Check(text, trust)
	if err != nil {
		return fault.Wrap(fault.CodeOf(err), err, "%s", name)
	}
	if out.JSON {
		err = out.print(provenOf(c))
	} else {
		writeChecked(c, key != "", out)
	}
	if err == nil && !c.Sound() {
		err = outcome{fault.Tampered}
	}
	return err
}

// trustIn reads the key that somebody trusts: itself, or the name of a file.
func trustIn(key string) (*audit.Trust, error) {
	if key == "" {
		return nil, nil
	}
	if t, err := audit.ParseTrust(key); err == nil {
		return t, nil
	}
	text, err := os.ReadFile(key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.NotFound, "%q is neither a public key nor a file", key).
			Remedy("a key looks like cairn-journal+1a2b3c4d+AbC...; `cairn audit key` shows it where the journal is")
	case err != nil:
		return nil, fault.Wrap(fault.Invalid, err, "read the key").Remedy("make %s a file that you can read", key)
	}
	return audit.ParseTrust(string(text))
}

// proven is a receipt or a proof under --json.
type proven struct {
	Sound    bool           `json:"sound"`
	Of       string         `json:"of"`
	Plan     string         `json:"plan,omitempty"`
	Key      string         `json:"key"`
	Trusted  bool           `json:"trusted"`
	Head     *signedHead    `json:"head,omitempty"`
	Older    *signedHead    `json:"older,omitempty"`
	Records  []provenRecord `json:"records,omitempty"`
	Summary  *audit.Summary `json:"summary,omitempty"`
	Findings []string       `json:"findings"`
	File     string         `json:"file,omitempty"`
	Text     string         `json:"text,omitempty"`
}

type signedHead struct {
	Size uint64    `json:"size"`
	Root string    `json:"root"`
	Time time.Time `json:"time"`
}

type provenRecord struct {
	Seq  journal.Seq     `json:"seq"`
	Kind journal.Kind    `json:"kind"`
	Task string          `json:"task,omitempty"`
	By   string          `json:"by"`
	Time time.Time       `json:"time"`
	Body json.RawMessage `json:"body"`
}

func provenOf(c *audit.Checked) proven {
	v := proven{Sound: c.Sound(), Of: c.Of, Plan: c.Plan, Key: c.Key, Trusted: c.Trusted, Head: headOf(c.Head), Older: headOf(c.Older),
		Findings: append([]string{}, c.Findings...)}
	if c.Summary.Plan != "" {
		v.Summary = &c.Summary
	}
	if c.Of == audit.OfRecords {
		for _, r := range c.Records {
			v.Records = append(v.Records, provenRecord{r.Seq, r.Kind, r.Task, r.Actor, r.Time, r.Body})
		}
	}
	return v
}

// headOf is a head as far as there is one.
func headOf(c audit.Checkpoint) *signedHead {
	if c.Size == 0 {
		return nil
	}
	return &signedHead{c.Size, c.Root.String(), c.Time}
}

func writeChecked(c *audit.Checked, named bool, out Out) {
	verdict := "sound"
	if n := len(c.Findings); n > 0 {
		verdict = count(n, "finding")
	}
	what := map[string]string{audit.OfReceipt: "receipt", audit.OfRecords: "proof of records", audit.OfGrowth: "proof that a journal only grew"}[c.Of]
	if c.Plan != "" {
		what += " of plan " + oneLine(c.Plan)
	}
	fmt.Fprintf(out, "%s: %s\n", what, verdict)
	for _, f := range c.Findings {
		fmt.Fprintln(out, "  "+oneLine(f))
	}
	if !c.Sound() {
		fmt.Fprintln(out, "do not rely on it; ask whoever gave you the file for it once more, by a way on which nobody else can change it")
		return
	}
	switch c.Of {
	case audit.OfReceipt:
		writeSummary(c.Summary, out)
	case audit.OfRecords:
		for _, r := range c.Records {
			fmt.Fprintf(out, "  record %d  %s  %s\n", r.Seq, r.Kind, oneLine(cmp.Or(r.Task, "-")+" by "+r.Actor))
		}
	case audit.OfGrowth:
		fmt.Fprintf(out, "  from       %s, signed at %s\n", count(int(c.Older.Size), "record"), moment(c.Older.Time))
	}
	fmt.Fprintf(out, "  under      the head of %s, signed at %s\n", count(int(c.Head.Size), "record"), moment(c.Head.Time))
	for _, h := range c.Handed {
		fmt.Fprintf(out, "  key        %s, replaced at %s: %s\n", h.Old, moment(h.Time), oneLine(h.Why))
	}
	fmt.Fprintf(out, "  signed by  %s\n", c.Key)
	if named {
		fmt.Fprintln(out, "  trusted    because you named that key, or one that hands over to it")
	} else {
		fmt.Fprintln(out, "whether that key is the right one is for you to establish: ask whoever gave you the file, by another way, and then add --key KEY")
	}
}

func writeSummary(s audit.Summary, out Out) {
	var goal struct {
		Objective string `json:"objective"`
	}
	// A goal is an object in the plan language; what it says beside its objective is in the file.
	_ = json.Unmarshal(s.Goal, &goal)
	if aim := cmp.Or(goal.Objective, s.Title); aim != "" {
		fmt.Fprintf(out, "  goal       %s\n", oneLine(aim))
	}
	fmt.Fprintf(out, "  submitted  by %s at %s, plan text %s\n", oneLine(s.Submitted.By), moment(s.Submitted.At), s.Spec.Short())
	fmt.Fprintf(out, "  state      %s (state hash %s)\n", s.State, s.Hash)
	for _, d := range s.Decisions {
		fmt.Fprintf(out, "  decision   %s\n", oneLine(decision(d)))
	}
	writeTasks(s.Tasks, out)
	fmt.Fprintf(out, "  records    %d to %d, all here, and the state follows from them\n", s.Records.First, s.Records.Last)
}

// manyTasks is how many are shown one by one; the file has them all.
const manyTasks = 20

func writeTasks(tasks []audit.TaskLine, out Out) {
	if len(tasks) <= manyTasks {
		for _, t := range tasks {
			line := t.ID + ": " + string(t.Status)
			if !t.Outputs.IsZero() {
				line += ", outputs " + t.Outputs.Short()
			}
			fmt.Fprintf(out, "  task       %s\n", oneLine(line))
		}
		return
	}
	by := map[string]int{}
	for _, t := range tasks {
		by[string(t.Status)]++
	}
	var words []string
	for _, status := range slices.Sorted(maps.Keys(by)) {
		words = append(words, fmt.Sprintf("%d %s", by[status], status))
	}
	fmt.Fprintf(out, "  tasks      %s\n", strings.Join(words, ", "))
}

// decision tells in a line what somebody said.
func decision(d audit.Act) string {
	var says struct {
		Approved *bool  `json:"approved"`
		Accepted *bool  `json:"accepted"`
		Why      string `json:"why"`
	}
	_ = json.Unmarshal(d.Says, &says)
	word := string(d.Kind)
	switch {
	case says.Approved != nil && *says.Approved:
		word = "approved"
	case says.Approved != nil:
		word = "rejected"
	case says.Accepted != nil && *says.Accepted:
		word = "accepted"
	case says.Accepted != nil:
		word = "not accepted"
	}
	text := fmt.Sprintf("%s: %s by %s at %s", d.Task, word, d.By, moment(d.At))
	if says.Why != "" {
		text += ": " + says.Why
	}
	return text
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }
