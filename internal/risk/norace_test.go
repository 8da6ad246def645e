//go:build !race

package risk_test

const raced = false
