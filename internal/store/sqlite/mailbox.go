package sqlite

import (
	"context"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/journal"
)

const commandCols = "id, plan, time, actor, name, body, code, result, done"

// Post implements journal.Mailbox.
func (s *Store) Post(ctx context.Context, c journal.Command) (id int64, err error) {
	err = s.writer.do(ctx, func(db *conn) (error, error) {
		if err := db.exec("INSERT INTO command (plan, time, actor, name, body) VALUES (?,?,?,?,?)",
			c.Plan, c.Time.UnixNano(), c.Actor, c.Name, nonNil(c.Body)); err != nil {
			return nil, err
		}
		var err error
		id, err = db.number("SELECT last_insert_rowid()")
		return nil, err
	})
	return id, err
}

// Pending implements journal.Mailbox.
func (s *Store) Pending(ctx context.Context, plan string) (cs []journal.Command, err error) {
	err = s.read(ctx, "SELECT "+commandCols+" FROM command WHERE plan = ? AND done = 0 ORDER BY id", []any{plan},
		func(row []value) bool {
			cs = append(cs, commandFrom(row))
			return true
		})
	return cs, err
}

// Resolve implements journal.Mailbox. A command is resolved once; doing it again changes nothing.
func (s *Store) Resolve(ctx context.Context, id int64, code, result string) error {
	return s.writer.do(ctx, func(db *conn) (error, error) {
		known, err := db.number("SELECT count(*) FROM command WHERE id = ?", id)
		if err != nil {
			return nil, err
		}
		if known == 0 {
			return noCommand(id), nil
		}
		return nil, db.exec("UPDATE command SET code = ?, result = ?, done = 1 WHERE id = ? AND done = 0", code, result, id)
	})
}

// Result implements journal.Mailbox.
func (s *Store) Result(ctx context.Context, id int64) (journal.Command, error) {
	var c journal.Command
	err := s.read(ctx, "SELECT "+commandCols+" FROM command WHERE id = ?", []any{id}, func(row []value) bool {
		c = commandFrom(row)
		return false
	})
	if err == nil && c.ID == 0 {
		err = noCommand(id)
	}
	return c, err
}

func commandFrom(row []value) journal.Command {
	var c journal.Command
	c.ID, _ = row[0].(int64)
	c.Plan, _ = row[1].(string)
	nanos, _ := row[2].(int64)
	c.Time = time.Unix(0, nanos).UTC()
	c.Actor, _ = row[3].(string)
	c.Name, _ = row[4].(string)
	c.Body, _ = row[5].([]byte)
	c.Code, _ = row[6].(string)
	c.Result, _ = row[7].(string)
	done, _ := row[8].(int64)
	c.Done = done != 0
	return c
}

func noCommand(id int64) error {
	return fault.New(fault.NotFound, "there is no command %d", id)
}
