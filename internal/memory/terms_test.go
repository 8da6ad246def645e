package memory_test

import (
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/cairn-plan/cairn/internal/memory"
)

func TestTerms(t *testing.T) {
	for text, want := range map[string]string{
		"Deploys, deployed & deploying the deployment": "deploy deploy deploy deployment",
		"dbHost=DB_1":              "dbhost db host db 1",
		"buses cities boxes class": "buse city box class",
		"running stopped status":   "run stop status",
		"release releases":         "releas releas",
		"배포는 서울에서":                 "배포 포는 서울 울에 에서",
		"3월 값":                     "3 월 값",
		"ｆｕｌｌ width":               "full width",
		"café CAFÉ":                "café café",
		"":                         "",
		"the of to":                "",
	} {
		words, pairs := memory.Terms(text)
		if got := strings.Join(append(words, pairs...), " "); got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
	// Written in jamo, as some systems name files.
	if _, pairs := memory.Terms("\u1112\u1161\u11ab\u1100\u1173\u11af"); strings.Join(pairs, " ") != "한글" {
		t.Error(pairs)
	}
}

// Terms hold nothing that the syntax of a search could take for its own.
func TestTermsAreBare(t *testing.T) {
	bare := func(text string) bool {
		words, pairs := memory.Terms(text)
		for _, term := range append(words, pairs...) {
			if term == "" || strings.ContainsAny(term, `"'*^:(){}+- `) {
				return false
			}
		}
		return true
	}
	if err := quick.Check(bare, nil); err != nil {
		t.Error(err)
	}
}

func TestTextOfValues(t *testing.T) {
	for value, want := range map[string]string{
		`"a b"`: "a b", `{"y": [1.50, true, false], "x": null}`: "x y 1.50 true false", `{`: "", `12345678901234567890`: "12345678901234567890",
	} {
		if got := memory.Text([]byte(value)); got != want {
			t.Errorf("%s says %q", value, got)
		}
	}
	if v := memory.Value("not json"); string(v) != `"not json"` {
		t.Errorf("%s", v)
	}
}

func TestWhyInWords(t *testing.T) {
	f := memory.Found{Words: []string{"deploy", "region"}, Ranks: map[string]int{"text": 1, "recency": 3}}
	for age, want := range map[time.Duration]string{-time.Second: "0s", 59 * time.Second: "59s", 90 * time.Minute: "1h", 5 * time.Minute: "5m", 49 * time.Hour: "2d"} {
		if f.Age = age; f.Text() != "words deploy region; rank text 1, recency 3; "+want+" old" {
			t.Error(f.Text())
		}
	}
}
