//go:build race

package audit_test

// stride is how many bytes a test of every byte goes on by: with the race detector every signature takes ten times as
// long, and checking a file starts nothing that could race.
const stride = 11
