//go:build unix

package assembly_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/runner/sql"
)

// writers is a plan whose tasks change files and rows at the same time: two change one file in different places, two
// change the same line, one keeps a file and one keeps rows that are too long for a record. Every one of them comes to
// the same however often it is begun. In place, where they share the folder, a lock keeps them apart.
const writers = `
plan: writers
policy: {workers: 4, workspace: WORKSPACE}
env: {CAIRN_TEST_MARK: "MARK"}
tasks:
  - {id: above, uses: shell, LOCKED run: 'sed "s/^first.*/first, changed/" list.txt > list.new && mv list.new list.txt'}
  - {id: below, uses: shell, LOCKED run: 'sed "s/^last.*/last, changed/" list.txt > list.new && mv list.new list.txt'}
  - id: left
    uses: shell
    LOCKED
    run: 'MEET left right; { cat both.txt; echo left; } | sort -u > both.new && mv both.new both.txt'
  - id: right
    uses: shell
    LOCKED
    run: 'MEET right left; { cat both.txt; echo right; } | sort -u > both.new && mv both.new both.txt'
  - {id: note, uses: file.write, with: {path: note.txt, text: "changed\n"}}
  - {id: made, uses: file.write, needs: [note], with: {path: made/new.txt, text: "new\n"}}
  - {id: gone, uses: shell, run: 'test -e moved.txt || mv gone.txt moved.txt'}
  - id: rows
    uses: sql.exec
    needs: [note]
    repeat: repeatable
    with: {database: shop.db, sql: "UPDATE orders SET note = 'short' WHERE id = 1", keep: ["orders WHERE id = 1"]}
  - {id: pay, uses: ledger.pay}
  - {id: last, uses: noop, needs: [above, below, left, right, made, gone, rows, pay]}
`

// writersPlan is that plan for a workspace. On a branch two of its tasks wait for each other, outside their trees, so that
// they are at work at the same time.
func writersPlan(workspace string) string {
	text := strings.ReplaceAll(writers, "WORKSPACE", workspace)
	if workspace == "here" {
		return strings.NewReplacer("    LOCKED\n", "    locks: [files]\n", "LOCKED", "locks: [files],", "MEET left right; ", "", "MEET right left; ", "").Replace(text)
	}
	wait := "touch MEETING/%s; while ! test -e MEETING/%s; do sleep 0.01; done;"
	return strings.NewReplacer("    LOCKED\n", "", "LOCKED ", "", "MEET left right;", fmt.Sprintf(wait, "left", "right"),
		"MEET right left;", fmt.Sprintf(wait, "right", "left"), "policy: {", "policy: {allow: {write: [., MEETING]}, ").Replace(text)
}

// repository is a folder with a plan, files, a database and a history of its own, some of it staged.
func repository(t *testing.T, workspace string) string {
	t.Helper()
	dir := folder(t, writersPlan(workspace))
	path := filepath.Join(dir, "plan.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"plan.yaml": strings.ReplaceAll(string(text), "MEETING", t.TempDir()), "list.txt": "first\n" + strings.Repeat("between\n", 12) + "last\n",
		"both.txt": "middle\n", "note.txt": "as it was\n", "gone.txt": "gone\n", ".gitignore": ".cairn\nledger\n"}
	if workspace == "here" {
		files[".gitignore"] += "shop.db\n" // so it is the rows that were kept, not the file
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	with, err := json.Marshal(map[string]any{"database": "shop.db", "create": true, "sql": "CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT); INSERT INTO orders VALUES (1, '" +
		strings.Repeat("long ", 1000) + "'), (2, 'other')"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (sql.Exec{}).Run(t.Context(), capability.Call{Dir: dir, With: with}); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"init -q -b main", "config user.name ann", "config user.email ann@example.org", "add .", "commit -q -m first"} {
		gitIn(t, dir, strings.Fields(args)...)
	}
	if err := os.WriteFile(filepath.Join(dir, "staged.txt"), []byte("staged\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "add", "staged.txt")
	return dir
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// own is what a plan must leave alone in the user's repository.
func own(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, name := range []string{"HEAD", "index", "config"} {
		raw, err := os.ReadFile(filepath.Join(dir, ".git", name))
		if err != nil {
			t.Fatal(err)
		}
		b.Write(raw)
	}
	return b.String() + gitIn(t, dir, "for-each-ref", "refs/heads/main", "refs/tags", "refs/stash")
}

// result is the tree that a plan came to: of its branch, or of the project itself.
func result(t *testing.T, dir, workspace string) string {
	t.Helper()
	if workspace == "branch" {
		return gitIn(t, dir, "ls-tree", "-r", "plan/writers")
	}
	var b strings.Builder
	for line := range strings.Lines(fingerprint(t, dir)) {
		if name, _, _ := strings.Cut(line[1:], " "); !strings.HasPrefix(name, ".git/") && name != "ledger" && name != "plan.yaml" && name != "shop.db" {
			b.WriteString(line)
		}
	}
	return b.String() + string(orders(t, dir))
}

// orders are the rows of the database: what put them back may be the file or the rows themselves.
func orders(t *testing.T, dir string) []byte {
	t.Helper()
	res, err := sql.Query(t.Context(), capability.Call{Dir: dir, With: json.RawMessage(`{"database": "shop.db", "sql": "SELECT id, length(note) AS n, note LIKE 'long long%' AS l FROM orders ORDER BY id"}`)})
	if err != nil {
		t.Fatal(err)
	}
	return res.Outputs["rows"]
}

// agreed is a life in which everybody agrees to changing rows, which is critical.
func agreed(t *testing.T, dir, kill string, env ...string) (killed bool) {
	t.Helper()
	return life(t, dir, kill, append(env, "CAIRN_TEST_AGREED=yes")...)
}

// some thins a list of records out under the race detector, where one more process costs as much as several.
func some(from, to, step int) (all []int) {
	if !underRace {
		step = 1
	}
	for n := from; n <= to; n += step {
		all = append(all, n)
	}
	return all
}

// A plan that is killed at any record while its tasks change files together comes to the same files, and the user's own
// branch and index are as they were.
func TestWritersKilledAtEveryRecord(t *testing.T) {
	for _, workspace := range []string{"here", "branch"} {
		t.Run(workspace, func(t *testing.T) {
			dir := repository(t, workspace)
			agreed(t, dir, "")
			want, files := judge(t, dir), result(t, dir, workspace)
			if want.state != "completed" || !strings.Contains(files, "moved.txt") {
				t.Fatalf("undisturbed it is %s with\n%s", want.state, files)
			}
			for _, n := range some(1, want.records, 4) {
				for _, when := range moments() {
					t.Run(fmt.Sprintf("%s-%d", when, n), func(t *testing.T) {
						t.Parallel()
						dir := repository(t, workspace)
						before := own(t, dir)
						if !agreed(t, dir, fmt.Sprintf("%s %d", when, n)) {
							return // this run had fewer records
						}
						orphans(t, dir)
						agreed(t, dir, "")
						if got := judge(t, dir); got.hash != want.hash {
							t.Errorf("it comes to %s, %s instead of %s", got.state, got.hash, want.hash)
						}
						alike(t, dir, workspace, files, before)
					})
				}
			}
		})
	}
}

// alike checks the files that a plan came to, and that it left alone what is not its own.
func alike(t *testing.T, dir, workspace, files, before string) {
	t.Helper()
	if got := result(t, dir, workspace); sameButPlan(got) != sameButPlan(files) {
		t.Errorf("its files are\n%s\ninstead of\n%s", got, files)
	}
	if own(t, dir) != before {
		t.Error("the user's own branch or index changed")
	}
	if workspace == "branch" {
		if status := gitIn(t, dir, "status", "--porcelain"); status != "A  staged.txt\n" {
			t.Errorf("the user's files changed:\n%s", status)
		}
	}
}

// sameButPlan leaves the plan file out, which has the name of its folder in it.
func sameButPlan(files string) string {
	var b strings.Builder
	for line := range strings.Lines(files) {
		if !strings.HasSuffix(line, "\tplan.yaml\n") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// A rollback that is killed at any record leaves the files and the rows as they were before the plan.
func TestRollbackOfWritersKilledAtEveryRecord(t *testing.T) {
	for _, workspace := range []string{"here", "branch"} {
		t.Run(workspace, func(t *testing.T) {
			dir := repository(t, workspace)
			base := result(t, dir, "here")
			agreed(t, dir, "")
			ran := judge(t, dir)
			if workspace == "branch" {
				base = gitIn(t, dir, "ls-tree", "-r", "plan/writers~8") // one commit each of eight tasks
			}
			agreed(t, dir, "", "CAIRN_TEST_ROLLBACK=all")
			want := judge(t, dir)
			if files := result(t, dir, workspace); want.state != "abandoned" || sameButPlan(files) != sameButPlan(base) {
				t.Fatalf("rolled back it is %s, with\n%s\ninstead of\n%s", want.state, files, base)
			}
			for _, n := range some(ran.records+1, want.records, 3) {
				for _, when := range moments() {
					t.Run(fmt.Sprintf("%s-%d", when, n), func(t *testing.T) {
						t.Parallel()
						dir := repository(t, workspace)
						before := own(t, dir)
						agreed(t, dir, "")
						agreed(t, dir, fmt.Sprintf("%s %d", when, n), "CAIRN_TEST_ROLLBACK=all")
						orphans(t, dir)
						agreed(t, dir, "", "CAIRN_TEST_ROLLBACK=all")
						if got := judge(t, dir); got.hash != want.hash {
							t.Errorf("it comes to %s, %s instead of %s", got.state, got.hash, want.hash)
						}
						alike(t, dir, workspace, base, before)
					})
				}
			}
		})
	}
}

// What must not happen twice is asked after where it happened: in the last state of the branch, not in the user's files.
func TestOnceOnABranchKilledAtEveryRecord(t *testing.T) {
	const text = `
plan: writers
policy: {workspace: branch}
env: {CAIRN_TEST_MARK: "MARK"}
tasks:
  - id: rows
    uses: sql.exec
    with: {database: shop.db, sql: "UPDATE orders SET note = note || '!' WHERE id = 2", check: "SELECT note = 'other!' FROM orders WHERE id = 2"}
`
	prepare := func(t *testing.T) string {
		dir := repository(t, "branch")
		if err := os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(strings.ReplaceAll(text, "MARK", filepath.Base(filepath.Dir(dir))+filepath.Base(dir))), 0o644); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	dir := prepare(t)
	agreed(t, dir, "")
	want := judge(t, dir)
	for n := 1; n <= want.records; n++ {
		for _, when := range moments() {
			t.Run(fmt.Sprintf("%s-%d", when, n), func(t *testing.T) {
				t.Parallel()
				dir := prepare(t)
				agreed(t, dir, fmt.Sprintf("%s %d", when, n))
				orphans(t, dir)
				agreed(t, dir, "")
				if got := judge(t, dir); got.state != "completed" {
					t.Errorf("it comes to %s", got.state)
				}
				gitIn(t, dir, "checkout", "-q", "plan/writers", "--", "shop.db")
				if rows := string(orders(t, dir)); !strings.Contains(rows, `"n":6`) {
					t.Errorf("once is not what it was: %s", rows)
				}
			})
		}
	}
}
