package sql

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/cairn-plan/cairn/internal/fault"
)

// sqlite is a connection to an SQLite file.
type sqlite struct {
	db   *sql.DB
	conn *sql.Conn
	file string // as it is shown
}

// busy is how long another writer is waited for.
const busy = "10000"

func dialSQLite(ctx context.Context, file string, m mode) (*sqlite, error) {
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/home
	}
	options := url.Values{"_pragma": {"busy_timeout(" + busy + ")", "foreign_keys(1)", "trusted_schema(0)"}, "_time_format": {"sqlite"}}
	switch m {
	case reading:
		options.Set("mode", "ro")
		options.Add("_pragma", "query_only(1)")
	case writing:
		options.Set("mode", "rw")
	case creating:
		options.Set("mode", "rwc")
	}
	s := &sqlite{file: filepath.Base(file)}
	var err error
	if s.db, err = sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+options.Encode()); err != nil {
		return nil, s.explain("", err)
	}
	if s.conn, err = s.db.Conn(ctx); err != nil {
		_ = s.db.Close()
		return nil, s.explain("", err)
	}
	return s, nil
}

func (s *sqlite) close() {
	_, _ = s.conn.ExecContext(context.Background(), "ROLLBACK") // if it is still open
	_ = s.conn.Close()
	_ = s.db.Close()
}

func (s *sqlite) begin(ctx context.Context, m mode) error {
	begin := "BEGIN IMMEDIATE"
	if m == reading {
		begin = "BEGIN"
	}
	_, err := s.conn.ExecContext(ctx, begin)
	return s.explain(begin, err)
}

func (s *sqlite) end(ctx context.Context, commit bool) error {
	end := "ROLLBACK"
	if commit {
		end = "COMMIT"
	}
	_, err := s.conn.ExecContext(ctx, end)
	return s.explain(end, err)
}

func (s *sqlite) run(ctx context.Context, text string, args []json.RawMessage, take func([]json.RawMessage) bool) (result, error) {
	if want := parameters(text); want != len(args) {
		return result{}, wrongArgs(want, len(args))
	}
	values := make([]any, len(args))
	for i, a := range args {
		var err error
		if values[i], err = toSQLite(a); err != nil {
			return result{}, fault.Wrap(fault.Invalid, err, "argument $%d does not fit", i+1).Remedy("give text, a number, true, false or null, or {\"base64\": ...}")
		}
	}
	before, err := s.changes(ctx)
	if err != nil {
		return result{}, err
	}
	rows, err := s.conn.QueryContext(ctx, text, values...)
	if err != nil {
		return result{}, s.explain(text, err)
	}
	defer func() { _ = rows.Close() }() // a second time does nothing
	res, err := s.fetch(text, rows, take)
	if err != nil {
		return res, err
	}
	after, err := s.changes(ctx)
	res.affected = after - before
	return res, err
}

func (s *sqlite) fetch(text string, rows *sql.Rows, take func([]json.RawMessage) bool) (result, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return result{}, s.explain(text, err)
	}
	var res result
	for _, t := range types {
		res.columns = append(res.columns, column{t.Name(), strings.ToLower(t.DatabaseTypeName())})
	}
	for rows.Next() {
		cells, into := make([]any, len(types)), make([]any, len(types))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return res, s.explain(text, err)
		}
		row := make([]json.RawMessage, len(cells))
		for i, v := range cells {
			row[i] = fromSQLite(v)
		}
		if take != nil && !take(row) {
			break
		}
	}
	return res, s.explain(text, errors.Join(rows.Err(), rows.Close()))
}

// changes counts the rows that were changed through this connection.
func (s *sqlite) changes(ctx context.Context) (n int64, err error) {
	err = s.conn.QueryRowContext(ctx, "SELECT total_changes()").Scan(&n)
	return n, s.explain("", err)
}

func fromSQLite(v any) json.RawMessage {
	switch v := v.(type) {
	case int64:
		return number(v)
	case float64:
		return float(v)
	case string:
		return asJSON(strings.ToValidUTF8(v, "\uFFFD"))
	case []byte:
		return asJSON(base64.StdEncoding.EncodeToString(v))
	case bool:
		return asJSON(v)
	case time.Time:
		return asJSON(v.Format(time.RFC3339Nano))
	}
	return json.RawMessage("null")
}

func toSQLite(raw json.RawMessage) (any, error) {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case map[string]any:
		return givenBytes(raw)
	case []any:
		return string(raw), nil // SQLite keeps lists as JSON text
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	default:
		return v, nil
	}
}

func (s *sqlite) shape(ctx context.Context, t table) (fields []field, err error) {
	name, schema := t.parts[len(t.parts)-1], "main"
	if len(t.parts) > 1 {
		schema = t.parts[0]
	}
	_, err = s.run(ctx, "SELECT name, pk > 0, hidden > 1 FROM pragma_table_xinfo($1, $2) WHERE hidden <> 1", []json.RawMessage{asJSON(name), asJSON(schema)},
		func(row []json.RawMessage) bool {
			var name string
			err = errors.Join(err, json.Unmarshal(row[0], &name))
			fields = append(fields, field{name, string(row[1]) == "1", string(row[2]) == "1"})
			return true
		})
	if err == nil && len(fields) == 0 {
		err = noTable(t)
	}
	return fields, err
}

// dump writes each row as the values of an INSERT: SQLite's own literals, and text in hexadecimal, so that
// neither a NUL character nor a line end can disturb it.
func (s *sqlite) dump(ctx context.Context, columns []string, from string, w io.Writer) (n int64, err error) {
	literals := make([]string, len(columns))
	for i, c := range columns {
		literals[i] = "CASE typeof(" + c + ") WHEN 'text' THEN 'CAST(x''' || hex(" + c + ") || ''' AS TEXT)' ELSE quote(" + c + ") END"
	}
	query := "SELECT " + strings.Join(literals, " || ', ' || ") + from
	rows, err := s.conn.QueryContext(ctx, query)
	if err != nil {
		return 0, s.explain(query, err)
	}
	defer func() { _ = rows.Close() }() // a second time does nothing
	for ; rows.Next(); n++ {
		var line string
		if err := rows.Scan(&line); err != nil {
			return n, s.explain(query, err)
		}
		if _, err := io.WriteString(w, line+"\n"); err != nil {
			return n, err
		}
	}
	return n, s.explain(query, errors.Join(rows.Err(), rows.Close()))
}

func (s *sqlite) load(ctx context.Context, into string, r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			if _, err := s.conn.ExecContext(ctx, "INSERT INTO temp."+into+" VALUES ("+line+")"); err != nil {
				return s.explain("", err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
