package sql

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/runner/sandbox"
)

const (
	defaultRows    = 1000
	defaultTimeout = time.Minute
)

// input is what the contracts' input schemas let through, and what was made of it.
type input struct {
	Database  string            `json:"database"`
	SQL       string            `json:"sql"`
	Args      []json.RawMessage `json:"args"`
	MaxRows   *int              `json:"max_rows"`
	Timeout   string            `json:"timeout"`
	Create    bool              `json:"create"`
	Check     string            `json:"check"`
	CheckArgs []json.RawMessage `json:"check_args"`
	Watch     []string          `json:"watch"`
	Keep      []string          `json:"keep"`

	wait  time.Duration
	all   []statement
	watch []table
	keep  []table
	dir   string
	env   map[string]string
	lim   capability.Limits
}

func (in input) postgres() bool {
	return strings.HasPrefix(in.Database, "postgres://") || strings.HasPrefix(in.Database, "postgresql://")
}

func parse(call capability.Call, id string) (in input, err error) {
	in = input{wait: defaultTimeout, dir: call.Dir, env: call.Env, lim: call.Limits}
	if err := json.Unmarshal(call.With, &in); err != nil {
		return in, fault.Wrap(fault.Invalid, err, "the inputs of %s are wrong", id).Remedy("see what it takes with: cairn capability show %s", id)
	}
	if in.MaxRows == nil || *in.MaxRows < 0 {
		rows := defaultRows
		in.MaxRows = &rows
	}
	if in.Timeout != "" {
		if in.wait, err = time.ParseDuration(in.Timeout); err != nil || in.wait <= 0 {
			return in, fault.New(fault.Invalid, "%q is no timeout", in.Timeout).Remedy("write it like 500ms, 10s or 2m")
		}
	}
	if !in.postgres() && strings.Contains(in.Database, "://") {
		return in, fault.New(fault.Invalid, "%s is no database that can be spoken to", clean(in.Database)).
			Remedy("write postgres://user@host/name, or the path of an SQLite file")
	}
	if in.all, err = statements(in.SQL, in.postgres()); err != nil {
		return in, err
	}
	if len(in.all) > 1 && (id == queryID || len(in.Args) > 0) {
		return in, fault.New(fault.Invalid, "there are %d statements, and only one may be here", len(in.all)).
			Remedy("a query is one statement, and so is what takes args: make a task of each")
	}
	if in.watch, err = tables(in.Watch, in.postgres()); err != nil {
		return in, err
	}
	in.keep, err = tables(in.Keep, in.postgres())
	return in, err
}

// clean is an address of a database without what may be secret in it.
func clean(s string) string {
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host + u.Path
	}
	if at := strings.LastIndex(s, "@"); at >= 0 {
		return "..." + s[at:]
	}
	return s
}

// mode is how a database is opened.
type mode int

const (
	reading  mode = iota // the database refuses to be changed
	writing              // it must be there
	creating             // an SQLite file is made
)

// link is a connection to a database. It has at most one transaction, and belongs to one goroutine.
type link interface {
	// begin opens the transaction.
	begin(ctx context.Context, m mode) error
	// run runs one statement; its rows go to take until that answers false.
	run(ctx context.Context, sql string, args []json.RawMessage, take func([]json.RawMessage) bool) (result, error)
	// end closes the transaction, to keep what was done in it or not.
	end(ctx context.Context, commit bool) error
	// shape tells the columns of a table.
	shape(ctx context.Context, t table) ([]field, error)
	vault
	close()
}

// result is what a statement gave beside its rows.
type result struct {
	columns  []column
	affected int64
}

type column struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// field is a column of a table.
type field struct {
	name      string
	key       bool // of the primary key
	generated bool
}

// open connects as a call asks for it.
func open(ctx context.Context, in input, m mode) (link, error) {
	if in.postgres() {
		return dialPostgres(ctx, in)
	}
	file, err := in.file(m)
	if err != nil {
		return nil, err
	}
	return dialSQLite(ctx, file, m)
}

// file finds an SQLite file inside the task's directory. Links that lead out are not followed.
func (in input) file(m mode) (string, error) {
	name := filepath.Clean(filepath.FromSlash(in.Database))
	if !filepath.IsLocal(name) || name == "." || strings.ContainsRune(name, 0) {
		return "", fault.New(fault.Invalid, "%q is no path inside the task's directory", in.Database).
			Remedy("give a path from there, without a leading / and without ..")
	}
	root, err := os.OpenRoot(in.dir)
	if err != nil {
		return "", fault.Wrap(fault.NotFound, err, "the working directory %s cannot be opened", in.dir).Remedy("create it first, or name another in dir")
	}
	defer func() { _ = root.Close() }() // it was only looked through
	switch st, err := root.Stat(name); {
	case err == nil && !st.Mode().IsRegular():
		return "", fault.New(fault.Invalid, "%s is no ordinary file", in.Database).Remedy("name the file of an SQLite database")
	case errors.Is(err, fs.ErrNotExist) && m == creating:
		if _, err := root.Stat(filepath.Dir(name)); err != nil {
			return "", fault.Wrap(fault.NotFound, err, "there is no folder for %s", in.Database).Remedy("make it in an earlier task")
		}
	case errors.Is(err, fs.ErrNotExist):
		return "", fault.New(fault.NotFound, "there is no database %s", in.Database).Remedy("check the path, or have sql.exec make it with create: true")
	case err != nil:
		return "", fault.Wrap(fault.Denied, err, "%s cannot be used", in.Database).Remedy("links are followed inside the task's directory only; check its permissions too")
	}
	path := filepath.Join(in.dir, name)
	if m != reading {
		if err := sandbox.MayWrite(in.lim, path); err != nil {
			return "", err
		}
	}
	return path, nil
}
