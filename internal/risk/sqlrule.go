package risk

var sqlProgram = verdict{"sql-program", RemoteCode, Dangerous, "runs a program on the database's machine"}

// sqlRules are statements that are known by their first words; * is any one word. The first that
// matches speaks.
var sqlRules = []struct {
	first []string
	has   []string // words that stand somewhere after, one beside the other
	verdict
}{
	{[]string{"DROP", "DATABASE"}, nil, verdict{"sql-drop-database", Deletion, Dangerous, "deletes a whole database"}},
	{[]string{"DROP", "SCHEMA"}, nil, verdict{"sql-drop-schema", Deletion, Dangerous, "deletes a schema and all that is in it"}},
	{[]string{"DROP", "OWNED"}, nil, verdict{"sql-drop-schema", Deletion, Dangerous, "deletes all that a user owns"}},
	{[]string{"DROP", "TABLESPACE"}, nil, verdict{"sql-drop-schema", Deletion, Dangerous, "deletes a place where tables are kept"}},
	{[]string{"DROP", "TABLE"}, nil, verdict{"sql-drop-table", Deletion, Critical, "deletes a table and all that is in it"}},
	{[]string{"DROP", "FOREIGN", "TABLE"}, nil, verdict{"sql-drop-object", Deletion, Moderate, "deletes part of a database that can be made again"}},
	{[]string{"DROP", "MATERIALIZED"}, nil, verdict{"sql-drop-object", Deletion, Moderate, "deletes part of a database that can be made again"}},
	{[]string{"DROP", "USER"}, nil, verdict{"sql-drop-user", Deletion, Critical, "deletes a user of a database"}},
	{[]string{"DROP", "ROLE"}, nil, verdict{"sql-drop-user", Deletion, Critical, "deletes a user of a database"}},
	{[]string{"DROP", "SEQUENCE"}, nil, verdict{"sql-drop-table", Deletion, Critical, "deletes a sequence and where it was"}},
	{[]string{"DROP"}, nil, verdict{"sql-drop-object", Deletion, Moderate, "deletes part of a database that can be made again"}},
	{[]string{"TRUNCATE"}, nil, verdict{"sql-truncate", Deletion, Critical, "deletes every row of a table"}},
	{[]string{"ALTER", "TABLE"}, []string{"DROP", "CONSTRAINT"}, verdict{"sql-alter", Migration, Moderate, "changes the shape of a table"}},
	{[]string{"ALTER", "TABLE"}, []string{"DROP", "NOT"}, verdict{"sql-alter", Migration, Moderate, "changes the shape of a table"}},
	{[]string{"ALTER", "TABLE"}, []string{"DROP", "DEFAULT"}, verdict{"sql-alter", Migration, Moderate, "changes the shape of a table"}},
	{[]string{"ALTER", "TABLE"}, []string{"DROP"}, verdict{"sql-alter-drop", Migration, Critical, "deletes a column and all that is in it"}},
	{[]string{"ALTER", "TABLE"}, []string{"TYPE"}, verdict{"sql-alter-type", Migration, Critical, "changes the type of a column, and every value in it"}},
	{[]string{"ALTER", "SYSTEM"}, nil, verdict{"sql-settings", Privilege, Critical, "changes the settings of the database server"}},
	{[]string{"ALTER", "USER"}, nil, verdict{"sql-grant", Privilege, Critical, "changes who may do what in a database"}},
	{[]string{"ALTER", "ROLE"}, nil, verdict{"sql-grant", Privilege, Critical, "changes who may do what in a database"}},
	{[]string{"CREATE", "USER"}, nil, verdict{"sql-grant", Privilege, Critical, "changes who may do what in a database"}},
	{[]string{"CREATE", "ROLE"}, nil, verdict{"sql-grant", Privilege, Critical, "changes who may do what in a database"}},
	{[]string{"CREATE", "EXTENSION"}, nil, verdict{"sql-alter", Migration, Moderate, "adds to what a database can do"}},
	{[]string{"ALTER"}, nil, verdict{"sql-alter", Migration, Moderate, "changes the shape of a database"}},
	{[]string{"RENAME"}, nil, verdict{"sql-alter", Migration, Moderate, "changes the shape of a database"}},
	{[]string{"GRANT"}, nil, verdict{"sql-grant", Privilege, Critical, "changes who may do what in a database"}},
	{[]string{"REVOKE"}, nil, verdict{"sql-grant", Privilege, Critical, "changes who may do what in a database"}},
	{[]string{"COPY"}, []string{"PROGRAM"}, sqlProgram},
	{[]string{"SELECT"}, []string{"INTO", "OUTFILE"}, verdict{"sql-export", Exposure, Critical, "writes data to a file of the database's machine"}},
	{[]string{"SELECT"}, []string{"INTO", "DUMPFILE"}, verdict{"sql-export", Exposure, Critical, "writes data to a file of the database's machine"}},
	{[]string{"SELECT"}, []string{"PG_TERMINATE_BACKEND"}, verdict{"sql-kill", Outage, Moderate, "ends the connections of others"}},
	{[]string{"SHUTDOWN"}, nil, verdict{"sql-shutdown", Outage, Dangerous, "stops the database server"}},
	{[]string{"RESET", "MASTER"}, nil, verdict{"sql-truncate", Deletion, Critical, "deletes the log from which a database is restored"}},
	{[]string{"PURGE", "BINARY"}, nil, verdict{"sql-truncate", Deletion, Critical, "deletes the log from which a database is restored"}},
}

// leads judges a statement by its first words. It reports whether there is nothing more to look for.
func (st *statement) leads() bool {
	for _, r := range sqlRules {
		if !st.starts(r.first...) || len(r.has) > 0 && !st.has(r.has...) {
			continue
		}
		st.found(r.verdict, 0)
		return true
	}
	return false
}
