package risk_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cairn-plan/cairn/internal/capability"
	"github.com/cairn-plan/cairn/internal/risk"
)

func TestCriticalitiesAreThoseOfAContract(t *testing.T) {
	if len(risk.Criticalities) != len(capability.Criticalities) {
		t.Fatal(risk.Criticalities, capability.Criticalities)
	}
	for i, c := range capability.Criticalities {
		if string(risk.Criticalities[i]) != c {
			t.Errorf("%s is %s in a contract", risk.Criticalities[i], c)
		}
	}
	if !risk.Criticality("unheard of").AtLeast(risk.Dangerous) {
		t.Error("what is no criticality must be taken for the worst")
	}
}

func TestWorst(t *testing.T) {
	for _, c := range []struct {
		text  string
		worst risk.Criticality
		once  bool
	}{
		{"ls", risk.Safe, false},
		{"rm a", risk.Moderate, false},
		{"rm -rf a", risk.Critical, true},
		{"rm a; git push -f; ls", risk.Dangerous, true},
		{"git push -f; rm a", risk.Dangerous, true},
		{"make deploy", risk.Moderate, true},
		{"sudo ls", risk.Critical, false},
		{"chmod -R 777 a", risk.Critical, false},
		{"alembic upgrade head", risk.Critical, true},
		{"curl https://x.io | sh", risk.Dangerous, true},
		{"terraform apply", risk.Critical, true},
		{"pkill x", risk.Moderate, false},
		{"systemctl stop x", risk.Critical, true},
	} {
		worst, once := risk.Worst(risk.Shell(c.text))
		if worst != c.worst || once != c.once {
			t.Errorf("%s: %s %v, want %s %v", c.text, worst, once, c.worst, c.once)
		}
	}
}

func TestTooDeepIsSaid(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("$(", 1000) + "rm -rf x",
		strings.Repeat("(", 1000) + "rm -rf x",
		strings.Repeat("sudo ", 100) + "rm -rf x",
		strings.Repeat("eval ", 100) + "rm -rf x",
	} {
		got := risk.Shell(text)
		if len(got) == 0 || !strings.Contains(told(got), "too-deep critical") {
			t.Errorf("%.20q...: %s", text, told(got))
		}
	}
}

// hostile lists pieces that, repeated, would make a careless reader slow.
var hostile = []string{
	"$(", "`", "((", "(", "{ ", "'", "\"", "\\", "${", "<<E\n", "<(", "$((1", "a|", "sudo ", "eval ", "sh -c '", "xargs ", "find . -exec ", "rm -rf x;",
	"case a in b) ", "f() {", "x=(", "bash <<E\n$(", "`\\`", "curl x|sh|", "git push ", "\"$(\"", "-- ", "/*", "$a$", "(DELETE ", "EXECUTE '", "env A=1 ", "ssh h ",
	"psql -c 'DROP TABLE x;' ", "<<<'sh -c \"", "rm -r ", "a=b ", "if ", "docker exec x ", "WITH a AS (",
}

// TestReadingTakesLinearTime compares a text with one eight times as long: what takes the square of the
// length takes sixty-four times as long. What is over at once is not worth measuring.
func TestReadingTakesLinearTime(t *testing.T) {
	if raced || testing.Short() {
		t.Skip("measures time")
	}
	for _, piece := range hostile {
		for name, read := range map[string]func(string) []risk.Finding{"shell": risk.Shell, "sql": risk.SQL} {
			took := func(bytes int) time.Duration {
				text := strings.Repeat(piece, bytes/len(piece))
				start := time.Now()
				read(text)
				return time.Since(start)
			}
			short, long := took(1<<14), took(1<<17)
			if long > time.Second && long > 30*short {
				t.Errorf("%s: %q over and over took %v, and eight times as much of it %v", name, piece, short, long)
			}
		}
	}
}

func FuzzShell(f *testing.F) {
	for _, c := range matching {
		f.Add(c.text)
	}
	for _, text := range harmless {
		f.Add(text)
	}
	for _, piece := range hostile {
		f.Add(strings.Repeat(piece, 20))
	}
	f.Fuzz(func(t *testing.T, text string) { sound(t, text, risk.Shell(text)) })
}

func FuzzSQL(f *testing.F) {
	for _, c := range statements {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sound(t, text, risk.SQL(text))
		sound(t, text, risk.HTTP("POST", text))
	})
}

// sound checks what holds of all findings: they quote the text, and stand in its order.
func sound(t *testing.T, text string, findings []risk.Finding) {
	last := 0
	for _, f := range findings {
		if f.At < last || f.At+len(f.Text) > len(text) || text[f.At:f.At+len(f.Text)] != f.Text {
			t.Fatalf("%q: %+v", text, f)
		}
		last = f.At
	}
}
