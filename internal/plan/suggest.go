package plan

import (
	"iter"
	"strings"
)

// nearest finds the candidate that a slip of the hand would turn name into, or none.
func nearest(name string, candidates iter.Seq[string]) string {
	if len(name) > 64 {
		return ""
	}
	best, least := "", min(4, len(name)/3+1)
	for c := range candidates {
		if gap := len(c) - len(name); gap > least || -gap > least || c == name || c == "" {
			continue
		}
		d := distance(strings.ToLower(name), strings.ToLower(c), least)
		if d < least || d == least && best != "" && best[0] != name[0] && c[0] == name[0] {
			best, least = c, d
		}
	}
	return best
}

// distance counts the letters to put in, leave out, change or swap to make a into b; it gives up
// above limit.
func distance(a, b string, limit int) int {
	if len(b) > 64 {
		return limit + 1
	}
	var rows [3][65]int
	before, prev, cur := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		prev[j] = j
	}
	for i := range len(a) {
		cur[0] = i + 1
		least := cur[0]
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			cur[j+1] = min(prev[j]+cost, prev[j+1]+1, cur[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				cur[j+1] = min(cur[j+1], before[j-1]+1)
			}
			least = min(least, cur[j+1])
		}
		if least > limit {
			return limit + 1
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
