package cli

import (
	"encoding/json"
	"io"
	"os"

	"golang.org/x/term"
)

// Out is where a run function prints, and how the reader wants it.
type Out struct {
	io.Writer
	JSON     bool
	Color    bool
	Width    int  // of the terminal; 0 when it is none, or does not say
	Terminal bool // a person reads it at once
}

// out describes standard output.
func (a *app) out() Out {
	o := Out{Writer: a.io.Out, JSON: a.json}
	f, ok := a.io.Out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return o
	}
	o.Terminal = true
	if w, _, err := term.GetSize(int(f.Fd())); err == nil {
		o.Width = w
	}
	o.Color = a.env("NO_COLOR") == "" && a.env("TERM") != "dumb" && speaksANSI(f)
	return o
}

// drawsLive reports whether a tree may be drawn and drawn over.
func (a *app) drawsLive() (*os.File, bool) {
	f, ok := a.io.Out.(*os.File)
	if !ok || a.json || a.plain || a.env("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return nil, false
	}
	return f, speaksANSI(f)
}

// print writes a value as indented JSON.
func (o Out) print(v any) error {
	e := json.NewEncoder(o)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// line writes a value as one line of JSON.
func (o Out) line(v any) error {
	e := json.NewEncoder(o)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
