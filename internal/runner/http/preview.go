package http

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-plan/cairn/internal/capability"
)

// shown is how much of a body a preview shows.
const shown = 2 << 10

// open are the headers whose values a preview shows; any other may be a secret.
var open = []string{"accept", "accept-language", "content-type", "host", "if-match", "if-none-match", "user-agent", "prefer"}

// Preview implements capability.Previewer: the request is shown, not sent.
func (r *Runner) Preview(ctx context.Context, call capability.Call) (capability.Preview, error) {
	in, err := parse(call, ID)
	if err != nil {
		return capability.Preview{}, err
	}
	if _, err := in.request(ctx); err != nil {
		return capability.Preview{}, err
	}
	p := capability.Preview{Commands: append([]string{in.shown()}, in.lines()...), Unforeseen: []string{"what " + in.to.Host + " answers, and what it does about it"}}
	switch {
	case in.Body != nil:
		p.Commands = append(p.Commands, clip(*in.Body))
	case in.JSON != nil:
		p.Commands = append(p.Commands, clip(string(in.JSON)))
	}
	return p, nil
}

// shown is the request with the names of what it asks for, not the values.
func (in input) shown() string {
	line := in.place()
	if names := slices.Sorted(maps.Keys(in.to.Query())); len(names) > 0 {
		line += "?" + strings.Join(names, "=...&") + "=..."
	}
	return line
}

func (in input) lines() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(in.Headers)) {
		value := "..."
		if slices.Contains(open, strings.ToLower(name)) {
			value = in.Headers[name]
		}
		all = append(all, "  "+name+": "+value)
	}
	return all
}

func clip(body string) string {
	if len(body) <= shown {
		return "  " + body
	}
	return fmt.Sprintf("  %s... and %d bytes more", strings.ToValidUTF8(body[:shown], ""), len(body)-shown)
}
