//go:build linux && !amd64

package sandbox

// moreRefused are calls that this architecture has besides.
var moreRefused []uintptr
