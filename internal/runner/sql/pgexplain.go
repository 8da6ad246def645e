package sql

import (
	"errors"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cairn-plan/cairn/internal/fault"
)

// unreachable says why there is no connection. What the driver says is not repeated: it knows the password.
func unreachable(name string, config *pgconn.Config, err error) error {
	var said *pgconn.PgError
	var dns *net.DNSError
	var wait net.Error
	var path *net.OpError
	switch {
	case errors.As(err, &said) && (said.Code == "28P01" || said.Code == "28000"):
		return fault.New(fault.Denied, "the database %s does not let %s in: wrong password, or not allowed", name, config.User).
			Remedy(`give the password by ${secret:NAME} in database, and check what pg_hba.conf allows`)
	case errors.As(err, &said) && said.Code == "3D000":
		return fault.New(fault.NotFound, "there is no database %s", name).Remedy("create it: createdb %s", config.Database)
	case errors.As(err, &said) && said.Code == "53300":
		return fault.New(fault.Failed, "the database %s has no connection left", name).Remedy("close some, or raise max_connections; then resume")
	case errors.As(err, &said) && strings.HasPrefix(said.Code, "57P"):
		return fault.New(fault.Failed, "the database %s is starting or stopping: %s", name, said.Message).Remedy("try again in a moment")
	case errors.As(err, &said):
		return fault.New(fault.Failed, "the database %s refused the connection: %s (%s)", name, said.Message, said.Code)
	case errors.As(err, &dns):
		return fault.New(fault.Failed, "the name %s of the database cannot be resolved", config.Host).Remedy("check the name, and the network")
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT), strings.Contains(err.Error(), "refused"):
		return fault.New(fault.Failed, "no database listens at %s", place(config)).Remedy("start it, or correct the address and the port")
	case errors.As(err, &wait) && wait.Timeout():
		return fault.New(fault.Failed, "the database at %s does not answer", place(config)).Remedy("check the address and the network; a firewall may drop the packets")
	case strings.Contains(err.Error(), "tls"), strings.Contains(err.Error(), "certificate"):
		return fault.New(fault.Failed, "no safe connection to the database at %s", place(config)).Remedy("check its certificate, and sslmode in the address")
	case errors.As(err, &path):
		return fault.New(fault.Failed, "the database at %s cannot be reached: %v", place(config), path.Err).Remedy("check the address and the network")
	}
	return fault.New(fault.Failed, "the database at %s cannot be reached", place(config)).Remedy("check that PostgreSQL listens there")
}

func place(config *pgconn.Config) string {
	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	return strings.TrimPrefix(network+":"+address, "tcp:")
}

// remedies are by the server's code, or its class.
var remedies = map[string]struct {
	code   fault.Code
	remedy string
}{
	"25006": {fault.Denied, "a query may not change anything: use sql.exec"},
	"42601": {fault.Invalid, "correct the statement"},
	"42P01": {fault.NotFound, "check the table's name and its schema"},
	"42703": {fault.NotFound, "check the column's name"},
	"42883": {fault.Invalid, "check the function's name and the types of its arguments; a cast such as $1::int may help"},
	"42501": {fault.Denied, "the user of the connection may not: GRANT it, or connect as another"},
	"57014": {fault.Failed, "it took longer than timeout: raise it, or see what the statement waits for"},
	"40001": {fault.Failed, "others changed the same rows: try again, with retry"},
	"40P01": {fault.Failed, "it and others waited for each other: try again, with retry"},
	"55P03": {fault.Failed, "others hold a lock: try again, with retry"},
	"25001": {fault.Invalid, "it cannot run inside a transaction: run it with psql in a shell task"},
	"22":    {fault.Invalid, "a value does not fit: check args and what the column takes"},
	"23":    {fault.Conflict, "the data forbids it: correct the values, or the rows they refer to"},
	"42":    {fault.Invalid, "correct the statement"},
	"53":    {fault.Failed, "the server has too little room: free some, then resume"},
	"57":    {fault.Failed, "the server was stopped: try again when it is back"},
}

// explain says what the server did not like, and where in the statement.
func (p *postgres) explain(sql string, err error) error {
	if err == nil {
		return nil
	}
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		return fault.Wrap(fault.Failed, err, "the connection to %s broke", p.name).Remedy("check that PostgreSQL runs, and see its log")
	}
	what := said.Message
	if said.Position > 0 {
		what += at(sql, int(said.Position))
	}
	if said.Detail != "" {
		what += ": " + said.Detail
	}
	for _, key := range []string{said.Code, said.Code[:min(2, len(said.Code))]} {
		if r, ok := remedies[key]; ok {
			return fault.New(r.code, "%s (%s)", what, said.Code).Remedy("%s", r.remedy)
		}
	}
	return fault.New(fault.Failed, "%s (%s)", what, said.Code).Remedy("look the code up in the manual of PostgreSQL, Error Codes")
}
