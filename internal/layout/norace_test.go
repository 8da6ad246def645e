//go:build !race

package layout_test

const raced = false
