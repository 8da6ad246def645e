package docs_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/cairn-plan/cairn/internal/audit"
	"github.com/cairn-plan/cairn/internal/lifecycle"
	"github.com/cairn-plan/cairn/internal/plan"
)

const (
	journalPage = "journal-format.md"
	mark        = "<!-- made by go test ./docs -update -->\n"
)

// example is the worked example as the page shows it.
type example struct {
	spec     string
	records  []string
	figures  map[string]string
	note     string
	verifier string
}

// fence finds a block of a language in a text, and what follows it.
func fence(t *testing.T, text, lang string) (body, rest string) {
	t.Helper()
	_, after, ok := strings.Cut(text, "```"+lang+"\n")
	body, rest, closed := strings.Cut(after, "```\n")
	if !ok || !closed {
		t.Fatalf("%s: the worked example has no block of %s", journalPage, lang)
	}
	return body, rest
}

func readExample(t *testing.T) (e example) {
	t.Helper()
	raw, err := os.ReadFile(journalPage)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(strings.ReplaceAll(string(raw), "\r\n", "\n"), mark)
	e.spec, text = fence(t, text, "text")
	e.spec = strings.TrimSuffix(e.spec, "\n")
	records, text := fence(t, text, "text")
	e.records = strings.Split(strings.TrimSuffix(records, "\n"), "\n")
	e.figures = map[string]string{}
	for _, m := range regexp.MustCompile("\\| ([a-z0-9 ]+) \\| `([0-9a-f]{64})` \\|").FindAllStringSubmatch(text, -1) {
		e.figures[m[1]] = m[2]
	}
	e.note, text = fence(t, text, "text")
	e.verifier, _ = fence(t, text, "text")
	return e
}

func (e example) want(t *testing.T, what string, got [32]byte) {
	t.Helper()
	if hex.EncodeToString(got[:]) != e.figures[what] {
		t.Errorf("%s is %x, and the page says %s", what, got, e.figures[what])
	}
}

func sum(b []byte) [32]byte { return sha256.Sum256(b) }

// parts hashes texts, each after its length in eight bytes.
func parts(texts ...string) [32]byte {
	var b []byte
	for _, s := range texts {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
	}
	return sum(b)
}

// The worked example holds, by SHA-256, JSON and Ed25519 of the standard library alone: nothing of cairn is asked.
func TestWorkedExampleHolds(t *testing.T) {
	e := readExample(t)
	e.want(t, "spec", sum([]byte(e.spec)))
	prev := strings.Repeat("0", 64)
	var leaves [][32]byte
	var keyed, final string
	for i, line := range e.records {
		if !bytes.Equal(canonical(t, line), []byte(line)) {
			t.Errorf("record %d is not in canonical form", i+1)
		}
		var r struct {
			Seq  int
			Prev string
			Kind string
			Body struct{ Key, Hash, Spec string }
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		hash := sum([]byte(line))
		e.want(t, fmt.Sprintf("record %d", i+1), hash)
		if r.Seq != i+1 || r.Prev != prev || r.Body.Spec != "" && r.Body.Spec != e.figures["spec"] {
			t.Errorf("record %d does not continue the one before", i+1)
		}
		prev = hex.EncodeToString(hash[:])
		leaves = append(leaves, sum(append([]byte{0}, hash[:]...)))
		keyed, final = keyed+r.Body.Key, r.Body.Hash
	}
	key := parts("cairn effect", "hello", "greet", "1")
	e.want(t, "effect key", key)
	outputs := parts("exit", "0", "stdout", `"hello"`)
	e.want(t, "outputs", outputs)
	state := sum(fmt.Appendf(nil, `{"plan":"completed","tasks":{"greet":{"outputs":"%x","status":"completed"}}}`, outputs))
	e.want(t, "state", state)
	if keyed != hex.EncodeToString(key[:]) || final != hex.EncodeToString(state[:]) {
		t.Error("the records name another effect key or another state")
	}
	root := merkle(leaves)
	e.want(t, "root", root)
	e.signed(t, root)
}

// canonical writes JSON as RFC 8785 does, for what the example holds: ASCII, and whole numbers below 2^53.
func canonical(t *testing.T, line string) []byte {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	var v any
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// merkle is the root over leaves, as RFC 6962 has it.
func merkle(leaves [][32]byte) [32]byte {
	if len(leaves) == 1 {
		return leaves[0]
	}
	k := 1
	for k*2 < len(leaves) {
		k *= 2
	}
	left, right := merkle(leaves[:k]), merkle(leaves[k:])
	return sum(append(append([]byte{1}, left[:]...), right[:]...))
}

// signed checks the checkpoint and its signature.
func (e example) signed(t *testing.T, root [32]byte) {
	t.Helper()
	text, last, ok := strings.Cut(e.note, "\n\n— cairn-journal ")
	fields := strings.Split(strings.TrimSuffix(e.verifier, "\n"), "+")
	if !ok || len(fields) < 3 {
		t.Fatalf("the note or the verifier is not in its form:\n%s\n%s", e.note, e.verifier)
	}
	text += "\n"
	lines := strings.Split(text, "\n")
	if lines[0] != "cairn journal v1" || lines[1] != fmt.Sprint(len(e.records)) || lines[2] != base64.StdEncoding.EncodeToString(root[:]) {
		t.Errorf("the checkpoint says something else:\n%s", text)
	}
	sig, err1 := base64.StdEncoding.DecodeString(strings.TrimSpace(last))
	key, err2 := base64.StdEncoding.DecodeString(strings.Join(fields[2:], "+"))
	if err1 != nil || err2 != nil || len(sig) != 4+ed25519.SignatureSize || len(key) != 1+ed25519.PublicKeySize || key[0] != 1 {
		t.Fatal("the signature or the key has another length")
	}
	id := sum(append([]byte("cairn-journal\n"), key...))
	if !bytes.Equal(sig[:4], id[:4]) || fields[1] != hex.EncodeToString(id[:4]) {
		t.Error("the key hash does not fit the key")
	}
	if !ed25519.Verify(key[1:], []byte(text), sig[4:]) {
		t.Error("the signature does not verify")
	}
}

// What the page shows is what cairn writes and accepts.
func TestWorkedExampleIsOurs(t *testing.T) {
	made := makeExample(t)
	raw, err := os.ReadFile(journalPage)
	if err != nil {
		t.Fatal(err)
	}
	before, shown, ok := strings.Cut(strings.ReplaceAll(string(raw), "\r\n", "\n"), mark)
	old, after, closed := strings.Cut(shown, mark)
	if !ok || !closed {
		t.Fatalf("%s has no place for the worked example", journalPage)
	}
	if *update {
		if err := os.WriteFile(journalPage, []byte(before+mark+made+mark+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if old != made {
		t.Errorf("cairn writes another example; look at what changed, then: go test ./docs -update\n%s", made)
	}
}

// makeExample carries a plan of one task out under the real law, at fixed times and with a key made for it.
func makeExample(t *testing.T) string {
	t.Helper()
	p, faults := plan.Read("hello.yaml", []byte("plan: hello\ntasks:\n  - {id: greet, uses: shell, run: echo hello}\n"), plan.Options{})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	spec, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	r := submitted(t, p, time.Date(2026, 1, 2, 14, 5, 0, 0, time.UTC))
	exit := 0
	r.take(time.Millisecond, lifecycle.PlanStarted, "", &lifecycle.Session{Epoch: 1, Engine: "1.0.0", Host: "bench", PID: 4711})
	r.take(2*time.Millisecond, lifecycle.TaskEnded, "greet", &lifecycle.Ended{Outcome: lifecycle.Succeeded, Exit: &exit, Took: 1500 * time.Microsecond,
		Outputs: map[string]json.RawMessage{"exit": json.RawMessage("0"), "stdout": json.RawMessage(`"hello"`)}})
	var b strings.Builder
	var leaves [][32]byte
	fmt.Fprintf(&b, "The plan, canonical, as the artifact store holds it:\n\n```text\n%s\n```\n\nThe records, one a line:\n\n```text\n", spec)
	table := fmt.Sprintf("| what | SHA-256 |\n| --- | --- |\n| spec | `%x` |\n", sum(spec))
	for i, e := range r.entries {
		fmt.Fprintf(&b, "%s\n", e.Bytes)
		table += fmt.Sprintf("| record %d | `%s` |\n", i+1, e.Hash)
		leaves = append(leaves, sum(append([]byte{0}, e.Hash[:]...)))
	}
	task, _ := r.state.Task("greet")
	root := merkle(leaves)
	table += fmt.Sprintf("| effect key | `%s` |\n| outputs | `%s` |\n| state | `%s` |\n| root | `%x` |\n",
		r.state.Key("greet", 1), task.Result.Hash, r.state.Hash(), root)
	head, verifier := signExample(t, audit.Checkpoint{Size: uint64(len(leaves)), Root: root, Time: r.now.Add(time.Second)})
	fmt.Fprintf(&b, "```\n\n%s\nThe signed head:\n\n```text\n%s```\n\nand the verifier of the key that signed it:\n\n```text\n%s\n```\n", table, head, verifier)
	return b.String()
}

// signExample signs by way of a key file, as a home has one.
func signExample(t *testing.T, c audit.Checkpoint) (head []byte, verifier string) {
	t.Helper()
	const name = "cairn-journal"
	seed := []byte("a key for one example and no more")[:ed25519.SeedSize]
	public, err := note.NewEd25519VerifierKey(name, ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	hash := strings.Split(public, "+")[1]
	secret := "PRIVATE+KEY+" + name + "+" + hash + "+" + base64.StdEncoding.EncodeToString(append([]byte{1}, seed...))
	path := t.TempDir() + "/journal.key"
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := audit.LoadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	h, err := key.Sign(c)
	if err != nil {
		t.Fatal(err)
	}
	return h.Note, key.String()
}
