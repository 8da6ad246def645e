//go:build race

package layout_test

// raced says that the race detector watches, under which time says little.
const raced = true
