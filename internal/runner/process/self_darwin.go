package process

import "os"

func executablePath() (string, error) { return os.Executable() }

// keepFiles does nothing: what the engine was started with goes to its children, as from any shell.
func keepFiles() {}
