//go:build race

package risk_test

// raced says that the race detector watches, under which time says little.
const raced = true
