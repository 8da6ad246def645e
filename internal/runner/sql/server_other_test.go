//go:build !unix

package sql_test

import "testing"

func postgres(t *testing.T) string {
	t.Helper()
	t.Skip("a private PostgreSQL is started on Unix only")
	return ""
}

func stop() {}
