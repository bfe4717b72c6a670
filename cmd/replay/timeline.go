package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/replay"
	"reprise/report"
	"reprise/report/timeline"
)

// timelineOutput writes what ranks do when for other programs.
type timelineOutput struct {
	path   string
	format timeline.Format
	zipped bool
	span   timeline.Span

	out      *streamed
	sink     timeline.Sink
	recorder *timeline.Recorder
}

// spanOf returns the part of the run that timelines show.
func spanOf(c *cli.Context) (timeline.Span, error) {
	span, err := timeline.ParseSpan(c.String("window"), c.String("window-ranks"))
	if err != nil {
		return span, command.Usagef("--window and --window-ranks: %w", err)
	}
	return span, nil
}

func newTimelineOutput(c *cli.Context, s *settings) (*output, error) {
	path := c.String("timeline")
	if path == "" {
		for _, name := range []string{"window", "window-ranks"} {
			if c.IsSet(name) && c.String("report") == "" {
				return nil, command.Usagef("--%s says what a timeline shows: it needs --timeline or --report", name)
			}
		}
		return nil, nil
	}
	format, zipped, err := timeline.FormatOf(path)
	if err != nil {
		return nil, command.Usagef("--timeline %w", err)
	}
	span, err := spanOf(c)
	if err != nil {
		return nil, err
	}
	t := &timelineOutput{path: path, format: format, zipped: zipped, span: span}
	o := &output{flag: "timeline", file: path, begin: t.begin, write: t.write, abandon: func() { t.out.abandon() }}
	return o, checkOutput("timeline", path, s)
}

func (t *timelineOutput) begin(ctx context.Context, end context.CancelCauseFunc, in *input,
	m *loaded) ([]replay.Observer, error) {
	if err := t.span.Check(in.header); err != nil {
		return nil, command.Usagef("--window: %w", err)
	}
	var err error
	if t.out, err = newStreamed(ctx, t.path, t.zipped, end); err != nil {
		return nil, err
	}
	t.sink = t.format.Sink(t.out, &timeline.Run{Header: in.header, Hosts: hostsOf(&m.Machine), Span: t.span,
		Fail: t.out.fail})
	t.recorder = timeline.NewRecorder(in.header, t.span, t.sink)
	return []replay.Observer{t.recorder.Observer()}, nil
}

func (t *timelineOutput) write(ctx context.Context, r *results) error {
	t.recorder.End()
	err := t.recorder.CheckSeen()
	if labels := report.Labels(r.Report); len(labels) > 0 {
		t.sink.Label(strings.Join(labels, "; "), r.Makespan)
	}
	if err == nil {
		err = t.sink.Close()
	}
	if err != nil {
		return t.out.giveUp(err)
	}
	return t.out.close(ctx)
}

// hostsOf returns the name of the host of each rank.
func hostsOf(m *replay.Machine) []string {
	hosts := make([]string, len(m.Hosts))
	for rank, host := range m.Hosts {
		hosts[rank] = m.Platform.Host(int(host)).Name
	}
	return hosts
}
