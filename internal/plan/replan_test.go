package plan

import "testing"

func TestStricterReplan(t *testing.T) {
	for _, c := range [][3]string{{"", "", "ask"}, {"auto", "", "auto"}, {"", "auto", "auto"}, {"auto", "ask", "ask"}, {"ask", "auto", "ask"},
		{"off", "auto", "off"}, {"auto", "off", "off"}, {"ask", "ask", "ask"}} {
		if got := StricterReplan(c[0], c[1]); got != c[2] {
			t.Errorf("%q and %q come to %q", c[0], c[1], got)
		}
	}
}

func TestPolicyOutsideOfAPlanSaysHowToReplan(t *testing.T) {
	if p, faults := ReadPolicy("cairn.yaml", []byte("policy: {replan: off}\n"), "policy"); faults.Err() != nil || p.Replan != ReplanOff {
		t.Error(p, faults)
	}
	if _, faults := ReadPolicy("cairn.yaml", []byte("policy: {replan: often}\n"), "policy"); faults.Err() == nil {
		t.Error("it takes any word")
	}
}
