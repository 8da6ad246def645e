package file_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/runner/file"
)

func TestWriteCanBePutBack(t *testing.T) {
	for name, was := range map[string]*string{"new": nil, "old": ptr("before\n"), "large": ptr(strings.Repeat("x", 5000))} {
		dir := t.TempDir()
		path := filepath.Join(dir, "f.txt")
		if was != nil {
			if err := os.WriteFile(path, []byte(*was), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		call := capability.Call{Dir: dir, With: json.RawMessage(`{"path":"f.txt","text":"after\n"}`)}
		backup, err := file.Writer{}.Backup(context.Background(), call)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (file.Writer{}).Run(context.Background(), call); err != nil {
			t.Fatal(err)
		}
		if name == "large" {
			if backup != nil {
				t.Errorf("a large file was kept in a record: %d bytes", len(backup))
			}
			continue
		}
		for range 2 { // putting back twice is as good as once
			if err := (file.Writer{}).Restore(context.Background(), call, backup); err != nil {
				t.Fatal(err)
			}
		}
		raw, err := os.ReadFile(path)
		switch {
		case was == nil && !os.IsNotExist(err):
			t.Errorf("the new file is still there: %v", err)
		case was != nil && string(raw) != *was:
			t.Errorf("%s: %q", name, raw)
		}
		if was != nil {
			if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
				t.Errorf("its mode is %s", info.Mode())
			}
		}
	}
	if err := (file.Writer{}).Restore(context.Background(), capability.Call{Dir: t.TempDir()}, []byte("[")); err == nil {
		t.Error("a broken copy was taken")
	}
}

func ptr(s string) *string { return &s }
