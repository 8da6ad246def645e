package rehearsal

import (
	"strconv"
	"strings"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Faults say how often attempts fail, as a share from 0 to 1.
type Faults struct {
	Any  float64            // of every attempt of a capability
	Set  bool               // Any was given, and counts more than what history knows
	Task map[string]float64 // of these tasks, whoever does them; of a gate, its checks
}

// ParseFaults reads rates such as 5%, 0.05 and test=50%.
func ParseFaults(specs []string) (Faults, error) {
	f := Faults{Task: map[string]float64{}}
	for _, s := range specs {
		task, rate, named := strings.Cut(s, "=")
		if !named {
			rate = s
		}
		share, ok := parseShare(rate)
		if !ok || named && task == "" {
			return Faults{}, fault.New(fault.Invalid, "%q is no rate of faults", s).
				Remedy("write a share of all attempts such as 5%%, or of those of one task: TASK=50%%")
		}
		if named {
			f.Task[task] = share
		} else {
			f.Any, f.Set = share, true
		}
	}
	return f, nil
}

// parseShare reads 5% or 0.05.
func parseShare(s string) (float64, bool) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		f /= 100
	}
	return f, err == nil && f >= 0 && f <= 1
}
