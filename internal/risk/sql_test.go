package risk_test

import (
	"testing"

	"github.com/cairn-plan/cairn/internal/risk"
)

var statements = []struct{ text, want string }{
	{"DROP TABLE users", "sql-drop-table critical"},
	{"drop table if exists users cascade;", "sql-drop-table critical"},
	{"DROP DATABASE prod", "sql-drop-database dangerous"},
	{"DROP SCHEMA public CASCADE", "sql-drop-schema dangerous"},
	{"DROP INDEX i", "sql-drop-object moderate"},
	{"DROP ROLE ann", "sql-drop-user critical"},
	{"TRUNCATE t", "sql-truncate critical"},
	{"TRUNCATE TABLE t RESTART IDENTITY", "sql-truncate critical"},
	{"DELETE FROM t", "sql-delete-all critical"},
	{"DELETE FROM t;", "sql-delete-all critical"},
	{"DELETE FROM t WHERE 1=1", "sql-delete-all critical"},
	{"DELETE FROM t WHERE true", "sql-delete-all critical"},
	{"DELETE FROM t WHERE 'a' = 'a'", "sql-delete-all critical"},
	{"DELETE FROM t WHERE id=1", "sql-delete moderate"},
	{"DELETE FROM t WHERE 1=1 AND id=2", "sql-delete moderate"},
	{"DELETE FROM t WHERE id IN (SELECT id FROM u)", "sql-delete moderate"},
	{"DELETE FROM t USING (SELECT 1 WHERE true) u", "sql-delete-all critical"},
	{"DELETE FROM t -- WHERE id=1", "sql-delete-all critical"},
	{"DELETE FROM t /* WHERE id=1 */", "sql-delete-all critical"},
	{"DELETE FROM t RETURNING 'WHERE'", "sql-delete-all critical"},
	{"UPDATE t SET a=1", "sql-update-all critical"},
	{"UPDATE t SET a=(SELECT 1 WHERE true)", "sql-update-all critical"},
	{"UPDATE t SET a=1 WHERE id=2", "sql-update moderate"},
	{"WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d", "sql-delete-all critical"},
	{"WITH x AS (SELECT 1) DELETE FROM t", "sql-delete-all critical"},
	{"WITH x AS (SELECT 1) UPDATE t SET a=1 WHERE b=2", "sql-update moderate"},
	{"EXPLAIN ANALYZE DELETE FROM t", "sql-delete-all critical"},
	{"EXPLAIN (ANALYZE, BUFFERS) DELETE FROM t", "sql-delete-all critical"},
	{"ALTER TABLE t DROP COLUMN a", "sql-alter-drop critical"},
	{"ALTER TABLE t DROP a", "sql-alter-drop critical"},
	{"ALTER TABLE t ALTER COLUMN a TYPE int", "sql-alter-type critical"},
	{"ALTER TABLE t ADD COLUMN a int", "sql-alter moderate"},
	{"ALTER TABLE t ALTER a DROP NOT NULL", "sql-alter moderate"},
	{"GRANT ALL ON t TO PUBLIC", "sql-grant critical"},
	{"CREATE USER ann", "sql-grant critical"},
	{"COPY t TO PROGRAM 'rm -rf /'", "sql-program dangerous"},
	{"EXEC xp_cmdshell 'dir'", "sql-program dangerous"},
	{"SELECT * FROM t INTO OUTFILE '/tmp/x'", "sql-export critical"},
	{"BEGIN; DELETE FROM t; COMMIT", "sql-delete-all critical"},
	{"BEGIN DELETE FROM t; END", "sql-delete-all critical"},
	{"DO $$ BEGIN DROP TABLE t; END $$", "sql-drop-table critical"},
	{"DO $a$ BEGIN EXECUTE 'DROP TABLE t'; END $a$", "sql-drop-table critical"},
	{"EXECUTE 'TRUNCATE t'", "sql-truncate critical"},
	{"/*!50000 DROP TABLE t */", "sql-drop-table critical"},
	{"/* a /* b */ c */ DROP TABLE t", "sql-drop-table critical"},
	{"SELECT 1; DROP TABLE a; DROP TABLE b", "sql-drop-table critical, sql-drop-table critical"},
	{"SHUTDOWN", "sql-shutdown dangerous"},
	{"DELETE FROM \"where\"", "sql-delete-all critical"},
	{"DELETE FROM t WHERE name = 'it''s; DROP TABLE t'", "sql-delete moderate"},

	{"", ""}, {";;", ""}, {"SELECT 1", ""}, {"SELECT 'DROP TABLE t'", ""}, {"SELECT \"drop table\" FROM t", ""}, {"-- DROP TABLE t", ""},
	{"/* DROP TABLE t */ SELECT 1", ""}, {"SELECT $$DROP TABLE t$$", ""}, {"INSERT INTO t VALUES ('DELETE FROM t')", ""},
	{"INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET a=1", ""}, {"SELECT * FROM t FOR UPDATE", ""},
	{"CREATE TABLE t (a int REFERENCES u ON DELETE CASCADE)", ""}, {"CREATE INDEX drop_me ON t(a)", ""}, {"EXPLAIN DELETE FROM t", ""},
	{"CREATE TRIGGER x AFTER DELETE ON t BEGIN DELETE FROM u; DELETE FROM v; END; SELECT 1", ""},
	{"CREATE FUNCTION f() RETURNS void AS $$ DELETE FROM t $$ LANGUAGE sql", ""}, {"SELECT update FROM delete", ""}, {"SELECT E'\\'; DROP TABLE t'", ""},
	{"SHOW TABLES", ""}, {"VACUUM", ""}, {"SELECT $1, a$b", ""}, {"SELECT 'unclosed; DROP TABLE t", ""}, {"SELECT /* unclosed; DROP TABLE t", ""},
}

func TestSQL(t *testing.T) {
	for _, c := range statements {
		if got := told(risk.SQL(c.text)); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestSQLPointsIntoTheText(t *testing.T) {
	text := "SELECT 1;\n  DROP TABLE users ; SELECT 2"
	got := risk.SQL(text)
	if len(got) != 1 || got[0].At != 12 || got[0].Text != "DROP TABLE users" {
		t.Errorf("%+v", got)
	}
}

func TestHTTP(t *testing.T) {
	for _, c := range []struct{ method, url, want string }{
		{"GET", "https://x.io/a", ""}, {"", "https://x.io/a", ""}, {"head", "https://x.io/delete", ""}, {"GET", "", ""}, {"GET", "::::", ""},
		{"DELETE", "https://x.io/a/1", "http-delete critical"}, {"delete", "https://x.io/a/1", "http-delete critical"},
		{"POST", "https://x.io/a", "http-write moderate"}, {"PUT", "https://x.io/a", "http-write moderate"}, {"PATCH", "http://127.0.0.1:80/a", "http-write moderate"},
		{"POST", "https://x.io/users/1/delete", "http-delete critical"}, {"POST", "https://x.io/v1/payments?x=1", "http-pay critical"},
		{"POST", "https://api.stripe.com/v1/charges", "http-pay dangerous"}, {"POST", "https://api-m.sandbox.paypal.com/v1/payments/payouts", "http-pay dangerous"},
		{"POST", "https://hooks.slack.com/services/T/B/x", "http-send critical"}, {"POST", "https://api.sendgrid.com/v3/mail/send", "http-send critical"},
		{"PUT", "https://api.github.com/repos/a/b/pulls/1/merge", "http-release critical"}, {"POST", "https://notstripe.com/v1/charge", "http-pay critical"},
		{"GET", "http://169.254.169.254/latest/meta-data/", "http-metadata critical"}, {"GET", "https://ann:secret@x.io/", "http-password moderate"},
		{"GET", "https://ann@x.io/", ""}, {"GET", "https://ann:$PASS@x.io/", ""}, {"POST", "http://[::1]:80/x", "http-write moderate"},
	} {
		if got := told(risk.HTTP(c.method, c.url)); got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.method, c.url, got, c.want)
		}
	}
}
