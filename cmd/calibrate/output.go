package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/wholefile"
)

// output is a file that a command may write besides its report.
type output struct {
	what    string // for messages
	path    string // "": none; "-": standard output
	content func(io.Writer) error
}

// writeOutputs writes what is asked for. Files appear whole, and if one cannot be
// written none does. It reports whether the standard output got something, which then has room for no report.
func writeOutputs(c *cli.Context, list ...output) (printed bool, err error) {
	var files []output
	for _, o := range list {
		if o.path != "" && o.path != "-" {
			files = append(files, o)
		}
	}
	if err := writeFiles(files); err != nil {
		return false, err
	}
	for _, o := range list {
		if o.path == "-" {
			return true, o.content(c.App.Writer)
		}
	}
	return false, nil
}

// writeFiles writes files, each of which is finished when all after it are.
func writeFiles(list []output) error {
	if len(list) == 0 {
		return nil
	}
	var after error
	err := wholefile.Write(list[0].path, func(w io.Writer) error {
		if err := list[0].content(w); err != nil {
			return err
		}
		after = writeFiles(list[1:])
		return after
	})
	if err != nil && after == nil {
		err = fmt.Errorf("%s: %w", list[0].what, err)
	}
	return err
}

// checkOutputs refuses that several of the flags ask for the standard output.
func checkOutputs(c *cli.Context, flags ...string) error {
	var dashes []string
	for _, f := range flags {
		if c.String(f) == "-" {
			dashes = append(dashes, "--"+f+" -")
		}
	}
	if len(dashes) > 1 {
		return command.Usagef("%s: %s: standard output takes one of them", c.Command.Name, strings.Join(dashes, ", "))
	}
	return nil
}
