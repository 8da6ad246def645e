package plan

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

func FuzzYAML(f *testing.F) { fuzz(f, "yaml") }
func FuzzJSON(f *testing.F) { fuzz(f, "json") }
func FuzzDSL(f *testing.F)  { fuzz(f, "dsl") }

// fuzz reads whatever comes. What passes must come back from its canonical form and from every
// text that is made of it.
func fuzz(f *testing.F, form string) {
	ext := extensions[form]
	seed(f, ext)
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 1<<16 {
			return
		}
		p, faults := Read("p"+ext, src, Options{Capabilities: catalogue})
		for _, fault := range faults {
			if fault.Line < 1 || fault.Col < 1 || fault.Msg == "" || strings.Contains(fault.String(), "%!") && !bytes.Contains(src, []byte("%!")) {
				t.Errorf("a fault without a place or a message: %+v", fault)
			}
		}
		if faults.Err() != nil {
			return
		}
		spec, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if q, err := Decode(spec); err != nil || !reflect.DeepEqual(p, q) {
			t.Fatalf("comes back changed: %v\n%s", err, spec)
		}
		out, err := Format("p"+ext, src, form)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Format("p"+ext, out, form); err != nil || !bytes.Equal(out, again) {
			t.Fatalf("not fixed: %v\n%s\n%s", err, out, again)
		}
	})
}

func seed(f *testing.F, ext string) {
	files, _ := filepath.Glob("testdata/seed/*" + ext)
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	archives, _ := filepath.Glob("testdata/*/*.txtar")
	for _, file := range archives {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, a := range ar.Files {
			if filepath.Ext(a.Name) == ext {
				f.Add(a.Data)
			}
		}
	}
	if ext == ".yaml" {
		f.Add([]byte(everything))
	}
}
