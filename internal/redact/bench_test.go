package redact

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchSecrets are what a busy project has: passwords, tokens, a key of many lines.
func benchSecrets() map[string]string {
	secrets := map[string]string{"DB": "correct horse/battery&staple", "KEY": pem("RSA PRIVATE KEY", 1700)}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 20 {
		secrets[fmt.Sprintf("TOKEN_%d", i)] = randomLetters(r, 40, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	}
	return secrets
}

func randomLetters(r *rand.Rand, n int, from string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = from[r.IntN(len(from))]
	}
	return string(b)
}

// pem makes a block that looks like a private key and is none.
func pem(label string, size int) string {
	r := rand.New(rand.NewPCG(3, 4))
	body := randomLetters(r, size, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/")
	var b strings.Builder
	b.WriteString("-----BEGIN " + label + "-----\n")
	for len(body) > 64 {
		b.WriteString(body[:64] + "\n")
		body = body[64:]
	}
	b.WriteString(body + "\n-----END " + label + "-----\n")
	return b.String()
}

// sourceText is Go source: the words of programs, with many a token and password among them.
func sourceText(tb testing.TB, size int) []byte {
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		tb.Fatal(err)
	}
	var b bytes.Buffer
	for b.Len() < size {
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				tb.Fatal(err)
			}
			b.Write(text)
		}
	}
	return b.Bytes()[:size]
}

// logText is the output of builds and services.
func logText(size int) []byte {
	r := rand.New(rand.NewPCG(5, 6))
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "2026-11-03T10:%02d:%02d.%03dZ INFO  server: request id=%08x path=/v1/plans/%d status=200 took=%dms\n", i/60%60, i%60, r.IntN(1000), r.Uint32(), r.IntN(999), r.IntN(90))
		fmt.Fprintf(&b, "ok  \tgithub.com/cairn-plan/cairn/internal/room%d\t0.%03ds\tcoverage: %d.1%% of statements\n", r.IntN(40), r.IntN(999), r.IntN(99))
		fmt.Fprintf(&b, "   Compiling serde_json v1.0.%d (/build/vendor/serde_json)\n", r.IntN(120))
	}
	return b.Bytes()[:size]
}

func base64Text(size int) []byte {
	r := rand.New(rand.NewPCG(7, 8))
	raw := make([]byte, size)
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	return []byte(base64.StdEncoding.EncodeToString(raw))[:size]
}

func BenchmarkRedact(b *testing.B) {
	const size = 4 << 20
	secrets := benchSecrets()
	r := rand.New(rand.NewPCG(9, 10))
	binary := make([]byte, size)
	for i := range binary {
		binary[i] = byte(r.Uint32())
	}
	nearly := secrets["TOKEN_3"][:39]
	for _, c := range []struct {
		name string
		text []byte
	}{
		{"log", logText(size)},
		{"source", sourceText(b, size)},
		{"base64", base64Text(size)},
		{"binary", binary},
		{"worst nearly a secret", bytes.Repeat([]byte(nearly), size/39)},
		{"worst all secrets", bytes.Repeat([]byte(secrets["TOKEN_3"]), size/40)},
		{"worst all marks", bytes.Repeat([]byte("token: eyJ ://a:b ghp_ "), size/23)},
		{"worst token chain", bytes.Repeat([]byte("token="), size/6)},
		{"worst aws", bytes.Repeat([]byte("AKIA0123456789ABCDEF "), size/21)},
		{"worst jwt", bytes.Repeat([]byte(" eyJ"+strings.Repeat("a", 1020)), size/1024)},
		{"worst password", bytes.Repeat([]byte("password password: "), size/19)},
	} {
		b.Run(c.name, func(b *testing.B) {
			red := New(secrets)
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				w := red.Writer(io.Discard)
				if _, err := w.Write(c.text); err != nil {
					b.Fatal(err)
				}
				w.Close()
			}
		})
	}
}

func BenchmarkShort(b *testing.B) {
	red := New(benchSecrets())
	for b.Loop() {
		red.String("task build ended with exit status 1")
	}
}

func BenchmarkNew(b *testing.B) {
	secrets := benchSecrets()
	b.ReportAllocs()
	for b.Loop() {
		New(secrets)
	}
}
