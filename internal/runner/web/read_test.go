package web

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
)

func TestRead(t *testing.T) {
	page := `<!doctype html><html><head><title>Guide &amp; more</title><style>x{}</style></head><body>
<header role="banner">Site name</header><nav><a href="/">Home</a></nav>
<div class="menu"><a href="a">One</a> <a href="b">Two</a> <a href="c">Three</a></div>
<article><h1>Guide</h1>
<p>First <b>bold</b>, then <a href="x">a link</a>.<br>Next
   line.</p><script>evil()</script><p hidden>not this</p><p style="display: none">nor this</p>
<ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul>
<pre>func f() {
	return
}
</pre>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<aside>Related</aside><blockquote>Quote.</blockquote><h2></h2></article>
<footer>Imprint</footer><noscript>Enable it</noscript></body></html>`
	want := "# Guide\n\nFirst bold, then a link.\nNext line.\n\n- one\n  - inner\n- two\n\n```\nfunc f() {\n\treturn\n}\n```\n\na | b\n1 | 2\n\nQuote."
	title, text, ok := read([]byte(page), "text/html")
	if !ok || title != "Guide & more" || text != want {
		t.Errorf("%s\n%q\nwant\n%q", title, text, want)
	}
	_, text, _ = read([]byte(strings.ReplaceAll(page, "article>", "div>")), "text/html")
	if !strings.HasPrefix(text, "# Guide\n\nFirst bold") || strings.Contains(text, "Three") || strings.Contains(text, "Home") || strings.Contains(text, "Imprint") {
		t.Errorf("without an article: %q", text)
	}
}

func TestReadOdd(t *testing.T) {
	eucKR, err := korean.EUCKR.NewEncoder().String("<title>제목</title><p>본문 글자입니다</p>")
	if err != nil {
		t.Fatal(err)
	}
	sjis, err := japanese.ShiftJIS.NewEncoder().String(`<meta charset="shift_jis"><h1>見出し</h1>`)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ body, kind, title, text string }{
		"by header":      {eucKR, "text/html; charset=euc-kr", "제목", "본문 글자입니다"},
		"by meta":        {sjis, "text/html", "見出し", "# 見出し"},
		"latin 1":        {"caf\xe9", "text/plain; charset=iso-8859-1", "", "café"},
		"utf-8 unsaid":   {"café", "text/plain", "", "café"},
		"byte order":     {"\xff\xfeh\x00i\x00", "text/plain", "", "hi"},
		"mark":           {"\xef\xbb\xbfhi\r\nyou", "text/plain; charset=utf-8", "", "hi\nyou"},
		"broken":         {"a\xffb", "text/plain; charset=utf-8", "", "a\uFFFDb"},
		"json":           {`{"a": 1}`, "application/json", "", `{"a": 1}`},
		"unknown":        {"<h1>x</h1>", "", "x", "# x"},
		"empty":          {"", "text/html", "", ""},
		"an empty main":  {"<main></main><p>x</p>", "text/html", "", "x"},
		"many teasers":   {"<article>one is short</article><article>two is longer</article><p>" + strings.Repeat("and the rest ", 10), "text/html", "", "one is short\n\ntwo is longer\n\n" + strings.TrimSpace(strings.Repeat("and the rest ", 10))},
		"svg title":      {"<body><svg><title>icon</title></svg><h1>Real <i>one</i></h1>", "text/html", "Real one", "# Real one"},
		"role":           {`<div role="main">x</div><div>y</div>`, "text/html", "", "x"},
		"a list of text": {"<ul><li><a href=x>" + strings.Repeat("a long link ", 10) + "</a></li><li>b</li></ul>", "text/html", "", "- " + strings.TrimSpace(strings.Repeat("a long link ", 10)) + "\n- b"},
	} {
		title, text, ok := read([]byte(c.body), c.kind)
		if !ok || title != c.title || text != c.text {
			t.Errorf("%s: %q, %q", name, title, text)
		}
	}
	for _, kind := range []string{"application/pdf", "image/png", "application/octet-stream"} {
		if _, _, ok := read([]byte("x"), kind); ok {
			t.Errorf("%s was read", kind)
		}
	}
}

func TestRules(t *testing.T) {
	rules := "\ufeff# comment\nUser-Agent: other\nDisallow: /\n\nuser-agent: *\nDisallow: /a\nAllow: /a/b # but this\nDisallow: /*.pdf$\nDisallow:\nnonsense\nDisallow: /q?x=*&y\nSitemap: x\n"
	for path, want := range map[string]bool{"/": true, "/a": false, "/abc": false, "/a/b": true, "/a/c": false, "/x.pdf": false, "/x.pdf?y": true, "/q?x=1&y": false, "/q?x=1": true} {
		if allows(rules, path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
	if named := rules + "User-agent: x\nUser-agent: CAIRN/2\nAllow: /a\nDisallow: /a\nDisallow: /z\n"; !allows(named, "/a") || allows(named, "/z") || !allows(named, "/x.pdf") {
		t.Error("our own group does not count alone")
	}
	if !allows("", "/") || !allows("User-agent: cairn\n", "/") || allows("User-agent: *\nDisallow: /*$", "/x") || allows("User-agent: *\nDisallow: /x$", "/x") || !allows("User-agent: *\nDisallow: /x$", "/xy") {
		t.Error("edges")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("<ul><li>x<pre>y<table><td>z"), "text/html")
	f.Add([]byte("\xff\xfe<"), "text/html; charset=utf-16")
	f.Fuzz(func(t *testing.T, body []byte, kind string) {
		title, text, _ := read(body, kind)
		if strings.ToValidUTF8(title+text, "?") != title+text {
			t.Errorf("no UTF-8: %q", title+text)
		}
	})
}
