package expr_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/cairn-plan/cairn/internal/expr"
	"github.com/cairn-plan/cairn/internal/fault"
)

func TestText(t *testing.T) {
	value := "two words"
	get := func(r expr.Ref) (any, error) {
		if len(r.Path) > 0 && r.Path[0] == "n" {
			return int64(42), nil
		}
		return value, nil
	}
	for run, want := range map[string]string{
		"echo ${a.b} ${HOME} ${x:-1} $y":       "echo 'two words' ${HOME} ${x:-1} $y",
		`echo "a ${a.b} c"`:                    `echo "a "'two words'" c"`,
		`echo 'a ${a.b} c'`:                    `echo 'a ''two words'' c'`,
		`echo \" ${a.b}`:                       `echo \" 'two words'`,
		`echo "\" ${a.b}"`:                     `echo "\" "'two words'""`,
		`echo "$(cat "${a.b}") ${a.b}"`:        `echo "$(cat ""'two words'"") "'two words'""`,
		`(cd ${a.b}; ls) # don't ${a.b}`:       `(cd 'two words'; ls) # don't ${a.b}`,
		"# it's\necho ${a.b}":                  "# it's\necho 'two words'",
		"echo $# ${a.b}":                       "echo $# 'two words'",
		"cat <<<${a.b}":                        "cat <<<'two words'",
		"cat <<E\n${a.n}\nE":                   "cat <<E\n42\nE",
		"echo $(( ${a.n} + 1 )) `echo ${a.n}`": "echo $(( 42 + 1 )) `echo 42`",
		"echo $${a.b} $${HOME} $$":             "echo ${a.b} ${HOME} $$",
		`echo "$${x-"y"}"`:                     `echo "${x-"y"}"`,
		"echo ${item} ${index}":                "echo ${item} ${index}",
		"echo ${item.x}":                       "echo 'two words'",
		"echo ${secret:KEY}":                   "echo 'two words'",
		"echo $":                               "echo $",
		"":                                     "",
	} {
		got, err := expr.Text(run, false, get)
		if err != nil || got != want {
			t.Errorf("%s\n got %s, %v\nwant %s", run, got, err, want)
		}
	}
	if got, err := expr.Text("echo ${item} ${index}", true, get); got != "echo 'two words' 'two words'" || err != nil {
		t.Errorf("each: %s, %v", got, err)
	}
	for _, run := range []string{"cat <<E\n${a.b}\nE", "echo `echo ${a.b}`", "echo $(( ${a.b} ))", "(( ${a.b} ))", `echo "$(( ${a.b} ))"`,
		"echo $'${a.b}'", "[[ ${a.b} -eq 0 ]]", `echo "$(case x in x) echo ${a.b};; esac)"`, `echo "${x:-${a.b}}"`, "echo \"`echo ${a.b}`\""} {
		got, err := expr.Text(run, false, get)
		if err == nil || !strings.Contains(fault.HintOf(err), "env: {VALUE:") {
			t.Errorf("%s: %s, %v", run, got, err)
		}
	}
	value = "a\x00b"
	if _, err := expr.Text("echo ${a.b}", false, get); err == nil || !strings.Contains(err.Error(), "zero byte") {
		t.Errorf("zero byte: %v", err)
	}
	if _, err := expr.Text("echo ${a.b}", false, func(expr.Ref) (any, error) { return nil, errors.New("gone") }); err == nil {
		t.Error("a failed lookup was taken")
	}
	if _, err := expr.Text("echo ${a.b}", false, func(expr.Ref) (any, error) { return func() {}, nil }); err == nil {
		t.Error("a function was taken")
	}
}

// A value must arrive as it is, in every place, in front of a real shell.
func TestTextAgainstAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	places := []string{`printf %s ${a.b}`, `printf %s "${a.b}"`, `printf %s '${a.b}'`, `printf %s "$(printf %s "${a.b}")"`,
		`printf %s "$(printf %s '${a.b}')"`, `x=${a.b}; printf %s "$x"`, `# it's (a "comment
printf %s ${a.b}`, `printf %s "$(# it's )
printf %s ${a.b})"`, `(printf %s ${a.b})`, `printf %s ''"${a.b}"`, `x=1; printf %s ${x#1}"${a.b}"`}
	values := []string{"", "a b", "it's", `"`, "$(echo pwned)", "`echo pwned`", "'; echo pwned; '", `"; echo pwned; "`, "${HOME}", `\`, "a\nb", "*", "~",
		"-n", "\\'", "x=1", "é ü", "!", "#", "'$(echo pwned)'", `"$(echo pwned)"`, ")", "\"'\"'"}
	for _, place := range places {
		for _, value := range values {
			run, err := expr.Text(place, false, func(expr.Ref) (any, error) { return value, nil })
			if err != nil {
				t.Errorf("%s with %q: %v", place, value, err)
				continue
			}
			out, err := exec.CommandContext(t.Context(), sh, "-c", run).Output()
			if err != nil || string(out) != value {
				t.Errorf("%s with %q became\n%s\nand gave %q, %v", place, value, run, out, err)
			}
		}
	}
}

func TestTextKeepsSecretsOutOfTheCommandLine(t *testing.T) {
	lookup := func(expr.Ref) (any, error) { return expr.Variable("CAIRN_SECRET_T"), nil }
	for run, want := range map[string]string{
		`curl -H ${secret:T}`:                   `curl -H "${CAIRN_SECRET_T}"`,
		`curl -H "Bearer ${secret:T}"`:          `curl -H "Bearer ${CAIRN_SECRET_T}"`,
		`curl -H 'Bearer ${secret:T}'`:          `curl -H 'Bearer '"${CAIRN_SECRET_T}"''`,
		"cat <<E\n${secret:T}\nE":               "cat <<E\n${CAIRN_SECRET_T}\nE",
		`echo $(printf %s "x ${secret:T}") end`: `echo $(printf %s "x ${CAIRN_SECRET_T}") end`,
	} {
		got, err := expr.Text(run, false, lookup)
		if err != nil || got != want {
			t.Errorf("%s became %s (%v), want %s", run, got, err, want)
		}
	}
}
