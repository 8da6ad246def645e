package machine

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestFacts(t *testing.T) {
	f := Facts(t.TempDir())
	if free, ok := f["disk"].(map[string]any)["free"].(int64); !ok || free <= 0 {
		t.Errorf("disk: %v", f["disk"])
	}
	if _, ok := f["network"].(map[string]any)["online"].(bool); !ok {
		t.Errorf("network: %v", f["network"])
	}
	if free, ok := f["memory"].(map[string]any)["free"].(int64); runtime.GOOS == "linux" && (!ok || free <= 0) {
		t.Errorf("memory: %v", f["memory"])
	}
}

func TestWhatCannotBeFoundOutIsLeftOut(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	if disk := Facts(missing)["disk"].(map[string]any); len(disk) != 0 {
		t.Errorf("disk of a folder that is not there: %v", disk)
	}
	if _, err := memoryFree(missing); err == nil {
		t.Error("memory was read from a file that is not there")
	}
	odd := filepath.Join(t.TempDir(), "meminfo")
	if err := os.WriteFile(odd, []byte("MemTotal: 1 kB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := memoryFree(odd); err == nil {
		t.Error("memory was read from a file that does not tell it")
	}
}
