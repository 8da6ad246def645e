package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Version says which cairn this is.
type Version struct {
	Number   string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a changed tree
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (v Version) String() string {
	s := "cairn " + v.Number
	if v.Commit != "" {
		s += " " + v.Commit[:min(12, len(v.Commit))]
		if v.Modified {
			s += "+changes"
		}
	}
	return fmt.Sprintf("%s (%s %s)", s, v.Go, v.Platform)
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print which cairn this is",
		Example: "  cairn version --json",
		Args:    takes(0, 0),
		RunE:    func(*cobra.Command, []string) error { return runVersion(a.parts.Version, a.out()) },
	}
}

func runVersion(v Version, out Out) error {
	if out.JSON {
		return out.print(v)
	}
	_, err := fmt.Fprintln(out, v)
	return err
}
