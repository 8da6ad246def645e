package risk

import (
	"slices"
	"strings"
)

const (
	migrated = "changes the shape of a database"
	undone   = "takes changes of a database back, with the data in them"
	emptied  = "deletes everything in a database"
)

// Rows about databases and the tools that migrate them.
var databaseRules = []rule{
	{verdict{"db-drop", Deletion, Dangerous, "deletes a whole database"}, "dropdb", "*", "", "", nil},
	{verdict{"db-drop", Deletion, Dangerous, "deletes a whole database"}, "mysqladmin mariadb-admin", "", "", "", anyOperand("drop")},
	{verdict{"db-user-drop", Deletion, Critical, "deletes a user of a database"}, "dropuser", "*", "", "", nil},
	{verdict{"db-restore", Deletion, Critical, "replaces what a database holds"}, "pg_restore", "", "-c --clean", "-l --list", nil},
	{verdict{"db-restore", Deletion, Critical, "replaces what a database holds"}, "mongorestore", "", "--drop", "", nil},
	{verdict{"db-load", Migration, Moderate, "loads data into a database"}, "pg_restore mongorestore mongoimport", "", "", "-l --list", func(c call) bool {
		return c.name != "pg_restore" || c.flag("-d", "--dbname")
	}},
	{verdict{"db-reset", Deletion, Dangerous, emptied}, "pg_resetwal", "", "", "-n", nil},

	{verdict{"migrate-drop", Deletion, Dangerous, emptied}, "migrate", "drop", "", "", nil},
	{verdict{"migrate-down", Migration, Critical, undone}, "migrate goose dbmate", "down|down-to|reset|redo|rollback|force|goto", "", "", nil},
	{verdict{"migrate-drop", Deletion, Dangerous, emptied}, "dbmate", "drop", "", "", nil},
	{verdict{"migrate", Migration, Critical, migrated}, "migrate dbmate", "up|migrate|load", "", "", nil},
	{verdict{"migrate", Migration, Critical, migrated}, "goose", "", "", "", anyOperand("up up-by-one up-to")},
	{verdict{"migrate-down", Migration, Critical, undone}, "goose", "", "", "", anyOperand("down down-to reset redo")},
	{verdict{"migrate-down", Migration, Critical, undone}, "alembic", "downgrade", "", "--sql", nil},
	{verdict{"migrate", Migration, Critical, migrated}, "alembic", "upgrade|stamp", "", "--sql", nil},
	{verdict{"migrate", Migration, Critical, migrated}, "flask", "db upgrade|downgrade|stamp", "", "--sql", nil},
	{verdict{"migrate-drop", Deletion, Dangerous, emptied}, "rails rake", "", "", "", anyOperand("db:drop db:reset db:schema:load db:purge db:drop:all db:migrate:reset db:structure:load")},
	{verdict{"migrate-down", Migration, Critical, undone}, "rails rake", "", "", "", anyOperand("db:rollback db:migrate:down db:migrate:redo")},
	{verdict{"migrate", Migration, Critical, migrated}, "rails rake", "", "", "", anyOperand("db:migrate db:setup db:prepare db:migrate:up db:seed db:seed:replant")},
	{verdict{"migrate-drop", Deletion, Dangerous, emptied}, "flyway", "", "", "", anyOperand("clean")},
	{verdict{"migrate", Migration, Critical, migrated}, "flyway", "", "", "", anyOperand("migrate repair baseline undo")},
	{verdict{"migrate-drop", Deletion, Dangerous, emptied}, "liquibase", "", "", "", anyOperand("dropAll drop-all")},
	{verdict{"migrate-down", Migration, Critical, undone}, "liquibase", "", "", "", anyOperand("rollback rollback-count rollbackCount rollback-to-date")},
	{verdict{"migrate", Migration, Critical, migrated}, "liquibase", "", "", "", anyOperand("update update-count updateCount changelog-sync clear-checksums")},
	{verdict{"migrate-drop", Deletion, Dangerous, emptied}, "prisma", "migrate reset", "", "", nil},
	{verdict{"migrate-drop", Deletion, Dangerous, emptied}, "prisma", "db push", "--force-reset --accept-data-loss", "", nil},
	{verdict{"migrate", Migration, Critical, migrated}, "prisma", "migrate|db deploy|push|dev|resolve|execute", "", "--create-only", nil},
	{verdict{"migrate-drop", Deletion, Dangerous, emptied}, "typeorm sequelize mikro-orm diesel sqlx", "", "", "", anyOperand("schema:drop db:drop reset drop")},
	{verdict{"migrate-down", Migration, Critical, undone}, "knex typeorm sequelize mikro-orm diesel sqlx", "", "", "", anyOperand("migrate:rollback migrate:down migration:revert db:migrate:undo db:migrate:undo:all migration:down revert redo")},
	{verdict{"migrate", Migration, Critical, migrated}, "knex typeorm sequelize mikro-orm", "migrate:latest|migrate:up|migration:run|schema:sync|db:migrate|migration:up|schema:update|seed:run", "", "", nil},
	{verdict{"migrate", Migration, Critical, migrated}, "diesel sqlx", "migration|migrate|database run|setup|create", "", "", nil},
	{verdict{"migrate", Migration, Critical, migrated}, "drizzle-kit", "push|migrate|drop", "", "", nil},
	{verdict{"migrate-drop", Deletion, Dangerous, emptied}, "python python3", "manage.py|./manage.py flush|reset_db|sqlflush", "", "", nil},
	{verdict{"migrate", Migration, Critical, migrated}, "python python3", "manage.py|./manage.py migrate|loaddata", "", "--plan --check", nil},
	{verdict{"migrate-drop", Deletion, Dangerous, emptied}, "manage.py django-admin", "flush|reset_db", "", "", nil},
	{verdict{"migrate", Migration, Critical, migrated}, "manage.py django-admin", "migrate|loaddata", "", "--plan --check", nil},
	{verdict{"migrate-drop", Deletion, Dangerous, emptied}, "php artisan", "", "", "--pretend", anyOperand("migrate:fresh migrate:reset db:wipe migrate:refresh doctrine:database:drop doctrine:schema:drop")},
	{verdict{"migrate", Migration, Critical, migrated}, "php artisan", "", "", "--pretend", anyOperand("migrate migrate:rollback db:seed doctrine:migrations:migrate")},
	{verdict{"migrate-drop", Deletion, Dangerous, emptied}, "dotnet", "ef database drop", "", "", nil},
	{verdict{"migrate", Migration, Critical, migrated}, "dotnet", "ef database update", "", "", nil},
	{verdict{"migrate-drop", Deletion, Dangerous, emptied}, "mix", "ecto.drop|ecto.reset", "", "", nil},
	{verdict{"migrate", Migration, Critical, migrated}, "mix", "ecto.migrate|ecto.rollback|ecto.setup", "", "", nil},
	{verdict{"migrate", Migration, Critical, migrated}, "atlas", "schema|migrate apply|clean|set", "", "", nil},
	{verdict{"migrate", Migration, Critical, migrated}, "sqitch skeema", "deploy|revert|rework|push", "", "", nil},
	{verdict{"migrate", Migration, Critical, migrated}, "supabase", "db push|reset", "", "", nil},
}

// database reads the SQL that a client is given on its command line, in a document or through a pipe.
func (s *scan) database(c call) {
	if c.flag("--help", "--version") {
		return
	}
	var texts []script
	for _, w := range c.values("-c", "-e", "-q", "-Q", "--command", "--execute", "--query", "-cmd") {
		texts = append(texts, w.script)
	}
	switch c.name {
	case "sqlite3", "sqlite", "duckdb":
		if ops := c.operands(); len(ops) > 1 {
			texts = append(texts, joined(ops[1:]))
		}
	case "bq":
		if ops := c.operands(); len(ops) > 1 && ops[0].text == "query" {
			texts = append(texts, joined(ops[1:]))
		}
	}
	if len(texts) == 0 {
		for _, d := range c.cmd.documents {
			texts = append(texts, d.body)
		}
		texts = append(texts, printed(c.cmd.reads))
	}
	for _, t := range texts {
		s.sql(t, c.level+1)
	}
	fromFile := slices.ContainsFunc(c.cmd.redirects, func(r redirect) bool { return r.op == "<" && r.to.text != "/dev/null" })
	if fromFile || c.flag("-f", "--file", "-i") && (c.name == "psql" || c.name == "sqlcmd" || c.name == "cockroach") {
		s.found(verdict{"sql-file", Migration, Moderate, "runs a file of SQL that was not read here"}, c)
	}
}

// keyValue reads the commands that are given to stores without SQL.
func (s *scan) keyValue(c call) {
	if c.name == "mongo" || c.name == "mongosh" {
		s.mongo(c)
		return
	}
	ops := c.operands()
	if len(ops) == 0 {
		if words := strings.Fields(printed(c.cmd.reads).text); len(words) > 0 {
			s.redis(c, words[0], "")
		}
		return
	}
	second := ""
	if len(ops) > 1 {
		second = ops[1].text
	}
	s.redis(c, ops[0].text, second)
}

func (s *scan) redis(c call, verb, second string) {
	switch strings.ToUpper(verb) {
	case "FLUSHALL", "FLUSHDB":
		s.found(verdict{"redis-flush", Deletion, Dangerous, emptied}, c)
	case "DEL", "UNLINK", "HDEL", "LTRIM", "EXPIRE", "XTRIM":
		s.found(verdict{"redis-delete", Deletion, Moderate, "deletes keys of a store"}, c)
	case "SHUTDOWN", "FAILOVER", "REPLICAOF", "SLAVEOF":
		s.found(verdict{"redis-stop", Outage, Critical, "stops a store or takes it out of its group"}, c)
	case "CONFIG", "ACL":
		if strings.EqualFold(second, "SET") || strings.EqualFold(second, "SETUSER") || strings.EqualFold(second, "DELUSER") {
			s.found(verdict{"redis-config", Privilege, Critical, "changes the settings or the users of a store"}, c)
		}
	}
}

func (s *scan) mongo(c call) {
	var b strings.Builder
	for _, w := range c.values("--eval") {
		b.WriteString(w.text + "\n")
	}
	for _, d := range c.cmd.documents {
		b.WriteString(d.body.text + "\n")
	}
	b.WriteString(printed(c.cmd.reads).text)
	code := strings.ReplaceAll(b.String(), " ", "")
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(code, p) })
	}
	switch {
	case has("dropDatabase("):
		s.found(verdict{"mongo-drop-database", Deletion, Dangerous, "deletes a whole database"}, c)
	case has(".drop(", "deleteMany({})", "remove({})", "dropIndexes("):
		s.found(verdict{"mongo-drop", Deletion, Critical, "deletes a collection or all that is in it"}, c)
	case has("deleteMany(", "deleteOne(", ".remove("):
		s.found(verdict{"mongo-delete", Deletion, Moderate, "deletes documents"}, c)
	case has("updateMany({},", "shutdownServer("):
		s.found(verdict{"mongo-update-all", Migration, Critical, "changes every document, or stops the server"}, c)
	}
}
