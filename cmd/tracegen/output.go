package main

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"reprise/internal/command"
	"reprise/internal/terminal"
	"reprise/internal/wholefile"
)

// writeTrace calls write with a writer to the file at path, which appears whole
// or not at all, or to stdout if path is "-". It refuses to write binary data to
// a terminal.
func writeTrace(path string, stdout io.Writer, write func(io.Writer) error) error {
	switch {
	case path == "-" && terminal.Is(stdout):
		return command.Usagef("a trace is binary: name a file with -o, or send standard output to a pipe or a file")
	case path == "-":
		return wholefile.Buffered(stdout, write)
	case terminal.IsPath(path):
		return command.Usagef("%s: a trace is binary, and this is a terminal", path)
	}
	return wholefile.Write(path, write)
}

// progress is a bar over the steps; without a bar nobody would see it.
type progress struct{ bar *progressbar.ProgressBar }

func newBar(steps int, quiet bool, stderr io.Writer) progress {
	if quiet || !terminal.Is(stderr) {
		return progress{}
	}
	return progress{progressbar.NewOptions(max(1, steps),
		progressbar.OptionSetWriter(stderr),
		progressbar.OptionSetDescription("steps"),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(200*time.Millisecond))}
}

// set shows that done steps of all are done. What a bar fails to draw is no
// failure of the command.
func (p progress) set(done, all int) {
	if p.bar == nil {
		return
	}
	if p.bar.GetMax() != all {
		p.bar.ChangeMax(all)
	}
	_ = p.bar.Set(done)
}

func (p progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
