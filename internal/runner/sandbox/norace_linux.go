//go:build !race

package sandbox

var raceEnv []string
