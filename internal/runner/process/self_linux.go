package process

// executablePath is this binary even when its file was replaced or removed meanwhile, as an
// upgrade or `go run` does.
func executablePath() (string, error) { return "/proc/self/exe", nil }
