package main

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/replay"
	"reprise/report/profile"
)

// profileOutput writes where the time of all ranks went, for pprof.
type profileOutput struct {
	path     string
	recorder *profile.Recorder
}

func profileFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "profile", Usage: "write where the time of all ranks goes, by phase, kernel and host, to `FILE` such as run.pb.gz, for go tool pprof"},
	}
}

func newProfileOutput(c *cli.Context, s *settings) (output, error) {
	path := c.String("profile")
	switch path {
	case "":
		return nil, nil
	case "-":
		return nil, command.Usagef("--profile wants a file, as the result goes to standard output; ./- is one of the name -")
	}
	return &profileOutput{path: path}, checkOutput("profile", path, s)
}

func (p *profileOutput) flag() string { return "profile" }

func (p *profileOutput) file() string { return p.path }

// ofAll says that it adds up a whole replay.
func (p *profileOutput) ofAll() {}

func (p *profileOutput) begin(ctx context.Context, end context.CancelCauseFunc, in *input, m *loaded) (replay.Observer, error) {
	if err := atomicfile.Check(p.path); err != nil {
		return nil, err
	}
	p.recorder = profile.NewRecorder(in.header, profile.GroupsOf(in.header, hostsOf(&m.Machine)))
	return p.recorder, nil
}

func (p *profileOutput) write(ctx context.Context, r *results) error {
	return atomicfile.Write(p.path, func(w io.Writer) error { return p.recorder.Write(w) })
}

func (p *profileOutput) abandon() {}
