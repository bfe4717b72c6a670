package main

import (
	"context"
	"io"
	"sync"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
	"reprise/internal/command"
	"reprise/replay"
	"reprise/report"
	"reprise/report/profile"
)

// profileOutput writes where the time of all ranks went, for pprof.
type profileOutput struct {
	path     string
	recorder *profile.Recorder
	several  *profile.Several // of the windows of an estimate, or of --runs
	once     sync.Once
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
	if err := checkOutput("profile", path, s); err != nil {
		return nil, err
	}
	return &profileOutput{path: path}, atomicfile.Check(path)
}

func (p *profileOutput) flag() string { return "profile" }

func (p *profileOutput) file() string { return p.path }

// ofAll says that it adds up a whole replay.
func (p *profileOutput) ofAll() {}

func (p *profileOutput) begin(ctx context.Context, end context.CancelCauseFunc, in *input, m *loaded) (replay.Observer, error) {
	p.recorder = profile.NewRecorder(in.header, profile.GroupsOf(in.header, hostsOf(&m.Machine)))
	return p.recorder, nil
}

func (p *profileOutput) write(ctx context.Context, r *results) error {
	return p.save(ctx, p.recorder, report.Labels(r.Report))
}

// save writes a profile, with what it is of as comments.
func (p *profileOutput) save(ctx context.Context, r *profile.Recorder, labels []string) error {
	return writeStreamed(ctx, p.path, func(w io.Writer) error { return r.Write(w, labels...) })
}

// ofSeveral returns what several replays are added up in.
func (p *profileOutput) ofSeveral(in *input, m *loaded) *profile.Several {
	p.once.Do(func() { p.several = profile.NewSeveral(in.header, profile.GroupsOf(in.header, hostsOf(&m.Machine))) })
	return p.several
}

// observe observes a window of an estimate.
func (p *profileOutput) observe(in *input, m *loaded) func(from, to int) (replay.Observer, func()) {
	return p.ofSeveral(in, m).Observe
}

func (p *profileOutput) writeEstimate(_ context.Context, _ *input, _ *loaded, r *estimateResults) error {
	return p.save(context.Background(), p.several.Estimated(r.Estimate), report.EstimateLabels(r.EstimateReport))
}

// observeRun observes the replay with a seed.
func (p *profileOutput) observeRun(in *input, m *loaded, o *replay.Options) (replay.Observer, func()) {
	return p.ofSeveral(in, m).ObserveSeed(o.Seed)
}

func (p *profileOutput) writeRuns(_ *input, _ *loaded, r *runsResults) error {
	var seeds []uint64
	for _, run := range r.Runs {
		seeds = append(seeds, run.Seed)
	}
	return p.save(context.Background(), p.several.Mean(seeds), report.EnsembleLabels(r.EnsembleReport))
}

func (p *profileOutput) abandon() {}
