package web

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// paper is a text as it is laid out: paragraphs with an empty line between them.
type paper struct {
	b     strings.Builder
	gap   int  // line ends owed before the next word
	blank bool // a blank owed before the next word
	pre   int  // depth of preformatted elements
	lists int  // depth of lists
}

// layOut gives what is to be read on a page.
func layOut(root *html.Node) string {
	p := &paper{}
	p.element(content(root))
	return strings.TrimSpace(p.b.String())
}

func (p *paper) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode && p.pre > 0:
			p.verbatim(c.Data)
		case c.Type == html.TextNode:
			p.words(c.Data)
		case skipped(c):
		case c.Type == html.ElementNode && (furniture[c.DataAtom] || roles[attr(c, "role")] || linksOnly(c)):
		default:
			p.element(c)
		}
	}
}

// blocks are elements that stand by themselves, with the line ends around them.
var blocks = map[atom.Atom]int{
	atom.P: 2, atom.Div: 1, atom.Section: 2, atom.Article: 2, atom.Main: 2, atom.Header: 2, atom.Blockquote: 2, atom.Figure: 2, atom.Figcaption: 1, atom.Table: 2, atom.Tr: 1,
	atom.Ul: 2, atom.Ol: 2, atom.Dl: 2, atom.Dt: 1, atom.Dd: 1, atom.Li: 1, atom.Pre: 2, atom.H1: 2, atom.H2: 2, atom.H3: 2, atom.H4: 2, atom.H5: 2, atom.H6: 2, atom.Hr: 2, atom.Address: 1,
	atom.Details: 1, atom.Summary: 1, atom.Caption: 1,
}

func (p *paper) element(n *html.Node) {
	lines := blocks[n.DataAtom]
	if (n.DataAtom == atom.Ul || n.DataAtom == atom.Ol) && p.lists > 0 {
		lines = 1 // a list in a list
	}
	p.owe(lines)
	switch n.DataAtom {
	case atom.Br:
		p.owe(max(1, p.gap))
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if flat(n) != "" {
			p.mark(strings.Repeat("#", int(n.Data[1]-'0')) + " ")
		}
		p.children(n)
	case atom.Ul, atom.Ol, atom.Menu:
		p.lists++
		p.children(n)
		p.lists--
	case atom.Li:
		p.mark(strings.Repeat("  ", max(0, p.lists-1)) + "- ")
		p.children(n)
	case atom.Td, atom.Th:
		if n.PrevSibling != nil && p.gap == 0 {
			p.mark(" | ")
		}
		p.children(n)
	case atom.Pre:
		p.mark("```\n")
		p.pre++
		p.children(n)
		p.pre--
		if !strings.HasSuffix(p.b.String(), "\n") {
			p.b.WriteByte('\n')
		}
		p.b.WriteString("```")
	default:
		p.children(n)
	}
	p.owe(lines)
}

func (p *paper) owe(lines int) {
	if p.pre == 0 {
		p.gap = max(p.gap, lines)
	}
}

// settle writes the line ends that are owed.
func (p *paper) settle() {
	if p.b.Len() > 0 {
		p.b.WriteString(strings.Repeat("\n", p.gap))
	}
	if p.gap > 0 {
		p.blank = false
	}
	p.gap = 0
}

// mark writes what is not the page's own.
func (p *paper) mark(s string) {
	p.settle()
	p.b.WriteString(s)
	p.blank = false
}

func (p *paper) words(s string) {
	words := strings.Fields(s)
	if len(words) == 0 {
		p.blank = p.blank || s != ""
		return
	}
	p.settle()
	if (p.blank || strings.TrimLeft(s, " \t\r\n\f") != s) && p.b.Len() > 0 {
		if t := p.b.String(); t[len(t)-1] != '\n' && t[len(t)-1] != ' ' {
			p.b.WriteByte(' ')
		}
	}
	p.b.WriteString(strings.Join(words, " "))
	p.blank = strings.TrimRight(s, " \t\r\n\f") != s
}

func (p *paper) verbatim(s string) {
	p.b.WriteString(strings.ReplaceAll(s, "\r\n", "\n"))
	p.blank = false
}

// maxMenu is how much text is looked at to tell a menu; a longer one is taken for a text.
const maxMenu = 8 << 10

// linksOnly recognises a menu that is not marked as one: several short links, and hardly a word beside them.
func linksOnly(n *html.Node) bool {
	if n.DataAtom != atom.Ul && n.DataAtom != atom.Div {
		return false
	}
	links, linked, plain := 0, 0, 0
	var walk func(n *html.Node, inside bool) bool
	walk = func(n *html.Node, inside bool) bool {
		if n.DataAtom == atom.A {
			inside = true
			links++
		}
		if n.Type == html.TextNode {
			if size := len(strings.TrimSpace(n.Data)); inside {
				linked += size
			} else {
				plain += size
			}
		}
		for c := n.FirstChild; c != nil && linked+plain <= maxMenu; c = c.NextSibling {
			walk(c, inside)
		}
		return linked+plain <= maxMenu
	}
	return walk(n, false) && links >= 3 && plain*9 <= linked && linked < 40*links
}
