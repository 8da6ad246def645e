package workspace_test

import "time"

func processorTime() time.Duration { return 0 }
