package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cairn-plan/cairn/internal/digest"
	"github.com/cairn-plan/cairn/internal/fault"
)

// any finds an answer to a request, whoever asked. A miss names the nearest recording, and how it differs.
func (r *Recordings) any(ctx context.Context, request digest.ID, s Settings, want Request) (Entry, error) {
	files, err := r.files(request.String())
	if err != nil {
		return Entry{}, err
	}
	for _, f := range files {
		if e, ok, err := r.read(ctx, f); ok || err != nil {
			return e, err
		}
	}
	near, found, err := r.nearest(ctx, s, want)
	if err != nil {
		return Entry{}, err
	}
	if !found {
		return Entry{}, fault.New(fault.NotFound, "nothing is recorded that would answer %s %s, and a replay asks nobody", s.Provider, s.Model).
			Remedy("replay from the home where it was recorded, or run it without replay")
	}
	return Entry{}, fault.New(fault.NotFound, "nothing is recorded that would answer %s %s, and a replay asks nobody; the nearest is %s of %s:\n%s",
		s.Provider, s.Model, near.ID[:12], near.Time.Format("2006-01-02 15:04:05"), diff(lines(near.settings(), near.Input), lines(s, want))).
		Remedy("ask as it was recorded, or run it without replay")
}

func (e Entry) settings() Settings { return Settings{Provider: e.Provider, Model: e.Model} }

// mostCompared bounds how many recordings a miss is held against.
const mostCompared = 2000

// nearest finds the recording that has most lines in common with a request.
func (r *Recordings) nearest(ctx context.Context, s Settings, want Request) (best Entry, found bool, err error) {
	ids, err := r.requests()
	if err != nil {
		return best, false, err
	}
	score, mine := -1.0, lines(s, want)
	for _, id := range ids[:min(len(ids), mostCompared)] {
		files, err := r.files(id)
		if err != nil || len(files) == 0 {
			continue // it helps to find a slip; what cannot be read does not
		}
		e, ok, err := r.read(ctx, files[0])
		if err != nil || !ok {
			continue
		}
		if like := likeness(lines(e.settings(), e.Input), mine); like > score {
			best, score, found = e, like, true
		}
	}
	return best, found, nil
}

// lines is a request as people would compare it.
func lines(s Settings, r Request) []string {
	all := []string{"model: " + s.Provider + " " + s.Model, fmt.Sprintf("max_tokens: %d", r.MaxTokens)}
	if r.Temperature != nil {
		all = append(all, fmt.Sprintf("temperature: %v", *r.Temperature))
	}
	add := func(who, text string) {
		for line := range strings.SplitSeq(text, "\n") {
			all = append(all, who+": "+line)
		}
	}
	if r.System != "" {
		add("system", r.System)
	}
	for _, m := range r.Messages {
		add(string(m.Role), m.Text)
		for _, c := range m.Calls {
			add("calls", c.Name+" "+string(c.With))
		}
	}
	for _, t := range r.Tools {
		add("tool", t.Name)
	}
	var schema bytes.Buffer
	if len(r.Schema) > 0 && json.Indent(&schema, r.Schema, "", " ") == nil {
		add("schema", schema.String())
	}
	return all
}

// likeness is how much of two texts is the same, from 0 to 1: lines first, and words where lines differ.
func likeness(a, b []string) float64 {
	return share(a, b) + share(words(a), words(b))
}

func words(lines []string) []string { return strings.Fields(strings.Join(lines, " ")) }

func share(a, b []string) float64 {
	count := map[string]int{}
	for _, l := range a {
		count[l]++
	}
	common := 0
	for _, l := range b {
		if count[l] > 0 {
			count[l]--
			common++
		}
	}
	return float64(2*common) / float64(cmp.Or(len(a)+len(b), 1))
}

const (
	mostLines = 400 // of a text that is compared line by line
	mostShown = 20  // of the lines that differ
)

// diff shows the lines that differ: - as recorded, + as asked.
func diff(a, b []string) string {
	a, b = a[:min(len(a), mostLines)], b[:min(len(b), mostLines)]
	common := make([][]int, len(a)+1) // the length of what is common behind each pair of places
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var out []string
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, "- "+brief(a[i]))
			i++
		default:
			out = append(out, "+ "+brief(b[j]))
			j++
		}
	}
	if more := len(out) - mostShown; more > 0 {
		out = append(out[:mostShown], fmt.Sprintf("and %d more lines", more))
	}
	return strings.Join(out, "\n")
}
