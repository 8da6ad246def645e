package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// exampleDir holds the plans that we show to people.
const exampleDir = "../../examples"

func TestEveryExampleHasAScript(t *testing.T) {
	files, err := filepath.Glob(exampleDir + "/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	script, err := os.ReadFile("testdata/script/examples.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !bytes.Contains(script, []byte("examples/"+filepath.Base(f)+"\n")) {
			t.Errorf("testdata/script/examples.txtar does not run %s", f)
		}
	}
}
