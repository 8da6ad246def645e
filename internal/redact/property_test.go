package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawSecrets draws values without brackets, so that no mask can hold one by accident.
func drawSecrets(t *rapid.T) map[string]string {
	value := rapid.OneOf(
		rapid.StringMatching(`[ab]{4,9}`), // values that overlap themselves and each other
		rapid.StringMatching(`[a-zA-Z0-9]{4,40}`),
		rapid.StringMatching(`[a-z0-9 '"\\/&%$+=<>@é漢😀-]{6,24}`),
		rapid.StringMatching(`[a-z0-9]{9,12}\n[a-z0-9]{9,12}\n`),
		rapid.StringMatching(`ghp_[a-z]{36}`),
	)
	secrets, masks := map[string]string{}, "[secret A][secret B][secret C][secret D]"
	for i, v := range rapid.SliceOfN(value, 1, 4).Draw(t, "values") {
		if Check("X", v) == nil && !strings.Contains(masks, v) {
			secrets[string(rune('A'+i))] = v
		}
	}
	return secrets
}

// encodings are those a program in the wild would use, made by the standard library where it has them.
func encodings(v, before, after string) []string {
	enc, _ := json.Marshal(v)
	return []string{
		v, url.QueryEscape(v), url.PathEscape(v), strings.ToLower(hex.EncodeToString([]byte(v))),
		strings.ToUpper(hex.EncodeToString([]byte(v))), string(enc[1 : len(enc)-1]),
		base64.StdEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte(before + v + after)),
		base64.StdEncoding.EncodeToString([]byte(before + v + after)), folded(base64.StdEncoding.EncodeToString([]byte(before+v+after)), "\n", 7),
		"'" + strings.ReplaceAll(v, "'", `'"'"'`) + "'", "'" + strings.ReplaceAll(v, "'", `'\''`) + "'",
	}
}

// pieces of text that have the beginnings of shapes, whole shapes, and what ends them.
var pieces = []string{
	"token=", "token: ", `"password": "`, "password=", "hunter22", "--api-key ", "api_key", " = ", "\"", "'", "\\\"", "\\n", "\n", " ", "://", "user:", "pw@", "host",
	"ghp_", "eyJhbGciOiJI", ".eyJzdWIiOiIxMjM0", ".", "Bearer ", "Authorization: ", "Basic ", "dXNlcjpwYXNzMTIz", "AKIA", "ABCDEFGH12345678",
	"-----BEGIN ", "RSA PRIVATE KEY", "-----", "-----END ", "MIIEpAIBAAKCAQEA", "0123456789", "abcdefghij", "ABCDEFGHIJ", ":AA", "SK0", "a1Q~", "%3D", "${secret:", "}",
	"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "<token>", "</token>", "MTIzNDU2Nzg5MDEyMzQ1Njc4", "Proc-Type: 4,ENCRYPTED", "x", "=", ":", ",", ";", "(", "\\",
}

func drawText(t *rapid.T, secrets map[string]string) string {
	var b strings.Builder
	names := make([]string, 0, len(secrets))
	for name := range secrets {
		names = append(names, name)
	}
	slices.Sort(names)
	for range rapid.IntRange(0, 12).Draw(t, "parts") {
		switch n := rapid.IntRange(0, 5).Draw(t, "part"); {
		case n == 0 && len(names) > 0:
			v := secrets[rapid.SampledFrom(names).Draw(t, "name")]
			b.WriteString(rapid.SampledFrom(encodings(v, rapid.StringN(0, 4, 4).Draw(t, "before"), "xyz")).Draw(t, "encoding"))
		case n == 1 && len(names) > 0:
			v := secrets[rapid.SampledFrom(names).Draw(t, "name")]
			b.WriteString(v[:rapid.IntRange(0, len(v)).Draw(t, "cut")])
		case n == 2:
			b.WriteString(rapid.StringN(0, 30, -1).Draw(t, "any"))
		case n == 3:
			b.WriteString(strings.Repeat(rapid.SampledFrom(pieces).Draw(t, "piece"), rapid.IntRange(1, 12).Draw(t, "times")))
		default:
			for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "pieces") {
				b.WriteString(p)
			}
		}
	}
	return b.String()
}

func TestWriterAgreesWithString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := drawSecrets(t)
		r, text := New(secrets), drawText(t, secrets)
		want := r.String(text)
		var got bytes.Buffer
		w := r.Writer(&got)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), rapid.SampledFrom([]int{1, 3, 40, 400}).Draw(t, "most"))).Draw(t, "chunk")
			if k, err := w.Write([]byte(rest[:n])); k != n || err != nil {
				t.Fatal(k, err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got.String() != want {
			t.Fatalf("secrets %q\ntext   %q\nwriter %q\nstring %q", secrets, text, got.String(), want)
		}
		if found := r.Find([]byte(text)); !slices.Equal(found, w.Found()) {
			t.Fatalf("Find says %v, the writer %v", found, w.Found())
		}
		if string(r.Bytes([]byte(text))) != want {
			t.Fatal("Bytes differs from String")
		}
	})
}

func TestNoValueGetsThrough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := drawSecrets(t)
		text := drawText(t, secrets)
		got := New(secrets).String(text)
		for name, v := range secrets {
			for _, form := range encodings(v, "", "") {
				if strings.Contains(got, form) {
					t.Fatalf("secret %s %q is in %q as %q", name, v, got, form)
				}
			}
		}
	})
}

func TestBase64InsideLongerText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.StringMatching(`[a-z][a-zA-Z0-9!/+ ]{8,40}`).Draw(t, "value")
		before, after := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "before"), rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "after")
		r, whole := New(map[string]string{"V": v}), slices.Concat(before, []byte(v), after)
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			if got := r.String(enc.EncodeToString(whole)); !strings.Contains(got, "[secret V]") {
				t.Fatalf("%q in %q became %q", v, whole, got)
			}
		}
	})
}

// What is outside of finds is unchanged, in its order: the output without masks is what is left of the input.
// folded cuts text into lines.
func folded(text, lineBreak string, width int) string {
	var b strings.Builder
	for len(text) > width {
		b.WriteString(text[:width] + lineBreak)
		text = text[width:]
	}
	return b.String() + text
}

func TestBase64CutIntoLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.StringMatching(`[a-z][a-zA-Z0-9!/+ ]{8,40}`).Draw(t, "value")
		before, after := rapid.StringMatching(`[a-z]{0,80}`).Draw(t, "before"), rapid.StringMatching(`[a-z]{0,20}`).Draw(t, "after")
		text := folded(base64.StdEncoding.EncodeToString([]byte(before+v+after)), rapid.SampledFrom([]string{"\n", "\r\n", `\n`, "\n    "}).Draw(t, "break"), rapid.SampledFrom([]int{20, 64, 76}).Draw(t, "width"))
		r := New(map[string]string{"V": v})
		got := r.String(text)
		if !strings.Contains(got, "[secret V]") || len(text)-len(got) < len(v)*4/3-4-len("[secret V]") {
			t.Fatalf("%q in %q became %q", v, text, got)
		}
		var b strings.Builder
		w := r.Writer(&b)
		for i := range len(text) {
			if _, err := w.Write([]byte{text[i]}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil || b.String() != got {
			t.Fatalf("%q\nwriter %q\nstring %q", text, b.String(), got)
		}
	})
}

func TestTheRestIsUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := map[string]string{"A": rapid.StringMatching(`[A-Z]{6,12}`).Draw(t, "value")}
		var text, want strings.Builder
		for range rapid.IntRange(0, 10).Draw(t, "parts") {
			plain := rapid.StringMatching(`[a-z .,\n]{0,30}`).Draw(t, "plain")
			text.WriteString(plain + secrets["A"])
			want.WriteString(plain + "[secret A]")
		}
		if got := New(secrets).String(text.String()); got != want.String() {
			t.Fatalf("%q\nbecame %q\nnot    %q", text.String(), got, want.String())
		}
	})
}

func TestJSONStaysJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secrets := drawSecrets(t)
		text := drawText(t, secrets)
		raw, err := json.Marshal(map[string]any{text: []any{text, 12, true, nil, map[string]any{"k": text}}, "plain": "x"})
		if err != nil {
			t.Fatal(err)
		}
		got := New(secrets).JSON(raw)
		if !json.Valid(got) {
			t.Fatalf("%s is no JSON", got)
		}
		for name, v := range secrets {
			if strings.Contains(string(got), v) {
				t.Fatalf("secret %s %q is in %s", name, v, got)
			}
		}
	})
}
