package fault

// Nearest is the candidate that a slip of the hand would turn into name, for a "did you mean";
// none when all are too far, or name is one of them.
func Nearest(name string, candidates []string) string {
	best, least := "", min(3, len(name)/3+1)
	for _, c := range candidates {
		if c == name {
			return ""
		}
		if d := slips(name, c); d < least {
			best, least = c, d
		}
	}
	return best
}

const longestName = 64 // beyond it nobody means another name

// slips counts the letters to put in, leave out, change or swap to make a into b.
func slips(a, b string) int {
	if len(a) > longestName || len(b) > longestName {
		return longestName
	}
	var rows [3][longestName + 1]int
	before, above, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		above[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j]+cost, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
