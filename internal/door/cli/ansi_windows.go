package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// speaksANSI switches the console to escape sequences, which older ones refuse.
func speaksANSI(f *os.File) bool {
	var mode uint32
	h := windows.Handle(f.Fd())
	if windows.GetConsoleMode(h, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
