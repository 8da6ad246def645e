package sql_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/capability/capabilitytest"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/sql"
)

func TestMain(m *testing.M) {
	code := m.Run()
	stop()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var count atomic.Int64

func registry(t *testing.T) *capability.Registry {
	t.Helper()
	reg := capability.NewRegistry()
	for _, e := range sql.All() {
		if err := reg.Add(e.Contract, e.Runner); err != nil {
			t.Fatal(err)
		}
	}
	return reg
}

// with makes inputs of names and values.
func with(pairs ...any) string {
	in := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		in[pairs[i].(string)] = pairs[i+1]
	}
	b, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	return string(b)
}

type list = []any

// perform runs a capability as the engine would: inputs that do not fit are refused first.
func perform(t *testing.T, id, dir, with string) (map[string]json.RawMessage, *capabilitytest.Host, error) {
	t.Helper()
	reg := registry(t)
	host := &capabilitytest.Host{}
	if err := reg.Check(id, json.RawMessage(with)); err != nil {
		return nil, host, err
	}
	_, run, _ := reg.Lookup(id)
	res, err := run.Run(t.Context(), capability.Call{With: json.RawMessage(with), Dir: dir, Host: host, Key: digest.Sum([]byte("k"))})
	if err == nil && res.Artifacts == nil {
		if wrong := reg.Snapshot().CheckOutputs(id, res.Outputs); wrong != nil {
			t.Errorf("%s: %v", with, wrong)
		}
	}
	return res.Outputs, host, err
}

// place is a database that a test can use; the same tests run on both kinds.
type place struct {
	t        *testing.T
	dir      string
	database string
}

func (p place) call(sql string, more ...any) capability.Call {
	return capability.Call{With: json.RawMessage(with(append([]any{"database", p.database, "sql", sql}, more...)...)), Dir: p.dir, Host: &capabilitytest.Host{}, Key: digest.Sum([]byte("k"))}
}

func (p place) exec(sql string, more ...any) map[string]json.RawMessage {
	p.t.Helper()
	out, _, err := perform(p.t, "sql.exec", p.dir, string(p.call(sql, more...).With))
	if err != nil {
		p.t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func (p place) rows(sql string, args ...any) string {
	p.t.Helper()
	out, _, err := perform(p.t, "sql.query", p.dir, string(p.call(sql, "args", append(list{}, args...)).With))
	if err != nil {
		p.t.Fatalf("%s: %v", sql, err)
	}
	return string(out["rows"])
}

func (p place) refused(id, sql string, code fault.Code, says string, more ...any) {
	p.t.Helper()
	_, _, err := perform(p.t, id, p.dir, string(p.call(sql, more...).With))
	if err == nil || fault.CodeOf(err) != code || !strings.Contains(err.Error(), says) || fault.HintOf(err) == "" || strings.Contains(err.Error(), "s3cret") {
		p.t.Errorf("%s: %v (%s; %s)", sql, err, fault.CodeOf(err), fault.HintOf(err))
	}
}

// both runs a test on an SQLite file and on PostgreSQL.
func both(t *testing.T, test func(t *testing.T, p place)) {
	t.Run("sqlite", func(t *testing.T) {
		p := place{t, t.TempDir(), "shop.db"}
		p.exec("SELECT 1", "create", true)
		test(t, p)
	})
	t.Run("postgres", func(t *testing.T) { test(t, place{t, t.TempDir(), postgres(t)}) })
}

const shop = `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customers ON DELETE CASCADE, state TEXT DEFAULT 'open', total NUMERIC(20, 2));
INSERT INTO customers VALUES (1, 'ada'), (2, 'bea''s; shop');
INSERT INTO orders (id, customer, total) VALUES (1, 1, 10.50), (2, 1, 20), (3, 2, 30);`

func TestContracts(t *testing.T) {
	for _, e := range sql.All() {
		t.Run(e.Contract.ID, func(t *testing.T) {
			capabilitytest.Run(t, registry(t), e.Contract, capabilitytest.World{
				Prepare: func(t *testing.T, dir string) { place{t, dir, "shop.db"}.exec(shop, "create", true) },
				Slow: func(*testing.T) json.RawMessage {
					return json.RawMessage(with("database", "shop.db", "sql", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"))
				},
			})
		})
	}
}

func TestExec(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		out := p.exec(shop)
		if string(out["statements"]) != "4" || string(out["affected"]) != "5" {
			t.Errorf("%s", out)
		}
		out = p.exec("UPDATE orders SET state = $1 WHERE customer = $2 RETURNING id, state", "args", list{"closed; --", 1}, "max_rows", 1)
		if string(out["affected"]) != "2" || string(out["rows"]) != `[{"id":1,"state":"closed; --"}]` || string(out["truncated"]) != "true" || string(out["count"]) != "1" {
			t.Errorf("%s", out)
		}
		if got := p.rows("SELECT count(*) AS n FROM orders WHERE state = $1", "closed; --"); got != `[{"n":2}]` {
			t.Error(got)
		}
		p.refused("sql.exec", "DELETE FROM orders; INSERT INTO customers VALUES (1, 'twice')", fault.Conflict, "statement 2 of 2")
		if got := p.rows("SELECT count(*) AS n FROM orders"); got != `[{"n":3}]` {
			t.Errorf("half of it was done: %s", got)
		}
		p.exec("CREATE TABLE t (a int); DROP TABLE t; /* ; */ -- ;\n")
	})
}

func TestOnlyReads(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		p.exec(shop)
		for _, sql := range []string{"DELETE FROM orders", "CREATE TABLE x (a int)", "UPDATE orders SET total = 0 WHERE id = 1 RETURNING id", "DROP TABLE orders"} {
			p.refused("sql.query", sql, fault.Denied, "")
		}
		if got := p.rows("SELECT sum(total) = 60.5 AS whole FROM orders"); got != `[{"whole":true}]` && got != `[{"whole":1}]` {
			t.Error(got)
		}
		for _, sql := range []string{"BEGIN", "COMMIT; SELECT 1", "SELECT 1; rollback", "/* x */ savepoint a", "END", "ATTACH 'x' AS y", "COPY orders TO STDOUT", "VACUUM"} {
			p.refused("sql.exec", sql, fault.Invalid, "transaction")
		}
		p.refused("sql.query", "SELECT 1; SELECT 2", fault.Invalid, "2 statements")
		p.refused("sql.exec", "SELECT $1; SELECT $1", fault.Invalid, "2 statements", "args", list{1})
		p.refused("sql.exec", " -- nothing\n;;", fault.Invalid, "no statement")
	})
}

func TestCaps(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		series := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT i FROM n"
		if strings.HasPrefix(p.database, "postgres") {
			series = "SELECT i FROM generate_series(1, 30000000) AS i"
		}
		out, _, err := perform(t, "sql.query", p.dir, string(p.call(series, "max_rows", 2).With))
		if err != nil || string(out["rows"]) != "[{\"i\":1},\n{\"i\":2}]" || string(out["truncated"]) != "true" || string(out["count"]) != "2" {
			t.Errorf("%s, %v", out, err)
		}
		if out, _, err := perform(t, "sql.query", p.dir, string(p.call("SELECT 1 AS a WHERE 1 = 0").With)); err != nil || string(out["rows"]) != "[]" || string(out["truncated"]) != "false" {
			t.Errorf("%s, %v", out, err)
		}
		long := strings.Repeat("x", 600000)
		reg := registry(t)
		_, run, _ := reg.Lookup("sql.query")
		call := p.call("SELECT CAST($1 AS text) AS a UNION ALL SELECT CAST($1 AS text)", "args", list{long})
		res, err := run.Run(t.Context(), call)
		b, _ := call.Host.(*capabilitytest.Host).Content("rows")
		if err != nil || len(res.Artifacts) != 1 || res.Outputs["rows"] != nil || len(b) < 1200000 || !json.Valid(b) {
			t.Errorf("%v, %v", res.Artifacts, err)
		}
		if got := p.rows("SELECT 1 AS a, 2 AS a, 3 AS a"); got != `[{"a":1,"a_2":2,"a_3":3}]` {
			t.Error(got)
		}
	})
}

func TestProbe(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		p.exec(shop)
		probe := func(more ...any) (bool, error) {
			t.Helper()
			_, done, err := sql.Exec{}.Probe(t.Context(), p.call("UPDATE orders SET state = 'closed' WHERE id = 1", more...))
			return done, err
		}
		check := []any{"check", "SELECT state = 'closed' FROM orders WHERE id = $1", "check_args", list{1}}
		if done, err := probe(check...); done || err != nil {
			t.Errorf("before: %v, %v", done, err)
		}
		p.exec("UPDATE orders SET state = 'closed' WHERE id = 1", check...)
		if done, err := probe(check...); !done || err != nil {
			t.Errorf("after: %v, %v", done, err)
		}
		if done, err := probe("check", "SELECT id FROM orders WHERE id = 99"); done || err != nil {
			t.Errorf("no row: %v, %v", done, err)
		}
		if _, err := probe(); !fault.Is(err, fault.NotFound) {
			t.Errorf("no check: %v", err)
		}
		for _, bad := range []string{"SELECT 1; SELECT 2", "COMMIT", "SELECT nonsense FROM nowhere", "DELETE FROM orders"} {
			if done, err := probe("check", bad); done || err == nil {
				t.Errorf("%s: %v", bad, err)
			}
		}
	})
}

func TestPreview(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		p.exec(shop)
		before := p.rows("SELECT * FROM orders ORDER BY id")
		pre, err := sql.Exec{}.Preview(t.Context(), p.call("UPDATE orders SET state = 'closed' WHERE id = 2; DELETE FROM orders WHERE id = 1; INSERT INTO orders (id, customer) VALUES (9, 2)",
			"watch", list{"orders", "customers"}))
		if err != nil || len(pre.Commands) != 4 || pre.Commands[3] != "-- 3 rows affected" {
			t.Fatalf("%v, %v", pre, err)
		}
		total := map[bool]string{true: `"20.00"`, false: "20"}[strings.HasPrefix(p.database, "postgres")]
		lines := strings.Split(pre.Diff, "\n")
		if len(lines) != 8 || lines[2] != "@@ 3 rows, 3 after @@" || !strings.HasPrefix(lines[3], `-{"id":1,`) ||
			lines[4] != `-{"id":2,"customer":1,"state":"open","total":`+total+`}` || lines[5] != `+{"id":2,"customer":1,"state":"closed","total":`+total+`}` || !strings.HasPrefix(lines[6], `+{"id":9,`) {
			t.Errorf("%s", pre.Diff)
		}
		if after := p.rows("SELECT * FROM orders ORDER BY id"); after != before {
			t.Errorf("the preview changed something: %s", after)
		}
		pre, err = sql.Exec{}.Preview(t.Context(), p.call("CREATE TABLE fresh (a int); INSERT INTO fresh VALUES (1), (1); DROP TABLE orders", "watch", list{"fresh", "orders"}))
		if err != nil || strings.Count(pre.Diff, `+{"a":1}`) != 2 || strings.Count(pre.Diff, "\n-{") != 3 {
			t.Errorf("%v, %v", pre, err)
		}
		if _, err := (sql.Exec{}).Preview(t.Context(), p.call("DELETE FROM nowhere")); err == nil {
			t.Error("what cannot be done was shown")
		}
		p.exec("CREATE TABLE many (a int)")
		if strings.HasPrefix(p.database, "postgres") {
			p.exec("INSERT INTO many SELECT generate_series(1, 10001)")
		} else {
			p.exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001) INSERT INTO many SELECT i FROM n")
		}
		if pre, err := (sql.Exec{}).Preview(t.Context(), p.call("DELETE FROM many", "watch", list{"many", "many WHERE a < 3"})); err != nil || strings.Count(pre.Diff, "\n-") != 2 ||
			!strings.Contains(pre.Unforeseen[0], "more than 10000 rows") {
			t.Errorf("%v, %v", pre, err)
		}
	})
}

func TestBackup(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		p.exec(shop)
		p.exec(`CREATE TABLE "Odd ""one" (a TEXT, b INTEGER GENERATED ALWAYS AS (length(a)) STORED)`)
		p.exec(`INSERT INTO "Odd ""one" (a) VALUES ($1)`, "args", list{"tab\tline\nback\\slash 'quote' 한글"})
		p.exec(`INSERT INTO "Odd ""one" (a) VALUES (NULL), ('')`)
		all := func() string {
			return p.rows("SELECT * FROM customers ORDER BY id") + p.rows("SELECT * FROM orders ORDER BY id") + p.rows(`SELECT * FROM "Odd ""one" ORDER BY a`)
		}
		before := all()
		change := `DELETE FROM customers WHERE id = 1; UPDATE customers SET name = 'other'; INSERT INTO customers VALUES (3, 'new'); INSERT INTO orders (id, customer) VALUES (7, 3);
			UPDATE orders SET total = 99 WHERE id = 3; DELETE FROM "Odd ""one" WHERE a IS NULL; UPDATE "Odd ""one" SET a = 'changed'`
		call := p.call(change, "keep", list{"customers", "orders", `"Odd ""one"`})
		backup, err := sql.Exec{}.Backup(t.Context(), call)
		if err != nil || len(backup) == 0 {
			t.Fatalf("%s, %v", backup, err)
		}
		p.exec(change)
		if all() == before {
			t.Fatal("nothing changed")
		}
		for range 2 { // a second time is the same world
			if err := (sql.Exec{}).Restore(t.Context(), call, backup); err != nil {
				t.Fatal(err)
			}
			if after := all(); after != before {
				t.Errorf("before: %s\nafter: %s", before, after)
			}
		}
	})
}

func TestBackupOfSomeRows(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		p.exec(shop)
		p.exec("UPDATE orders SET state = $1", "args", list{strings.Repeat("long ", 1000)})
		before := p.rows("SELECT * FROM orders ORDER BY id")
		call := p.call("UPDATE orders SET customer = 2, state = 'x' WHERE customer = 1", "keep", list{"orders WHERE customer = 1 -- of ada"})
		backup, err := sql.Exec{}.Backup(t.Context(), call)
		if err != nil || len(backup) > 2048 || !strings.Contains(string(backup), `"stored"`) {
			t.Fatalf("%d bytes, %v", len(backup), err)
		}
		p.exec("UPDATE orders SET customer = 2, state = 'x' WHERE customer = 1; INSERT INTO orders (id, customer) VALUES (8, 1)")
		p.exec("UPDATE customers SET name = 'kept'")
		if err := (sql.Exec{}).Restore(t.Context(), call, backup); err != nil {
			t.Fatal(err)
		}
		if after := p.rows("SELECT * FROM orders ORDER BY id"); after != before {
			t.Errorf("before: %.300s\nafter: %.300s", before, after)
		}
		if got := p.rows("SELECT DISTINCT name FROM customers"); got != `[{"name":"kept"}]` {
			t.Errorf("rows that were not named were changed: %s", got)
		}
		gone := call
		gone.Host = &capabilitytest.Host{}
		if err := (sql.Exec{}).Restore(t.Context(), gone, backup); !fault.Is(err, fault.NotFound) {
			t.Errorf("a backup that is gone: %v", err)
		}
		if err := (sql.Exec{}).Restore(t.Context(), call, json.RawMessage(`{`)); err == nil {
			t.Error("nonsense was restored")
		}
		spoiled := strings.Replace(string(backup), `"sha256":"`, `"sha256":"00`, 1)
		spoiled = strings.Replace(spoiled, `"stored":`, `"text":"(secret)","stored":`, 1)
		spoiled = spoiled[:strings.Index(spoiled, `"sha256":"`)+10] + strings.Repeat("0", 64) + spoiled[strings.Index(spoiled, `"sha256":"`)+10+66:]
		if err := (sql.Exec{}).Restore(t.Context(), call, json.RawMessage(spoiled)); !fault.Is(err, fault.Denied) {
			t.Errorf("a redacted backup: %v", err)
		}
		for _, keep := range []string{"orders; DROP TABLE orders", "orders WHERE id = 1; DROP TABLE orders", "a.b.c", "WHERE x", "orders;"} {
			if _, err := (sql.Exec{}).Backup(t.Context(), p.call("SELECT 1", "keep", list{keep})); !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: %v", keep, err)
			}
		}
		if b, err := (sql.Exec{}).Backup(t.Context(), p.call("SELECT 1")); b != nil || err != nil {
			t.Errorf("nothing to keep: %s, %v", b, err)
		}
		if _, err := (sql.Exec{}).Backup(t.Context(), p.call("SELECT 1", "keep", list{"none"})); !fault.Is(err, fault.NotFound) {
			t.Errorf("no table: %v", err)
		}
	})
}

func TestStatements(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		p.exec(shop)
		p.refused("sql.query", "SELECT\n  id FRM orders", fault.Invalid, "syntax error", "max_rows", 1)
		p.refused("sql.query", "SELECT 'é', * FROM orders WHERE ?!", fault.Invalid, "")
		p.refused("sql.query", "SELECT * FROM nowhere", fault.NotFound, "nowhere")
		p.refused("sql.query", "SELECT none FROM orders", fault.NotFound, "none")
		p.refused("sql.query", "SELECT $1", fault.Invalid, "")
		p.refused("sql.query", "SELECT $1", fault.Invalid, "", "args", list{1, 2})
		p.refused("sql.query", "SELECT $2", fault.Invalid, "", "args", list{1})
		p.refused("sql.query", "SELECT ?, :a", fault.Invalid, "")
		p.refused("sql.query", "SELECT $1", fault.Invalid, "argument $1", "args", list{map[string]any{"x": 1}})
		p.refused("sql.exec", "INSERT INTO orders (id, customer) VALUES (1, 1)", fault.Conflict, "")
		p.refused("sql.exec", "INSERT INTO orders (id, customer) VALUES (99, 99)", fault.Conflict, "")
		p.refused("sql.query", "SELECT 1", fault.Invalid, "no timeout", "timeout", "soon")
		p.refused("sql.query", "SELECT 1", fault.Invalid, "", "max_rows", -1)
		p.refused("sql.query", "SELECT '\x00'", fault.Invalid, "NUL")
		_, _, err := perform(t, "sql.query", p.dir, string(p.call("SELECT\n  id FROM orders WHERE ORDER").With))
		if err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("the place is not told: %v", err)
		}
		slow := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
		p.refused("sql.query", slow, fault.Failed, "longer than 50ms", "timeout", "50ms")
		ctx, stop := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		stop(why)
		for _, e := range sql.All() {
			if _, err := e.Runner.Run(ctx, p.call("SELECT 1")); !errors.Is(err, why) || !fault.Is(err, fault.Interrupted) {
				t.Errorf("%s when stopped: %v", e.Contract.ID, err)
			}
		}
	})
}

func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte(strings.Repeat("no database at all\n", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Skip(err)
	}
	for name, code := range map[string]fault.Code{"none.db": fault.NotFound, "../x.db": fault.Invalid, "/tmp/x.db": fault.Invalid, ".": fault.Invalid, "text": fault.Invalid, "out": fault.Denied,
		"out/x.db": fault.Denied, "mysql://u:s3cret@h/x": fault.Invalid, "postgres://u:s3cret@[::1/x": fault.Invalid} {
		place{t, dir, name}.refused("sql.query", "SELECT 1 FROM sqlite_schema", code, "")
	}
	place{t, dir, "none.db"}.refused("sql.exec", "SELECT 1", fault.NotFound, "there is no database none.db")
	place{t, dir, "none/x.db"}.refused("sql.exec", "SELECT 1", fault.NotFound, "no folder", "create", true)
	place{t, filepath.Join(dir, "gone"), "x.db"}.refused("sql.exec", "SELECT 1", fault.NotFound, "working directory")
	odd := place{t, dir, "odd ?#%20é.db"}
	odd.exec("CREATE TABLE a (b)", "create", true)
	if _, err := os.Stat(filepath.Join(dir, "odd ?#%20é.db")); err != nil {
		t.Error(err)
	}
	if b, err := (sql.Exec{}).Backup(t.Context(), place{t, dir, "fresh.db"}.call("CREATE TABLE a (b)", "create", true, "keep", list{"a"})); b != nil || err != nil {
		t.Errorf("%s, %v", b, err)
	}
}
