package main

import (
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/internal/terminal"
)

// writeTrace calls write with a writer to the file at path, which appears whole
// or not at all, or to stdout if path is "-". It refuses to write binary data to
// a terminal.
func writeTrace(path string, stdout io.Writer, write func(io.Writer) error) error {
	switch {
	case path == "-" && terminal.Is(stdout):
		return command.Usagef("a trace is binary: name a file with -o, or send standard output to a pipe or a file")
	case path == "-":
		return atomicfile.Buffered(stdout, write)
	case terminal.IsPath(path):
		return command.Usagef("%s: a trace is binary, and this is a terminal", path)
	}
	return atomicfile.Write(path, write)
}

// commandLine joins the arguments as a person would have typed them, but for
// where the trace goes and for --quiet: the same parameters give the same bytes.
func commandLine(args []string, flags []cli.Flag) string {
	words := []string{"tracegen"}
	for i := 1; i < len(args); i++ {
		name, _, hasValue := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		first := i
		if strings.HasPrefix(args[i], "-") && !hasValue && takesValue(flags, name) && i+1 < len(args) {
			i++
		}
		if strings.HasPrefix(args[first], "-") && (name == "o" || name == "output" || name == "quiet") {
			continue
		}
		for _, arg := range args[first : i+1] {
			words = append(words, command.Quoted(arg))
		}
	}
	return strings.Join(words, " ")
}

// takesValue reports whether a flag of these has a value as its next argument.
func takesValue(flags []cli.Flag, name string) bool {
	for _, f := range flags {
		if _, isSwitch := f.(*cli.BoolFlag); !isSwitch && slices.Contains(f.Names(), name) {
			return true
		}
	}
	return false
}
