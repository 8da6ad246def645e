package sql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
)

// patience is how long the other side is given to take leave.
const patience = 5 * time.Second

// postgres is a connection to PostgreSQL. Values go and come as text: the server's own spelling loses
// nothing, whatever their type.
type postgres struct {
	conn *pgconn.PgConn
	name string // of the database, fit to be shown
}

func dialPostgres(ctx context.Context, in input) (*postgres, error) {
	name := clean(in.Database)
	u, err := url.Parse(in.Database)
	var config *pgconn.Config
	if err == nil {
		config, err = pgconn.ParseConfig(in.Database)
	}
	if err != nil { // its message repeats the address
		return nil, fault.New(fault.Invalid, "the address of the database cannot be read").Remedy("write it as postgres://user:password@host:5432/name; escape what is special in the password")
	}
	if err := reach(in.lim, config); err != nil {
		return nil, err
	}
	// Only what the plan names counts, not what happens to be in the environment or in ~/.pgpass.
	password, _ := u.User.Password()
	if password == "" {
		if password = u.Query().Get("password"); password == "" {
			password = in.env["PGPASSWORD"]
		}
	}
	config.Password = password
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 15 * time.Second
	}
	for k, v := range map[string]string{"application_name": "cairn", "datestyle": "ISO, YMD", "timezone": "UTC", "intervalstyle": "iso_8601", "bytea_output": "hex",
		"client_encoding": "UTF8", "statement_timeout": strconv.FormatInt(max(1, in.wait.Milliseconds()), 10)} {
		config.RuntimeParams[k] = v
	}
	config.OnNotice = func(*pgconn.PgConn, *pgconn.Notice) {}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, unreachable(name, config, err)
	}
	return &postgres{conn, name}, nil
}

func (p *postgres) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = p.conn.Close(ctx) // a transaction that is open is rolled back by it
	select {
	case <-p.conn.CleanupDone():
	case <-ctx.Done():
	}
}

func (p *postgres) begin(ctx context.Context, m mode) error {
	sql := "BEGIN"
	if m == reading {
		sql = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	}
	return p.plain(ctx, sql)
}

func (p *postgres) plain(ctx context.Context, sql string) error {
	_, err := p.conn.Exec(ctx, sql).ReadAll()
	return p.explain(sql, err)
}

func (p *postgres) end(ctx context.Context, commit bool) error {
	if !commit {
		return p.plain(ctx, "ROLLBACK")
	}
	if p.conn.TxStatus() != 'T' {
		return fault.New(fault.Failed, "the transaction was over before its time, and nothing can be said of what was done").Remedy("look at the database")
	}
	_, err := p.conn.Exec(ctx, "COMMIT").ReadAll()
	var said *pgconn.PgError
	if err != nil && !errors.As(err, &said) {
		return fault.Wrap(fault.Failed, err, "the connection broke at the commit, so the change may have been made or not").
			Remedy("look at the database before you resume; a check in the plan can tell by itself")
	}
	return p.explain("COMMIT", err)
}

func (p *postgres) run(ctx context.Context, sql string, args []json.RawMessage, take func([]json.RawMessage) bool) (result, error) {
	desc, err := p.conn.Prepare(ctx, "", sql, nil)
	if err != nil {
		return result{}, p.explain(sql, err)
	}
	if len(desc.ParamOIDs) != len(args) {
		return result{}, wrongArgs(len(desc.ParamOIDs), len(args))
	}
	values := make([][]byte, len(args))
	for i, a := range args {
		if values[i], err = toPostgres(a, desc.ParamOIDs[i]); err != nil {
			return result{}, fault.Wrap(fault.Invalid, err, "argument $%d does not fit", i+1).Remedy("see what the column takes")
		}
	}
	res := result{columns: make([]column, len(desc.Fields))}
	for i, f := range desc.Fields {
		res.columns[i] = column{f.Name, typeName(f.DataTypeOID)}
	}
	rows := p.conn.ExecPrepared(ctx, "", values, nil, nil)
	for rows.NextRow() {
		row := make([]json.RawMessage, len(desc.Fields))
		for i, v := range rows.Values() {
			row[i] = fromPostgres(v, desc.Fields[i].DataTypeOID)
		}
		if take != nil && !take(row) {
			// What is left is not wanted: the server is told, and its complaint about that is no news.
			_ = p.conn.CancelRequest(ctx)
			_, _ = rows.Close()
			return res, nil
		}
	}
	tag, err := rows.Close()
	if err != nil {
		return res, p.explain(sql, err)
	}
	if !tag.Select() {
		res.affected = tag.RowsAffected()
	}
	return res, nil
}

// reach refuses a server that the policy does not let be reached. A socket is one of this machine.
func reach(l capability.Limits, config *pgconn.Config) error {
	at := func(host string, port uint16) error {
		if strings.HasPrefix(host, "/") {
			host = "localhost"
		}
		return l.Reach(net.JoinHostPort(host, strconv.Itoa(int(port))))
	}
	err := at(config.Host, config.Port)
	for _, f := range config.Fallbacks {
		if err == nil {
			err = at(f.Host, f.Port)
		}
	}
	return err
}

func wrongArgs(want, got int) error {
	return fault.New(fault.Invalid, "the statement has %d parameters, and %d args were given", want, got).Remedy("give one value for each of $1, $2, ...")
}

func (p *postgres) shape(ctx context.Context, t table) (fields []field, err error) {
	_, err = p.run(ctx, `SELECT a.attname, a.attgenerated <> '', i.indrelid IS NOT NULL
FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_index i ON i.indrelid = a.attrelid AND i.indisprimary AND a.attnum = ANY (i.indkey)
WHERE a.attrelid = pg_catalog.to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
		[]json.RawMessage{asJSON(t.quoted())}, func(row []json.RawMessage) bool {
			var name string
			err = errors.Join(err, json.Unmarshal(row[0], &name))
			fields = append(fields, field{name, string(row[2]) == "true", string(row[1]) == "true"})
			return true
		})
	if err == nil && len(fields) == 0 {
		err = noTable(t)
	}
	return fields, err
}

func noTable(t table) error {
	return fault.New(fault.NotFound, "there is no table %s", t.quoted()).Remedy("check its name and its schema; \"quote\" what has capitals")
}

func (p *postgres) dump(ctx context.Context, columns []string, from string, w io.Writer) (int64, error) {
	query := "SELECT " + strings.Join(columns, ", ") + from
	tag, err := p.conn.CopyTo(ctx, w, "COPY ("+query+") TO STDOUT")
	return tag.RowsAffected(), p.explain(query, err)
}

func (p *postgres) load(ctx context.Context, into string, r io.Reader) error {
	sql := fmt.Sprintf("COPY %s FROM STDIN", into)
	_, err := p.conn.CopyFrom(ctx, r, sql)
	return p.explain(sql, err)
}
