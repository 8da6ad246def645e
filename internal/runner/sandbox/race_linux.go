//go:build race

package sandbox

// raceEnv keeps a race detector in keepers from waiting a second at the end of each.
var raceEnv = []string{"GORACE=atexit_sleep_ms=0"}
