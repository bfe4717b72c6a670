package main

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/replay"
	"reprise/report"
)

// pageFile is the output of --report: a page of all that a replay records.
type pageFile struct {
	file     string
	settings *settings
	in       *input
	machine  *loaded
}

func reportFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "report", Usage: "write pictures of where the time went to `FILE`.html: one file for any browser, without a network"},
	}
}

func newPageFile(c *cli.Context, s *settings) (output, error) {
	file := c.String("report")
	switch file {
	case "":
		return nil, nil
	case "-":
		return nil, command.Usagef("--report wants a file, as the result goes to standard output; ./- is one of the name -")
	}
	return &pageFile{file: file, settings: s}, atomicfile.Check(file)
}

func (p *pageFile) flag() string { return "report" }

func (p *pageFile) begin(_ context.Context, _ context.CancelCauseFunc, in *input, m *loaded) (replay.Observer, error) {
	p.in, p.machine = in, m
	return nil, nil
}

// write writes the page, of an interrupted replay, too: it is labelled so.
func (p *pageFile) write(_ context.Context, r *results) error {
	d, err := p.data(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(p.file, func(w io.Writer) error { return report.Write(w, d) })
}

// writeEstimate writes the page of an estimate.
func (p *pageFile) writeEstimate(_ context.Context, in *input, m *loaded, r *estimateResults) error {
	p.in, p.machine = in, m
	d, err := p.estimateData(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(p.file, func(w io.Writer) error { return report.Write(w, d) })
}

func (p *pageFile) abandon() {}
