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

func newProfileOutput(c *cli.Context, s *settings) (*output, error) {
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
	p := &profileOutput{path: path}
	return &output{
		flag: "profile", file: path, whole: true, begin: p.begin, write: p.write,
		observe: p.observe, writeEstimate: p.writeEstimate, observeRun: p.observeRun, writeRuns: p.writeRuns,
	}, atomicfile.Check(path)
}

func (p *profileOutput) begin(ctx context.Context, end context.CancelCauseFunc, in *input,
	m *loaded) ([]replay.Observer, error) {
	p.recorder = profile.NewRecorder(in.header, profile.GroupsOf(in.header, hostsOf(&m.Machine)))
	return []replay.Observer{p.recorder.Observer()}, nil
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

func (p *profileOutput) observe(in *input, m *loaded) func(from, to int) ([]replay.Observer, func()) {
	return p.ofSeveral(in, m).Observe
}

func (p *profileOutput) writeEstimate(_ *input, _ *loaded, r *estimateResults) error {
	return p.save(context.Background(), p.several.Estimated(r.Estimate), report.EstimateLabels(r.EstimateReport))
}

func (p *profileOutput) observeRun(in *input, m *loaded, o *replay.Options) ([]replay.Observer, func()) {
	return p.ofSeveral(in, m).ObserveSeed(o.Seed)
}

func (p *profileOutput) writeRuns(_ *input, _ *loaded, r *runsResults) error {
	var seeds []uint64
	for _, run := range r.Runs {
		seeds = append(seeds, run.Seed)
	}
	return p.save(context.Background(), p.several.Mean(seeds), report.EnsembleLabels(r.EnsembleReport))
}
