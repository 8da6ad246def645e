package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cairn-plan/cairn/internal/fault"
	"github.com/cairn-plan/cairn/internal/plan"
	"github.com/cairn-plan/cairn/internal/plan/source"
)

type fmtOptions struct {
	files []string
	in    io.Reader
	as    string
	write bool
	check bool
}

func (a *app) fmtCommand() *cobra.Command {
	var o fmtOptions
	c := &cobra.Command{
		Use:     "fmt FILE... [--as yaml|json|dsl] [--write] [--check]",
		Short:   "write plan files in canonical form; comments stay",
		Example: "  cairn fmt plan.yaml\n  cairn fmt -w plans/*.yaml\n  cairn fmt --as json plan.yaml > plan.json",
		Args:    takes(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			o.files, o.in = args, a.io.In
			return runFmt(c.Context(), o, a.out())
		},
	}
	c.Flags().StringVar(&o.as, "as", "", "form to write: yaml, json or dsl (default: that of the file)")
	c.Flags().BoolVarP(&o.write, "write", "w", false, "write the file in place")
	c.Flags().BoolVar(&o.check, "check", false, "write nothing; name the files that would change, and exit 1")
	return c
}

// formatted is one file under --json.
type formatted struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Text    string `json:"text,omitempty"`
}

func runFmt(ctx context.Context, o fmtOptions, out Out) error {
	var all []formatted
	changed := 0
	for _, name := range o.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, text, err := o.format(name)
		if err != nil {
			return err
		}
		if f.Changed {
			changed++
		}
		switch {
		case o.write || o.check:
			if f.Changed && !out.JSON {
				fmt.Fprintln(out, name)
			}
		case out.JSON:
			f.Text = string(text)
		default:
			if _, err := out.Write(text); err != nil {
				return err
			}
		}
		all = append(all, f)
	}
	if out.JSON {
		if err := out.print(all); err != nil {
			return err
		}
	}
	if o.check && changed > 0 {
		return outcome{fault.Failed}
	}
	return nil
}

// format makes the canonical text of one file and, where that was asked for, puts it in the file's place.
func (o fmtOptions) format(name string) (formatted, []byte, error) {
	src, err := readFile(name, o.in)
	if err != nil {
		return formatted{}, nil, err
	}
	own := string(source.FormOf(name, src))
	as := o.as
	if as == "" {
		as = own
	}
	if o.write && (name == fromStdin || as != own) {
		return formatted{}, nil, fault.New(fault.Invalid, "%s is %s and cannot be written in place as %s", name, own, as).
			Remedy("leave --write out, and send the output to a file of its own")
	}
	text, err := plan.Format(filepath.ToSlash(name), src, as)
	if err != nil {
		return formatted{}, nil, err
	}
	f := formatted{File: name, Changed: !bytes.Equal(src, text)}
	if o.write && f.Changed {
		err = replaceFile(name, text)
	}
	return f, text, err
}

// replaceFile puts text in a file's place, whole or not at all, and keeps its mode.
func replaceFile(name string, text []byte) error {
	bad := func(err error) error {
		return fault.Wrap(fault.Invalid, err, "write %s", name).Remedy("make the file and its folder writable")
	}
	info, err := os.Stat(name)
	if err != nil {
		return bad(err)
	}
	temp, err := os.CreateTemp(filepath.Dir(name), ".fmt-*")
	if err != nil {
		return bad(err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(text)
	if cerr := temp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(temp.Name(), info.Mode().Perm())
	}
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		return bad(err)
	}
	return nil
}
