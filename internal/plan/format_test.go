package plan

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/cairn-plan/cairn/internal/fault"
)

var extensions = map[string]string{"yaml": ".yaml", "json": ".json", "dsl": ".plan"}

// TestFormat compares the canonical text of plans, in the form that the wanted file's ending names.
func TestFormat(t *testing.T) {
	files, err := filepath.Glob("testdata/format/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		in := ar.Files[0]
		for i := range ar.Files[1:] {
			want := &ar.Files[i+1]
			as := strings.TrimPrefix(filepath.Ext(want.Name), ".")
			if as == "plan" {
				as = "dsl"
			}
			out, err := Format(in.Name, in.Data, as)
			if err != nil {
				t.Fatalf("%s as %s: %v", file, as, err)
			}
			if *update {
				want.Data = out
			} else if !bytes.Equal(out, want.Data) {
				t.Errorf("%s as %s: got\n%s\nwant\n%s", file, as, out, want.Data)
			}
			fixed(t, file, out, as)
		}
		if *update {
			if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func fixed(t *testing.T, what string, out []byte, as string) {
	t.Helper()
	again, err := Format("p"+extensions[as], out, as)
	if err != nil || !bytes.Equal(out, again) {
		t.Errorf("%s is not fixed as %s: %v\n%s\nbecomes\n%s", what, as, err, out, again)
	}
}

func TestFormatSeed(t *testing.T) {
	files, err := filepath.Glob("testdata/seed/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for as := range extensions {
			out, err := Format(file, src, as)
			if err != nil {
				t.Errorf("%s as %s: %v", file, as, err)
				continue
			}
			fixed(t, file, out, as)
		}
	}
}

func TestFormatRefuses(t *testing.T) {
	for _, c := range []struct{ src, as string }{
		{"plan: p\ntasks: [{id: a, needs: [b]}]", "yaml"},
		{"plan: p\ntasks: [{id: a}]", "toml"},
		{"plan: p\nx-a b: 1\ntasks: [{id: a}]", "dsl"},
	} {
		if out, err := Format("p.yaml", []byte(c.src), c.as); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q as %s gives %s, %v", c.src, c.as, out, err)
		}
	}
}
