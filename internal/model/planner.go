package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-plan/cairn/internal/fault"
)

// Planner is the name of the model that plans.
const Planner = "planner"

// PlannerSettings are what the environment says of planning, as PLANNER_NAME or CAIRN_PLANNER_NAME; ours goes first.
type PlannerSettings struct {
	Environment string // development, staging or production
	Key         string // the variable that holds the key; empty: as the model's settings say
	Model       string // empty: as the model's settings say
	Temperature float64
	MaxTokens   int
	MinSteps    int
	MaxSteps    int
	Timeout     time.Duration
	Tries       int
}

var environments = []string{"development", "staging", "production"}

// ReadPlannerSettings reads them; all that is wrong is told at once.
func ReadPlannerSettings(env func(string) string) (PlannerSettings, error) {
	var faults []string
	lookup := func(name string) (variable, value string) {
		for _, prefix := range []string{"CAIRN_PLANNER_", "PLANNER_"} {
			if v := env(prefix + name); v != "" {
				return prefix + name, v
			}
		}
		return "PLANNER_" + name, ""
	}
	number := func(name string, usual, least, most float64, whole bool) float64 {
		variable, v := lookup(name)
		if v == "" {
			return usual
		}
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n >= least && n <= most) || whole && n != float64(int(n)) {
			faults = append(faults, fmt.Sprintf("%s is %q, not a number from %v to %v", variable, v, least, most))
			return usual
		}
		return n
	}
	count := func(name string, usual, least, most int) int {
		return int(number(name, float64(usual), float64(least), float64(most), true))
	}
	s := PlannerSettings{
		Temperature: number("PLANNING_TEMPERATURE", 0.3, 0, 2, false),
		MaxTokens:   count("MAX_TOKENS", 2000, 100, 8000),
		MaxSteps:    count("MAX_PLAN_STEPS", 7, 3, 15),
		MinSteps:    count("MIN_PLAN_STEPS", 3, 1, 10),
		Timeout:     time.Duration(count("TIMEOUT_SECONDS", 10, 1, 60)) * time.Second,
		Tries:       count("MAX_RETRIES", 3, 1, 5),
	}
	_, s.Model = lookup("LLM_MODEL")
	if variable, v := lookup("OPENAI_API_KEY"); v != "" {
		s.Key = variable
	}
	variable, v := lookup("ENVIRONMENT")
	if s.Environment = cmp.Or(v, environments[0]); !slices.Contains(environments, s.Environment) {
		faults = append(faults, fmt.Sprintf("%s is %q, not one of %s", variable, v, strings.Join(environments, ", ")))
	}
	if s.MinSteps > s.MaxSteps {
		faults = append(faults, fmt.Sprintf("PLANNER_MIN_PLAN_STEPS is %d, above PLANNER_MAX_PLAN_STEPS, which is %d", s.MinSteps, s.MaxSteps))
	}
	if faults != nil {
		return PlannerSettings{}, fault.New(fault.Invalid, "%s", strings.Join(faults, "\n")).Remedy("correct the environment, or unset what is wrong")
	}
	return s, nil
}

// Stage is the planning model where the settings name none: the default one, under these settings. Without a default there is
// one only if the environment names it.
func (p PlannerSettings) Stage(c Config) (Settings, bool) {
	s, ok := c[Planner]
	if ok {
		return s, true
	}
	if s, ok = c[Default]; !ok && p.Model == "" {
		return Settings{}, false
	}
	s.Provider = cmp.Or(s.Provider, "openai")
	s.Model = cmp.Or(p.Model, s.Model)
	s.Key = cmp.Or(p.Key, s.Key)
	s.Temperature, s.MaxTokens, s.Timeout, s.Tries = &p.Temperature, p.MaxTokens, p.Timeout, p.Tries
	return s, true
}
