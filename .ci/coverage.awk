# Reads a Go cover profile and prints the share of statements that ran, by package, worst first, and
# in total. A block counts once, however many test binaries saw it; contract suites are tests and do
# not count. Fails when the total is under floor: awk -v floor=85 -f coverage.awk coverage.out
/^mode:/ || /test\/[^\/]*:/ { next }
{
	statements[$1] = $2
	if ($3 > 0) ran[$1] = 1
}
END {
	for (block in statements) {
		pkg = block
		sub(/\/[^\/]*:.*/, "", pkg)
		sub(/.*\/internal\//, "", pkg)
		all[pkg] += statements[block]
		total += statements[block]
		if (block in ran) {
			hit[pkg] += statements[block]
			covered += statements[block]
		}
	}
	if (total == 0) {
		print "coverage: the profile is empty"
		exit 1
	}
	for (pkg in all)
		printf "%6.1f%%  %5d statements  %s\n", 100 * hit[pkg] / all[pkg], all[pkg], pkg | "sort -n"
	close("sort -n")
	share = 100 * covered / total
	printf "%6.1f%%  %5d statements  in all, at least %d%% wanted\n", share, total, floor
	exit share < floor
}
