package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
)

func TestCheck(t *testing.T) {
	for _, c := range [][2]string{{"", "is empty"}, {" \n ", "is empty"}, {"abc", "too short"}, {strings.Repeat("x", Longest+1), "at most"}} {
		value, want := c[0], c[1]
		err := Check("NAME", value)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "NAME") || fault.HintOf(err) == "" {
			t.Errorf("%d bytes: %v", len(value), err)
		}
		if strings.Contains(fmt.Sprint(err)+fault.HintOf(err), "abc") {
			t.Error("the error holds the value")
		}
	}
	if err := Check("NAME", "abcd"); err != nil {
		t.Error(err)
	}
	if got := New(map[string]string{"A": "abc"}).String("abc"); got != "abc" {
		t.Errorf("what Check refuses was looked for: %q", got)
	}
}

func TestForms(t *testing.T) {
	const value = `pa ss/w"o'r&d<é😀`
	r := New(map[string]string{"PW": value})
	for form, text := range map[string]string{
		"plain":           value,
		"query":           `pa+ss%2Fw%22o%27r%26d%3C%C3%A9%F0%9F%98%80`,
		"query, small":    `pa+ss%2fw%22o%27r%26d%3c%c3%a9%f0%9f%98%80`,
		"path":            `pa%20ss%2Fw%22o%27r&d%3C%C3%A9%F0%9F%98%80`,
		"component":       `pa%20ss%2Fw%22o'r%26d%3C%C3%A9%F0%9F%98%80`,
		"query, twice":    `pa%2520ss%252Fw%2522o%2527r%2526d%253C%25C3%25A9%25F0%259F%2598%2580`,
		"each letter":     `%70%61%20%73%73%2f%77%22%6f%27%72%26%64%3c%c3%a9%f0%9f%98%80`,
		"json":            `pa ss/w\"o'r&d<é😀`,
		"json of Go":      `pa ss/w\"o'r\u0026d\u003cé😀`,
		"json of PHP":     `pa ss\/w\"o'r&d<\u00e9\ud83d\ude00`,
		"json in ASCII":   `pa ss/w\"o'r&d<\u00e9\ud83d\ude00`,
		"json, capitals":  `pa ss/w\"o'r\u0026d\u003C\u00E9\uD83D\uDE00`,
		"json in json":    `pa ss/w\\\"o'r&d<é😀`,
		"json, each":      `\u0070\u0061\u0020\u0073\u0073\u002f\u0077\u0022\u006f\u0027\u0072\u0026\u0064\u003c\u00e9\ud83d\ude00`,
		"hex":             `70612073732f77226f277226643cc3a9f09f9880`,
		"HEX":             `70612073732F77226F277226643CC3A9F09F9880`,
		"shell, quoted":   `pa ss/w"o'"'"'r&d<é😀`,
		"shell, escaped":  `pa ss/w"o'\''r&d<é😀`,
		"shell, bare":     `pa\ ss/w\"o\'r\&d\<é😀`,
		"shell, double":   `pa ss/w\"o'r&d<é😀`,
		"SQL":             `pa ss/w"o''r&d<é😀`,
		"Go, ASCII":       `pa ss/w\"o'r&d<\u00e9\U0001f600`,
		"markup":          `pa ss/w&#34;o&#39;r&amp;d&lt;é😀`,
		"markup, named":   `pa ss/w&quot;o&apos;r&amp;d&lt;é😀`,
		"base64":          base64.StdEncoding.EncodeToString([]byte(value)),
		"base64, raw":     base64.RawStdEncoding.EncodeToString([]byte(value)),
		"base64, URL":     base64.URLEncoding.EncodeToString([]byte(value)),
		"base64, raw URL": base64.RawURLEncoding.EncodeToString([]byte(value)),
	} {
		if got := r.String("<" + text + ">"); got != "<[secret PW]>" {
			t.Errorf("%s: %q became %q", form, text, got)
		}
	}
	if got := r.String("user:" + value); got != "user:[secret PW]" {
		t.Error(got)
	}
	for _, user := range []string{"a", "ab", "abc"} { // the credentials of basic authentication
		text := base64.StdEncoding.EncodeToString([]byte(user + ":" + value))
		if got := r.String(text); !strings.Contains(got, "[secret PW]") || len(got) > 20 {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestLinesOfAValue(t *testing.T) {
	key := pem("RSA PRIVATE KEY", 150)
	lines := strings.Split(key, "\n")
	r := New(map[string]string{"KEY": key + "short\n"})
	text := lines[0] + "\n  " + lines[1] + "\n| " + lines[2] + "\n" + "short"
	if got := r.String(text); strings.Contains(got, lines[1]) || strings.Contains(got, lines[2]) {
		t.Errorf("%q", got)
	}
	if got := r.String(lines[1] + " short"); got != "[secret KEY] short" {
		t.Errorf("%q", got)
	}
	if got := r.String(lines[0]); got != lines[0] {
		t.Errorf("what everybody's key has became %q", got)
	}
	if got := r.String(strings.TrimSpace(key+"short\n") + "!"); got != "[secret KEY]!" {
		t.Errorf("%q", got)
	}
}

func TestOverlaps(t *testing.T) {
	r := New(map[string]string{"A": "abcdef", "B": "defghi", "LONG": "abcdefXYZ", "SAME": "abcdef", "IN": "cdef"})
	for text, want := range map[string]string{
		"abcdefghi":       "[secret A]", // the second begins inside the first: one hole
		"abcdefXYZ":       "[secret LONG]",
		"abcdefabcdef":    "[secret A][secret A]",
		"xcdefghi":        "x[secret IN]",
		"abcde":           "abcde",
		"abcdefXY-abcdef": "[secret A]XY-[secret A]",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%q became %q, not %q", text, got, want)
		}
	}
	r = New(map[string]string{"A": "aaaa"})
	if got := r.String("b" + strings.Repeat("a", 1000) + "b"); got != "b[secret A]b" {
		t.Errorf("%q", got)
	}
	// A value names what also has the shape of a credential.
	token := "ghp_" + sample(alnum, 36)
	r = New(map[string]string{"GH": token})
	if got := r.String("token=" + token + " " + token + "x"); got != "token=[secret GH] [secret GH]" {
		t.Errorf("%q", got)
	}
}

func TestFind(t *testing.T) {
	r := New(map[string]string{"B": "value of b", "A": "value of a"})
	got := r.Find([]byte("value of b, value of a, value of a, ghp_" + sample(alnum, 36) + " github_pat_" + sample(alnum, 60)))
	if want := []Finding{{Secret: "A"}, {Secret: "B"}, {Kind: "github token"}}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := r.Find([]byte("nothing")); got != nil {
		t.Errorf("%v", got)
	}
}

func TestUnchangedTextIsNotCopied(t *testing.T) {
	text := []byte("nothing to hide here")
	if got := New(nil).Bytes(text); &got[0] != &text[0] {
		t.Error("copied")
	}
}

func TestHoldsBackOnlyWhatMayBeASecret(t *testing.T) {
	r := New(map[string]string{"A": "hunter2hunter2"})
	var out bytes.Buffer
	w := r.Writer(&out)
	for _, c := range [][2]string{
		{"Password: ", "Password: "}, // a prompt must be seen
		{"ok\n", "Password: ok\n"},
		{"see hunt", "Password: ok\nsee "},
		{"er2hunter", "Password: ok\nsee "},
		{"!", "Password: ok\nsee hunter2hunter!"},
		{" hunter2hunter2", "Password: ok\nsee hunter2hunter! [secret A]"},
	} {
		if _, err := w.Write([]byte(c[0])); err != nil {
			t.Fatal(err)
		}
		if out.String() != c[1] {
			t.Errorf("after %q: %q, not %q", c[0], out.String(), c[1])
		}
	}
	if got := w.Found(); !slices.Equal(got, []Finding{{Secret: "A"}}) {
		t.Error(got)
	}
}

func TestWriterStaysSmall(t *testing.T) {
	secrets := benchSecrets()
	w := New(secrets).Writer(io.Discard)
	text := slices.Concat(bytes.Repeat([]byte("token="), 15000), []byte(" "), bytes.Repeat([]byte(secrets["TOKEN_1"][:39]), 2000), []byte(" -----BEGIN PRIVATE KEY-----\n"),
		bytes.Repeat([]byte("MIIEabcd"), 15000), bytes.Repeat([]byte(" eyJaaaaaaaaa.eyJ"), 5000))
	for ; len(text) > 0; text = text[min(len(text), 1000):] {
		if _, err := w.Write(text[:min(len(text), 1000)]); err != nil {
			t.Fatal(err)
		}
		if n := len(w.stream.buf) + len(w.stream.waiting) + len(w.stream.spans); n > 2*block {
			t.Fatalf("%d bytes are kept", n)
		}
	}
}

type broken struct{ after int }

var errBroken = errors.New("broken")

func (b *broken) Write(p []byte) (int, error) {
	if b.after--; b.after < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func TestWriterThatBreaks(t *testing.T) {
	w := New(nil).Writer(&broken{after: 1})
	big := make([]byte, 3*block)
	if n, err := w.Write(big); n != 2*block || !errors.Is(err, errBroken) {
		t.Error(n, err)
	}
	if n, err := w.Write([]byte("x")); n != 0 || !errors.Is(err, errBroken) {
		t.Error(n, err)
	}
	if err := w.Close(); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	w = New(nil).Writer(&broken{})
	if _, err := w.Write([]byte("eyJ")); err != nil {
		t.Error("held back, so not written: ", err)
	}
	if err := w.Close(); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	w = New(nil).Writer(io.Discard)
	if err := errors.Join(w.Close(), w.Close()); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

func TestJSON(t *testing.T) {
	r := New(map[string]string{"A": `va"lue`, "N": "12345678", "T": "true", "DOC": `{"type":"account","key":"zzzz"}`})
	for raw, want := range map[string]string{
		`{"a":"va\"lue","b":[1,"x va\u0022lue"]}`:            `{"a":"[secret A]","b":[1,"x [secret A]"]}`,
		`{"va\"lue" : 1}`:                                    `{"[secret A]" : 1}`,
		`[12345678, 1, "12345678", -12345678.5]`:             `["[secret N]", 1, "[secret N]", "-[secret N].5"]`,
		` { "x" : true } `:                                   ` { "x" : "[secret T]" } `,
		`{"x":{"type":"account","key":"zzzz"}}`:              `"[secret DOC]"`,
		`{"password":"hunter22","n":{"api_key":"a1b2c3d4"}}`: `{"password":"[redacted password]","n":{"api_key":"[redacted api key]"}}`,
		`{"password":"Enter 2 passwords","token":"","secret":null,"pin\u0020secret":["a1b2c3d4e5"]}`: `{"password":"Enter 2 passwords","token":"","secret":null,"pin\u0020secret":["a1b2c3d4e5"]}`,
		`{"token": "` + strings.Repeat("ab", 60) + `"}`:                                              `{"token": "[redacted token]"}`,
		`"plain \u00e9"`: `"plain \u00e9"`,
		`"12345678`:      `"[secret N]`, // no JSON
		`{}`:             `{}`,
		``:               ``,
	} {
		got := r.JSON(json.RawMessage(raw))
		if string(got) != want {
			t.Errorf("%s\nbecame %s\nnot    %s", raw, got, want)
		}
		if json.Valid([]byte(raw)) && !json.Valid(got) {
			t.Errorf("%s became %s, which is no JSON", raw, got)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	r := New(map[string]string{"A": "hunter2hunter2"})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				if got := r.String("say hunter2hunter2 password=abcdefgh"); got != "say [secret A] password=[redacted password]" {
					t.Error(got)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzWriter(f *testing.F) {
	f.Add("hunter22", "say hunter22 token=abcdef", uint8(3))
	f.Add("aaaa", "aaaaaaaaaaaa", uint8(1))
	f.Add("x y/z", "x+y%2Fz -----BEGIN RSA PRIVATE KEY-----\nMIIEabcdefghijklmnop\n", uint8(5))
	for _, p := range pieces {
		f.Add("ghp_x", p+p, uint8(2))
	}
	f.Fuzz(func(t *testing.T, value, text string, chunk uint8) {
		r := New(map[string]string{"V": value})
		want := r.String(text)
		var b strings.Builder
		w := r.Writer(&b)
		for rest := text; rest != ""; {
			n := min(len(rest), int(chunk)+1)
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil || b.String() != want {
			t.Fatalf("%q\nwriter %q\nstring %q\n%v", text, b.String(), want, err)
		}
		if !strings.ContainsAny(value, "[]") && Check("V", value) == nil && !inMask(value) && strings.Contains(want, value) {
			t.Fatalf("%q is in %q", value, want)
		}
	})
}

// inMask reports whether a mask happens to hold the value.
func inMask(value string) bool {
	masks := "[secret V]"
	for _, s := range shapes {
		masks += "[redacted " + s.kind + "]"
	}
	return strings.Contains(masks, value)
}

func FuzzJSON(f *testing.F) {
	f.Add("hunter22", `{"a":["hunter22",1,true,null,{"password":"x1y2z3a4"}]}`)
	f.Add("1234", `[1234,"\u0031234"]`)
	f.Add(`"a":`, `{"a":1}`)
	f.Fuzz(func(t *testing.T, value, text string) {
		got := New(map[string]string{"V": value}).JSON(json.RawMessage(text))
		if json.Valid([]byte(text)) && !json.Valid(got) {
			t.Fatalf("%s became %s", text, got)
		}
	})
}
