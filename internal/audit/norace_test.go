//go:build !race

package audit_test

// stride is how many bytes a test of every byte goes on by.
const stride = 1
