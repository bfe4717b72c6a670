package main

import (
	"context"
	"io"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/report"
	"reprise/report/profile"
	"reprise/report/table"
	"reprise/report/timeline"
)

// This file makes the outputs for other programs: --timeline, --table and --profile.

// spanOf returns the part of the run that timelines show. Whether the run has such steps and ranks is checked when its
// header is known.
func spanOf(c *cli.Context) timeline.Span {
	span, err := timeline.ParseSpan(c.String("window"), c.String("window-ranks"))
	if err != nil {
		textutil.Stop(command.Usagef("--window and --window-ranks: %w", err))
	}
	return span
}

// makeTimeline makes the output of --timeline: the actions of each rank, for Perfetto or Pajé. The file grows while the
// replay goes on; if it cannot be written, the replay ends.
func makeTimeline(j *job, c *cli.Context, o *output) error {
	newSink, zipped, err := timeline.FormatOf(o.file)
	if err != nil {
		return command.Usagef("--timeline %w", err)
	}
	span := spanOf(c)
	var out *streamed
	var sink timeline.Sink
	var recorder *timeline.Recorder
	o.begin = func(ctx context.Context) (list []replay.Observer, err error) {
		if err := span.Check(j.in.header); err != nil {
			return nil, command.Usagef("--window: %w", err)
		}
		// The sink tells the file of errors of its own (Fail), and the file the job of those of the disk: either ends
		// the replay.
		if out, err = newStreamed(ctx, o.file, zipped, j.end); err != nil {
			return nil, err
		}
		sink = newSink(out, &timeline.Run{Header: j.in.header, Hosts: hostsOf(&j.machine), Span: span, Fail: out.fail})
		recorder = timeline.NewRecorder(j.in.header, span, sink)
		return []replay.Observer{recorder.Observer()}, nil
	}
	o.write = func(ctx context.Context, r *results) error {
		// Intervals that are still open end where the replay ended. Labels come last, because one of them says how it ended.
		recorder.End()
		err := recorder.CheckSeen()
		if label := strings.Join(report.Labels(r.Report), "; "); label != "" {
			sink.Label(label, r.Makespan)
		}
		if err == nil {
			err = sink.Close()
		}
		return out.close(ctx, err)
	}
	o.abandon = func() { out.abandon() }
	return nil
}

// makeTable makes the output of --table: a row for each rank and step, in columns of doubles. Rows of CSV are written
// as steps end, those of Parquet in groups of many.
func makeTable(j *job, _ *cli.Context, o *output) error {
	parquet := strings.HasSuffix(o.file, ".parquet")
	if !parquet && !strings.HasSuffix(o.file, ".csv") {
		return command.Usagef("--table %q, want a name that ends in .csv or .parquet", o.file)
	}
	var out *streamed
	// A table adds a step up from its begin (whole), which a replay from a checkpoint has not seen.
	var writer table.Writer
	var recorder *table.Recorder
	o.whole = true
	o.begin = func(ctx context.Context) ([]replay.Observer, error) {
		columns, err := table.ColumnsOf(j.in.header)
		if err != nil {
			return nil, err
		}
		if out, err = newStreamed(ctx, o.file, false, j.end); err != nil {
			return nil, err
		}
		if parquet {
			writer = table.NewParquet(out, columns.All)
		} else {
			// Rows of a CSV file have the labels, so these are those of a replay that is not interrupted. Of a part
			// they name the steps that are asked for: which of them a stream has is not known yet.
			h := j.in.header
			first, end := j.stepRange()
			if h.Part() != "" {
				first, end = j.stepsAsked()
			}
			r := &replay.Result{Header: h, First: first, Last: end - 1}
			r.Complete = h.Part() == "" && first == 0 && end == h.Steps
			noisy, err := replay.HasNoise(h, j.machine, j.options)
			if err != nil {
				return nil, out.giveUp(err)
			}
			if noisy {
				r.Seed = &j.options.Seed
			}
			labels := report.Labels(&replay.Report{Provenance: j.provenance(0), Result: r})
			writer = table.NewCSV(out, columns.All, strings.Join(labels, "; "))
		}
		recorder = table.NewRecorder(columns, hostsOf(&j.machine), writer)
		return []replay.Observer{recorder.Observer()}, nil
	}
	o.write = func(ctx context.Context, r *results) error {
		recorder.End(r.StoppedAt != nil)
		if label := strings.Join(report.Labels(r.Report), "; "); label != "" {
			writer.Label(label)
		}
		return out.close(ctx, writer.Close())
	}
	o.abandon = func() { out.abandon() }
	return nil
}

// makeProfile makes the output of --profile: where the time of all ranks went, for pprof. The comments of the file are
// its labels. It is written in the end, as it is small: sums by phase, kernel and host, however long the run is.
func makeProfile(j *job, _ *cli.Context, o *output) error {
	save := func(ctx context.Context, r *profile.Recorder, labels []string) error {
		return writeStreamed(ctx, o.file, func(w io.Writer) error { return r.Write(w, labels...) })
	}
	// The machine, and so the groups of ranks, is not known when the output is made.
	groups := func() profile.Groups { return profile.GroupsOf(j.in.header, hostsOf(&j.machine)) }
	var recorder *profile.Recorder
	o.whole = true
	o.begin = func(context.Context) ([]replay.Observer, error) {
		recorder = profile.NewRecorder(j.in.header, groups())
		return []replay.Observer{recorder.Observer()}, nil
	}
	o.write = func(ctx context.Context, r *results) error { return save(ctx, recorder, report.Labels(r.Report)) }

	// The windows of an estimate, and the replays of --runs, are added up.
	several := sync.OnceValue(func() *profile.Several { return profile.NewSeveral(j.in.header, groups()) })
	o.observe = func() windowObserver { return several().Observe }
	o.writeEstimate = func(r *estimateResults) error {
		return save(context.Background(), several().Estimated(r.Estimate), report.EstimateLabels(r.EstimateReport))
	}
	o.observeRun = func(ro *replay.Options) ([]replay.Observer, func()) { return several().ObserveSeed(ro.Seed) }
	o.writeRuns = func(r *runsResults) error {
		var seeds []uint64
		for _, run := range r.Runs {
			seeds = append(seeds, run.Seed)
		}
		return save(context.Background(), several().Mean(seeds), report.EnsembleLabels(r.EnsembleReport))
	}
	return nil
}
