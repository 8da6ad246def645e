package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/artifact"
	"github.com/cairn-plan/cairn/internal/budget"
	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/engine"
	"github.com/cairn-plan/cairn/internal/fault"
)

// promptType is the type of the artifacts that are pages of the prompt log.
const promptType = "prompt"

type promptOptions struct {
	plan string
	as   string
	cost bool
}

func (a *app) promptsCommand() *cobra.Command {
	var o promptOptions
	c := &cobra.Command{
		Use:   "prompts PLAN [--as jsonl|csv] [--cost]",
		Short: "show what models were asked for a plan, what they answered, and what that cost",
		Long: `Show every exchange with a model: who asked, what was asked and answered, tokens, cost and time.

The exchanges are artifacts of the tasks that asked; secrets are taken out. A cost is counted from the price in the
settings; where there is none it is told as not known.`,
		Example:           "  cairn prompts release\n  cairn prompts release --as jsonl > prompts.jsonl\n  cairn prompts release --cost",
		Args:              takes(1, 1),
		ValidArgsFunction: a.completePlan,
		RunE: func(c *cobra.Command, args []string) error {
			o.plan = args[0]
			return a.within(c.Context(), func(_ place, h *House) error { return runPrompts(c.Context(), h.Engine, o, a.out()) })
		},
	}
	c.Flags().StringVar(&o.as, "as", "", "jsonl, csv: all fields, for programs")
	c.Flags().BoolVar(&o.cost, "cost", false, "sum up by model and by task")
	return c
}

// prompt is a page of the prompt log, as it is exported.
type prompt struct {
	ID            string          `json:"id"`
	Time          time.Time       `json:"timestamp"`
	Plan          string          `json:"plan_id"`
	Task          string          `json:"task_id"`
	Attempt       int             `json:"attempt,omitempty"`
	Tool          string          `json:"tool"`
	Name          string          `json:"name"`
	Provider      string          `json:"provider"`
	Model         string          `json:"model"`
	InputSummary  string          `json:"input_summary"`
	OutputSummary string          `json:"output_summary,omitempty"`
	Input         json.RawMessage `json:"input,omitempty"`
	Output        json.RawMessage `json:"output,omitempty"`
	InputHash     *digest.ID      `json:"input_hash,omitempty"`  // where the input is too long to stand here
	OutputHash    *digest.ID      `json:"output_hash,omitempty"` // likewise
	Error         string          `json:"error,omitempty"`
	TokensIn      int64           `json:"tokens_in"`
	TokensOut     int64           `json:"tokens_out"`
	Cost          int64           `json:"cost_micro"`
	Currency      string          `json:"currency,omitempty"`
	Unpriced      bool            `json:"unpriced,omitempty"`
	Latency       time.Duration   `json:"latency_ns"`
	Tries         int             `json:"tries"`
	Artifact      digest.ID       `json:"artifact"` // holds all of it
}

const (
	promptInline = 4 << 10  // of an input or an output; what is longer is named by its hash
	promptPage   = 64 << 20 // the longest page there is
)

// runPrompts shows the prompt log of a plan.
func runPrompts(ctx context.Context, e *engine.Engine, o promptOptions, out Out) error {
	if o.as != "" && o.as != "jsonl" && o.as != "csv" {
		return fault.New(fault.Invalid, "there is no form %q", o.as).Remedy("write --as jsonl or --as csv")
	}
	if o.as != "" && o.cost {
		return fault.New(fault.Invalid, "--cost sums up, and --as lists").Remedy("leave one of them out; --cost --json is for programs")
	}
	if _, _, err := e.Load(ctx, o.plan); err != nil {
		return err
	}
	all, err := promptsOf(ctx, e, o.plan)
	switch {
	case err != nil:
		return err
	case o.cost:
		return writeCosts(all, out)
	case o.as == "jsonl":
		for _, p := range all {
			if err := out.line(p); err != nil {
				return err
			}
		}
		return nil
	case o.as == "csv":
		return writePromptCSV(all, out)
	case out.JSON:
		return out.print(append([]prompt{}, all...))
	}
	return writePrompts(all, out)
}

// promptsOf reads the pages out of a plan's artifacts, oldest first. A page that was put again after a crash counts once.
func promptsOf(ctx context.Context, e *engine.Engine, plan string) ([]prompt, error) {
	stored, err := storedOf(ctx, e, plan)
	if err != nil {
		return nil, err
	}
	var all []prompt
	seen := map[digest.ID]bool{}
	for _, s := range stored {
		if s.Type != promptType || s.Expired || seen[s.Hash] {
			continue
		}
		seen[s.Hash] = true
		body, err := artifact.ReadAll(ctx, e.Artifacts, s.Hash, promptPage)
		if err != nil {
			return nil, err
		}
		p := prompt{Artifact: s.Hash}
		if err := json.Unmarshal(body, &p); err != nil {
			return nil, fault.Wrap(fault.Tampered, err, "page %s of the prompt log cannot be read", s.address())
		}
		p.Artifact = s.Hash
		p.Input, p.InputHash = inlined(p.Input)
		p.Output, p.OutputHash = inlined(p.Output)
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b prompt) int { return a.Time.Compare(b.Time) })
	return all, nil
}

func inlined(raw json.RawMessage) (json.RawMessage, *digest.ID) {
	if len(raw) <= promptInline {
		return raw, nil
	}
	id := digest.Sum(raw)
	return nil, &id
}

func (p prompt) spent() budget.Amount {
	return budget.Amount{Calls: 1, Cost: p.Cost, Currency: p.Currency, Tokens: p.TokensIn + p.TokensOut}
}

// price is what a page cost, in words.
func (p prompt) price() string {
	if p.Unpriced {
		return "cost not known"
	}
	return p.spent().Text(budget.Cost)
}

func writePrompts(all []prompt, out Out) error {
	if len(all) == 0 {
		fmt.Fprintln(out, "no model was asked for this plan")
	}
	for _, p := range all {
		fmt.Fprintf(out, "%s  %s  %s %s  %s  %d in, %d out  %s  %s\n", p.Time.Local().Format("2006-01-02 15:04:05"), p.Task, p.Provider, p.Model, p.Tool,
			p.TokensIn, p.TokensOut, p.price(), p.Latency.Round(time.Millisecond))
		fmt.Fprintf(out, "  asked:    %s\n", p.InputSummary)
		if p.Error != "" {
			fmt.Fprintf(out, "  failed:   %s\n", strings.ReplaceAll(p.Error, "\n", " "))
			continue
		}
		fmt.Fprintf(out, "  answered: %s\n", p.OutputSummary)
	}
	return nil
}

func writePromptCSV(all []prompt, out Out) error {
	w := csv.NewWriter(out)
	rows := [][]string{{"id", "timestamp", "plan_id", "task_id", "attempt", "tool", "name", "provider", "model", "input_summary", "output_summary", "error",
		"tokens_in", "tokens_out", "cost_micro", "currency", "latency_ms", "tries", "artifact"}}
	for _, p := range all {
		rows = append(rows, []string{p.ID, p.Time.Format(time.RFC3339Nano), p.Plan, p.Task, strconv.Itoa(p.Attempt), p.Tool, p.Name, p.Provider, p.Model,
			inert(p.InputSummary), inert(p.OutputSummary), inert(p.Error), itoa(p.TokensIn), itoa(p.TokensOut), itoa(p.Cost), p.Currency,
			itoa(p.Latency.Milliseconds()), strconv.Itoa(p.Tries), p.Artifact.String()})
	}
	if err := w.WriteAll(rows); err != nil {
		return fault.Wrap(fault.Invalid, err, "write the prompt log")
	}
	return nil
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// inert keeps a table program from taking a model's words for a formula.
func inert(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
