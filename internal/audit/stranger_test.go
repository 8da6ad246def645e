package audit_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/audit"
)

// asStranger checks a receipt with a program that shares nothing with cairn but docs/proofs.md.
func asStranger(t *testing.T, file []byte, key ...string) (says string, sound bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "receipt")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("python3", append([]string{"testdata/check_receipt.py", path}, key...)...).CombinedOutput()
	if err != nil && !strings.HasPrefix(string(out), "not sound: ") {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out), err == nil
}

// needPrograms skips the test where a program is missing, unless it has to be there.
func needPrograms(t *testing.T) {
	t.Helper()
	for program, version := range map[string]string{"python3": "Python 3", "openssl": "OpenSSL 3"} {
		flag := map[string]string{"python3": "--version", "openssl": "version"}[program]
		out, err := exec.Command(program, flag).Output()
		switch {
		case err == nil && strings.HasPrefix(string(out), version):
		case os.Getenv("CI") == "true":
			t.Fatalf("%s is not %s: run .ci/setup", program, version)
		default:
			t.Skipf("%s is not %s, so no receipt is checked without cairn", program, version)
		}
	}
}

func TestStrangerChecksAReceipt(t *testing.T) {
	needPrograms(t)
	d := released(t)
	first := d.home().Verifier.String()
	receipts := map[string][]byte{"finished": d.receipt("release")}
	d.rotate("for the stranger")
	long := d.submit(wide(200))
	long.together(func() {
		for i := range 200 {
			long.end(fmt.Sprintf("t%d", i), strings.Repeat("é", i))
		}
	})
	receipts["packed, under a new key"] = d.receipt("wide")
	d.submit("plan: begun\ntasks: [{id: a, uses: shell, run: 'true'}]\n")
	receipts["begun"] = d.receipt("begun")
	for name, file := range receipts {
		if says, sound := asStranger(t, file, first); !sound {
			t.Errorf("%s: %s", name, says)
		}
	}
	file := string(receipts["finished"])
	for name, tc := range map[string]struct{ old, new string }{
		"record": {`"approved":true`, `"approved":null`}, "root": {"cairn journal v1\n1", "cairn journal v1\n2"},
	} {
		if says, sound := asStranger(t, []byte(strings.Replace(file, tc.old, tc.new, 1))); sound {
			t.Errorf("%s was altered, and the stranger says %s", name, says)
		}
	}
	if says, sound := asStranger(t, receipts["finished"], released(t).home().Verifier.String()); sound {
		t.Errorf("another key: %s", says)
	}
	lies(t, released(t))
}

// lies has the stranger find what somebody with the key signed against the records.
func lies(t *testing.T, d *desk) {
	t.Helper()
	key, err := audit.LoadKey(audit.KeyPath(d.dir))
	if err != nil {
		t.Fatal(err)
	}
	file := string(d.receipt("release"))
	text := file[:strings.LastIndex(file, "\n\n— ")+1]
	for name, tc := range map[string]struct{ old, new, says string }{
		"state":    {`"state": "completed"`, `"state": "failed"`, "state hash"},
		"approver": {`"by": "person:bob"`, `"by": "person:eve"`, "decisions"},
		"author":   {`"by": "person:ann"`, `"by": "person:eve"`, "handed the plan in"},
		"plan":     {`"run":"make ship"`, `"run":"make shop"`, "plan's text"},
		"order":    {"== positions 3\n1-3\n", "== positions 3\n1-2\n", "positions"},
	} {
		lie := strings.Replace(text, tc.old, tc.new, 1)
		if lie == text {
			t.Fatalf("%s: there is no %q in\n%s", name, tc.old, text)
		}
		signed, err := key.SignText(lie)
		if err != nil {
			t.Fatal(err)
		}
		if says, sound := asStranger(t, signed); sound || !strings.Contains(says, tc.says) {
			t.Errorf("%s: the stranger says %s", name, says)
		}
	}
}
