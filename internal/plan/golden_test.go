package plan

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected messages")

// shelf is a small catalogue: some capabilities are there, some are only known of.
type shelf map[string]bool

var catalogue = shelf{"noop": true, "shell": true, "file.read": true, "file.write": true, "sql.query": false, "sql.exec": false}

func (s shelf) Installed(id string) bool { return s[id] }
func (s shelf) Known(id string) bool     { _, ok := s[id]; return ok }

func (s shelf) IDs() []string {
	return []string{"file.read", "file.write", "noop", "shell", "sql.exec", "sql.query"}
}

func (s shelf) Fits(id string, with json.RawMessage) (wrong []string) {
	in := map[string]json.RawMessage{}
	if err := json.Unmarshal(with, &in); err != nil {
		return []string{err.Error()}
	}
	if id != "file.read" {
		return nil
	}
	if _, ok := in["path"]; !ok {
		wrong = append(wrong, "path is missing")
	}
	for k := range in {
		if k != "path" {
			wrong = append(wrong, "there is no input "+k)
		}
	}
	return wrong
}

// TestBad reads plans with faults and compares every message, place and remedy.
func TestBad(t *testing.T) {
	cases := 0
	files, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cases += checkArchive(t, file, ar)
		if *update {
			if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if cases < 110 {
		t.Errorf("only %d bad plans are checked", cases)
	}
}

func checkArchive(t *testing.T, file string, ar *txtar.Archive) (cases int) {
	texts := map[string][]byte{}
	for _, f := range ar.Files {
		texts[f.Name] = f.Data
	}
	read := func(path string) ([]byte, error) {
		if b, ok := texts[path]; ok {
			return b, nil
		}
		return nil, fmt.Errorf("%s: %w", path, os.ErrNotExist)
	}
	var out []txtar.File
	for _, f := range ar.Files {
		if strings.HasSuffix(f.Name, ".want") {
			continue
		}
		out = append(out, f)
		if strings.Contains(f.Name, "-inner.") {
			continue
		}
		cases++
		t.Run(filepath.Base(file)+"/"+f.Name, func(t *testing.T) {
			_, faults := Read(f.Name, f.Data, Options{Capabilities: catalogue, ReadFile: read})
			got, want := faults.String(), string(texts[f.Name+".want"])
			if len(faults) == 0 {
				t.Error("nothing was found wrong")
			}
			if got != want && !*update {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			out = append(out, txtar.File{Name: f.Name + ".want", Data: []byte(got)})
		})
	}
	ar.Files = out
	return cases
}

func (s shelf) Reach(id string, with json.RawMessage) (names, hosts []string) {
	var in struct{ Database string }
	if json.Unmarshal(with, &in) == nil && in.Database != "" {
		hosts = []string{strings.TrimPrefix(in.Database, "postgres://")}
	}
	if id == "shell" {
		hosts = []string{Anywhere}
	}
	return []string{id}, hosts
}
