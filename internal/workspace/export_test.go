package workspace

import "time"

// SetClaimPatience changes how long a claim is waited for, until the function it returns is called.
func SetClaimPatience(d time.Duration) func() {
	old := claimPatience
	claimPatience = d
	return func() { claimPatience = old }
}
