package web

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// read gives the title and the text of a page; readable is false when it is none.
func read(body []byte, contentType string) (title, text string, readable bool) {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = "text/html" // browsers look inside too
	}
	switch {
	case kind == "text/html", kind == "application/xhtml+xml":
		root, err := html.Parse(strings.NewReader(decode(body, contentType)))
		if err != nil {
			return "", "", false
		}
		return titleOf(root), layOut(root), true
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "json"), strings.HasSuffix(kind, "xml"), strings.HasSuffix(kind, "yaml"), kind == "application/javascript":
		return "", strings.TrimSpace(strings.ReplaceAll(decode(body, contentType), "\r\n", "\n")), true
	}
	return "", "", false
}

// decode makes UTF-8 of a text, by its byte order mark, its type, or what the page says of itself.
func decode(body []byte, contentType string) string {
	encoding, name, certain := charset.DetermineEncoding(body, contentType)
	if name == "utf-8" || !certain && utf8.Valid(body) {
		return strings.ToValidUTF8(string(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))), "\uFFFD")
	}
	text, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		text = body
	}
	return strings.ToValidUTF8(strings.TrimPrefix(string(text), "\ufeff"), "\uFFFD")
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// find walks the elements of a tree in order until visit says that it has seen enough.
func find(n *html.Node, visit func(*html.Node) bool) bool {
	if n.Type == html.ElementNode && visit(n) {
		return true
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if find(c, visit) {
			return true
		}
	}
	return false
}

func flat(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data + " ")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if !skipped(c) {
				walk(c)
			}
		}
	}
	walk(n)
	return strings.Join(strings.Fields(b.String()), " ")
}

// titleOf is what the page calls itself, else its first heading.
func titleOf(root *html.Node) (title string) {
	find(root, func(n *html.Node) bool {
		if n.DataAtom == atom.Title && n.Parent != nil && n.Parent.DataAtom == atom.Head && n.FirstChild != nil {
			title = strings.Join(strings.Fields(n.FirstChild.Data), " ")
		}
		return title != ""
	})
	if title == "" {
		find(root, func(n *html.Node) bool {
			if n.DataAtom == atom.H1 {
				title = flat(n)
			}
			return title != ""
		})
	}
	return title
}

// hidden are elements that hold nothing to be read; furniture are those that are on every page of a site.
var (
	hidden = map[atom.Atom]bool{atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Svg: true, atom.Iframe: true, atom.Head: true, atom.Object: true,
		atom.Canvas: true, atom.Button: true, atom.Select: true, atom.Input: true, atom.Textarea: true, atom.Dialog: true}
	furniture = map[atom.Atom]bool{atom.Nav: true, atom.Footer: true, atom.Aside: true, atom.Form: true}
	roles     = map[string]bool{"navigation": true, "banner": true, "contentinfo": true, "search": true, "complementary": true, "menu": true, "dialog": true}
)

func skipped(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return n.Type == html.CommentNode
	}
	if hidden[n.DataAtom] || attr(n, "aria-hidden") == "true" {
		return true
	}
	for _, a := range n.Attr {
		if a.Key == "hidden" || a.Key == "style" && strings.Contains(strings.ReplaceAll(a.Val, " ", ""), "display:none") {
			return true
		}
	}
	return false
}

// content is the part of a page that is its own: what it marks as such, else all but the furniture.
func content(root *html.Node) *html.Node {
	var main, article, body *html.Node
	length := 0
	var look func(*html.Node)
	look = func(n *html.Node) {
		switch {
		case n.DataAtom == atom.Body:
			body = n
		case main == nil && (n.DataAtom == atom.Main || attr(n, "role") == "main"):
			main = n
		case n.DataAtom == atom.Article:
			if l := len(flat(n)); l > length {
				article, length = n, l
			}
			return // what is in it is part of it
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			look(c)
		}
	}
	look(root)
	switch {
	case main != nil && flat(main) != "":
		return main
	case body == nil:
		return root
	case article != nil && length*4 > len(flat(body)): // not one of many teasers
		return article
	}
	return body
}
