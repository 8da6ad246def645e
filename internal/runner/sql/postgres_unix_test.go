//go:build unix

package sql_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/sql"
)

func TestPostgresValues(t *testing.T) {
	p := place{t, t.TempDir(), postgres(t)}
	for expr, want := range map[string]string{
		"true": "true", "NULL::int": "null", "1::smallint": "1", "9007199254740993::bigint": `"9007199254740993"`, "(-5)::bigint": "-5", "1.10::numeric": `"1.10"`, "1e30::float8": "1e+30",
		"'NaN'::float8": `"NaN"`, "'-Infinity'::float4": `"-Infinity"`, "0.1::float8": "0.1", "'\\x00ff'::bytea": `"AP8="`, `'{"a": [1, 12345678901234567890]}'::jsonb`: `{"a":[1,12345678901234567890]}`,
		`'{"b":  1}'::json`: `{"b":1}`, "'2026-01-02 03:04:05.123+02'::timestamptz": `"2026-01-02T01:04:05.123Z"`, "'2026-01-02 03:04:05'::timestamp": `"2026-01-02T03:04:05"`,
		"'infinity'::timestamptz": `"infinity"`, "'2026-01-02'::date": `"2026-01-02"`, "'1 day 2 hours'::interval": `"P1DT2H"`, "'0193c8a0-0000-7000-8000-000000000000'::uuid": `"0193c8a0-0000-7000-8000-000000000000"`,
		"ARRAY[1, NULL, 3]": "[1,null,3]", "ARRAY[['a', 'b,\"c'], ['', 'null']]": `[["a","b,\"c"],["","null"]]`, "'{}'::int[]": "[]", "ARRAY[9007199254740993]": `["9007199254740993"]`, "'[1,5)'::int4range": `"[1,5)"`,
		"'1.2.3.4/32'::inet": `"1.2.3.4"`, "ROW(1, 'a')": `"(1,a)"`, "'한'::text": `"한"`,
	} {
		if got := p.rows("SELECT " + expr + " AS a"); got != `[{"a":`+want+`}]` {
			t.Errorf("%s is %s, want %s", expr, got, want)
		}
	}
	for _, c := range []struct {
		typ  string
		arg  any
		want string
	}{
		{"int", 5, "5"}, {"bigint", json.Number("9007199254740993"), `"9007199254740993"`}, {"numeric", "1.10", `"1.10"`}, {"numeric", 2.5, `"2.5"`}, {"text", "a'; DROP", `"a'; DROP"`}, {"text", 5, `"5"`},
		{"boolean", true, "true"}, {"bytea", map[string]any{"base64": "AP8="}, `"AP8="`}, {"int[]", list{1, nil, 3}, "[1,null,3]"}, {"text[]", list{list{`a"\`, "b"}, list{"", "{}"}}, `[["a\"\\","b"],["","{}"]]`},
		{"jsonb", map[string]any{"a": list{1}}, `{"a":[1]}`}, {"jsonb", list{1, "x"}, `[1,"x"]`}, {"jsonb", "x", `"x"`}, {"timestamptz", "2026-01-02T03:04:05Z", `"2026-01-02T03:04:05Z"`}, {"int", nil, "null"},
	} {
		if got := p.rows("SELECT $1::"+c.typ+" AS a", c.arg); got != `[{"a":`+c.want+`}]` {
			t.Errorf("%s %v: %s", c.typ, c.arg, got)
		}
	}
	out, _, err := perform(t, "sql.query", p.dir, with("database", p.database, "sql", "SELECT 1 AS i, 'x'::text AS t, ARRAY[1] AS l, '(1,2)'::point AS p, ROW(1) AS r"))
	if err != nil || string(out["columns"]) != `[{"name":"i","type":"int4"},{"name":"t","type":"text"},{"name":"l","type":"array of int4"},{"name":"p","type":"point"},{"name":"r","type":"record"}]` {
		t.Errorf("%s, %v", out, err)
	}
	p.refused("sql.query", "SELECT $1::int", fault.Invalid, "invalid input syntax", "args", list{"x"})
	p.refused("sql.query", "SELECT $1::text", fault.Invalid, "NUL", "args", list{"a\x00"})
	p.refused("sql.query", "SELECT $1::bytea[]", fault.Invalid, "base64", "args", list{list{map[string]any{}}})
	p.refused("sql.query", "SELECT nosuch(1)", fault.Invalid, "nosuch")
	p.refused("sql.query", "SELECT 1/0", fault.Invalid, "division by zero")
}

func TestPostgresConnections(t *testing.T) {
	good := postgres(t)
	p := place{t, t.TempDir(), good}
	u, err := url.Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	at := func(change func(*url.URL)) place {
		c := *u
		change(&c)
		return place{t, p.dir, c.String()}
	}
	at(func(u *url.URL) { u.User = url.UserPassword("cairn", "wrong-s3cret") }).refused("sql.query", "SELECT 1", fault.Denied, "does not let cairn in")
	t.Setenv("PGPASSWORD", password)
	bare := at(func(u *url.URL) { u.User = url.User("cairn") })
	bare.refused("sql.query", "SELECT 1", fault.Denied, "does not let cairn in") // the engine's own environment does not count
	call := bare.call("SELECT 1")
	call.Env = map[string]string{"PGPASSWORD": password}
	if _, err := sql.Query(t.Context(), call); err != nil {
		t.Errorf("a password that the plan declares: %v", err)
	}
	at(func(u *url.URL) { u.Path = "/none" }).refused("sql.query", "SELECT 1", fault.NotFound, "there is no database")
	at(func(u *url.URL) { u.RawQuery = "sslmode=require" }).refused("sql.query", "SELECT 1", fault.Failed, "")
	gone, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := gone.Addr().String()
	_ = gone.Close()
	at(func(u *url.URL) { u.Host = port }).refused("sql.exec", "SELECT 1", fault.Failed, "no database listens at "+port)
	socket := place{t, p.dir, fmt.Sprintf("postgres:///postgres?host=%s&port=%d&user=cairn", server.dir, server.port)}
	if got := socket.rows("SELECT current_setting('transaction_read_only') AS ro, current_setting('application_name') AS who"); got != `[{"ro":"on","who":"cairn"}]` {
		t.Error(got)
	}
	place{t, p.dir, "postgres:///x?host=" + t.TempDir()}.refused("sql.query", "SELECT 1", fault.Failed, "no database listens")
	psql(t, "postgres", "CREATE ROLE weak LOGIN PASSWORD 's3cret2'")
	p.exec("CREATE TABLE own (a int)")
	weak := at(func(u *url.URL) { u.User = url.UserPassword("weak", "s3cret2") })
	weak.refused("sql.query", "SELECT * FROM own", fault.Denied, "permission denied")
	weak.refused("sql.exec", "SELECT pg_sleep(60)", fault.Failed, "longer than 100ms", "timeout", "100ms")
}

func TestPostgresBreaks(t *testing.T) {
	p := place{t, t.TempDir(), postgres(t)}
	p.exec("CREATE TABLE t (a int PRIMARY KEY, b text)")
	p.refused("sql.exec", "SELECT pg_terminate_backend(pg_backend_pid())", fault.Failed, "terminat")
	p.refused("sql.exec", "CREATE DATABASE x", fault.Invalid, "transaction block")
	p.refused("sql.exec", "INSERT INTO t VALUES (1, repeat('x', 10)); SELECT a FROM t WHERE b = 1", fault.Invalid, "statement 2 of 2")
	p.exec(`CREATE FUNCTION twice(x int) RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT x; SELECT x * 2; END; INSERT INTO t VALUES (twice(4), $$a;b$$), (5, E'\';')`)
	if got := p.rows("SELECT * FROM t WHERE a = 8 -- ; $$"); got != `[{"a":8,"b":"a;b"}]` {
		t.Error(got)
	}
	p.exec("DO $do$ BEGIN PERFORM 1; UPDATE t SET b = 'x;y'; END $do$")
	if got := p.rows("SELECT count(*) AS n FROM t WHERE b = 'x;y' /* /* ; */ ; */"); got != `[{"n":2}]` {
		t.Error(got)
	}

	// A call that is stopped while it runs is over at the server too.
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	ended := make(chan error, 1)
	go func() {
		_, err := sql.Exec{}.Run(ctx, p.call("SELECT pg_advisory_lock(42), pg_sleep(600)"))
		ended <- err
	}()
	name := p.database[strings.LastIndex(p.database, "/")+1:]
	for psql(t, name, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND granted") != "1" {
	}
	cancel(why)
	if err := <-ended; !errors.Is(err, why) || !fault.Is(err, fault.Interrupted) {
		t.Errorf("%v", err)
	}
	for psql(t, name, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 42") != "0" {
	}
}

func TestPostgresIdentityColumns(t *testing.T) {
	p := place{t, t.TempDir(), postgres(t)}
	p.exec(`CREATE SCHEMA "Own"; CREATE TABLE "Own".t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a text, l int[], j jsonb, at timestamptz);
		INSERT INTO "Own".t (a, l, j, at) VALUES ('x', '{1,2}', '{"k": 1}', '2026-01-02 03:04:05.678901+00'), (NULL, NULL, NULL, 'infinity')`)
	before := p.rows(`SELECT * FROM "Own".t ORDER BY id`)
	call := p.call(`DELETE FROM "Own".t`, "keep", list{`"Own".T`})
	backup, err := sql.Exec{}.Backup(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	p.exec(`DELETE FROM "Own".t`)
	if err := (sql.Exec{}).Restore(t.Context(), call, backup); err != nil {
		t.Fatal(err)
	}
	if after := p.rows(`SELECT * FROM "Own".t ORDER BY id`); after != before {
		t.Errorf("%s\n%s", before, after)
	}
	p.exec(`CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent); INSERT INTO parent VALUES (1); INSERT INTO child VALUES (1, 1)`)
	call = p.call("SELECT 1", "keep", list{"child"})
	if backup, err = (sql.Exec{}).Backup(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	p.exec("DELETE FROM child; DELETE FROM parent")
	if err := (sql.Exec{}).Restore(t.Context(), call, backup); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "foreign key") {
		t.Errorf("a child without its parent: %v", err)
	}
}
