package digest

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"
)

// The vectors are those of RFC 8785, sections 3.2.2 to 3.2.4 and appendix B.
func TestCanonicalizeVectors(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],` +
			`"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],` +
				`"string":"€$\u000f\nA'B\"\\\\\"/"}`},
		{`{"\u20ac":"Euro","\r":"CR","\ufb33":"Dalet","1":"One","\ud83d\ude00":"Smiley","\u0080":"Control","\u00f6":"O"}`,
			"{\"\\r\":\"CR\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"O\",\"€\":\"Euro\",\"😀\":\"Smiley\",\"\ufb33\":\"Dalet\"}"},
		{`[1e17,100000000000000000,9223372036854776000]`, `[100000000000000000,100000000000000000,9223372036854776000]`},
		{` [ 56 , { "d" : true , "10" : null , "1" : [ ] } ] `, `[56,{"1":[],"10":null,"d":true}]`},
	} {
		got, err := Canonicalize([]byte(tc.in))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != tc.want {
			t.Errorf("\n got %s\nwant %s", got, tc.want)
		}
	}
}

func TestNumbersAsECMAScriptWritesThem(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0", 0x8000000000000000: "0", 0x0000000000000001: "5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308", 0x4340000000000000: "9007199254740992",
		0x44b52d02c7e14af5: "9.999999999999997e+22", 0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x3eb0c6f7a0b5ed8d: "0.000001", 0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x41b3de4355555553: "333333333.3333332", 0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		if got := string(appendFloat(nil, math.Float64frombits(bits))); got != want {
			t.Errorf("%016x: got %s, want %s", bits, got, want)
		}
	}
}

func TestCanonicalizeRefuses(t *testing.T) {
	for _, in := range []string{`9007199254740993`, `-9223372036854775808`, `12345678901234567890`, `1e400`, `{} {}`, `{`, ``, `nul`} {
		if got, err := Canonicalize([]byte(in)); err == nil {
			t.Errorf("%s was accepted as %s", in, got)
		}
	}
}

func TestParse(t *testing.T) {
	id := Sum([]byte("abc"))
	if id.String() != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Fatal(id)
	}
	back, err := Parse(id.String())
	if err != nil || back != id {
		t.Fatal(back, err)
	}
	for _, bad := range []string{"", "ba78", strings.Repeat("g", 64)} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestPartsAreUnambiguous(t *testing.T) {
	if Parts("a", "bc") == Parts("ab", "c") || Parts() == Parts("") {
		t.Fatal("two lists share a name")
	}
}

func FuzzCanonicalize(f *testing.F) {
	f.Add([]byte(`{"b":1,"a":[1.5e3,"é\n"]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		once, err := Canonicalize(in)
		if err != nil {
			return
		}
		twice, err := Canonicalize(once)
		if err != nil || string(once) != string(twice) {
			t.Fatalf("not a fixed point: %s then %s (%v)\n%s", once, twice, err, hex.EncodeToString(in))
		}
	})
}
