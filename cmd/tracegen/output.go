package main

import (
	"io"

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
