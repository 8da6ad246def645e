package sql_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
)

func TestSQLiteValues(t *testing.T) {
	p := place{t, t.TempDir(), "v.db"}
	p.exec("CREATE TABLE v (i INTEGER, big INTEGER, r REAL, t TEXT, b BLOB, n NUMERIC, d DATETIME, yes BOOLEAN)", "create", true)
	p.exec("INSERT INTO v VALUES ($1, $2, $3, $4, $5, $6, $7, $8)", "args",
		list{1, json.Number("9007199254740993"), 1.5, "한글\x00x", map[string]any{"base64": "AP8="}, "12.5", "2026-01-02T03:04:05.5Z", true})
	want := `[{"i":1,"big":"9007199254740993","r":1.5,"t":"한글\u0000x","b":"AP8=","n":12.5,"d":"2026-01-02T03:04:05.5Z","yes":1}]`
	if got := p.rows("SELECT * FROM v"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for sql, want := range map[string]string{"SELECT 9e999 AS a": `[{"a":"Infinity"}]`, "SELECT -9e999 AS a": `[{"a":"-Infinity"}]`, "SELECT 9007199254740992 AS a": `[{"a":9007199254740992}]`,
		"SELECT $2 AS b, $1 AS a, '$3' AS c": `[{"b":"[1,2]","a":null,"c":"$3"}]`, "SELECT $1 AS a, $2 AS b": `[{"a":null,"b":"[1,2]"}]`} {
		args := list{}
		if strings.Contains(sql, "$1") {
			args = list{nil, list{1, 2}}
		}
		if got := p.rows(sql, args...); got != want {
			t.Errorf("%s: %s", sql, got)
		}
	}
	out, _, err := perform(t, "sql.query", p.dir, with("database", "v.db", "sql", "SELECT i, t AS x FROM v"))
	if err != nil || string(out["columns"]) != `[{"name":"i","type":"integer"},{"name":"x","type":"text"}]` {
		t.Errorf("%s, %v", out, err)
	}
}

func TestSQLitePragmas(t *testing.T) {
	p := place{t, t.TempDir(), "v.db"}
	p.exec("CREATE TABLE v (i INTEGER PRIMARY KEY)", "create", true)
	if got := p.rows("PRAGMA table_info(v)"); !strings.Contains(got, `"name":"i"`) {
		t.Error(got)
	}
	p.exec("PRAGMA user_version = 7")
	if got := p.rows("PRAGMA user_version"); got != `[{"user_version":7}]` {
		t.Error(got)
	}
	for _, sql := range []string{"PRAGMA query_only = 0", "PRAGMA journal_mode = WAL", "PRAGMA writable_schema = 1", "PRAGMA"} {
		p.refused("sql.exec", sql, fault.Invalid, "PRAGMA is not allowed")
	}
	p.exec(`CREATE TABLE log (x); CREATE TRIGGER note AFTER INSERT ON v BEGIN INSERT INTO log VALUES (CASE WHEN 1 THEN 2 END); INSERT INTO log VALUES (';'); END; INSERT INTO v VALUES (1);`)
	if got := p.rows("SELECT count(*) AS n FROM log"); got != `[{"n":2}]` {
		t.Error(got)
	}
}

func TestSQLiteFiles(t *testing.T) {
	dir := t.TempDir()
	p := place{t, dir, "v.db"}
	p.exec("CREATE TABLE v (i INTEGER PRIMARY KEY); INSERT INTO v VALUES (1)", "create", true)
	if os.Getuid() != 0 {
		if err := os.Chmod(filepath.Join(dir, "v.db"), 0o444); err != nil {
			t.Fatal(err)
		}
		p.refused("sql.exec", "DELETE FROM v", fault.Denied, "may not be changed")
	}
	p.rows("SELECT * FROM v")
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "v.db"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 100; i < len(b); i++ {
		b[i] = 0xff
	}
	if err := os.WriteFile(filepath.Join(dir, "bad.db"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	place{t, dir, "bad.db"}.refused("sql.query", "SELECT * FROM v", fault.Failed, "damaged")
}
