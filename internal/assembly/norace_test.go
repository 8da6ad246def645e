//go:build !race

package assembly_test

const underRace = false
