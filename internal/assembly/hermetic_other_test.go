//go:build !(linux && amd64)

package assembly_test

import "errors"

func replayDenied(string) error {
	return errors.New("only Linux on amd64 can deny calls to itself here")
}
