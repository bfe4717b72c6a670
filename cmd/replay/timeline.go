package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/atomicfile"
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

func timelineFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "timeline", Usage: "write what every rank does when to `FILE`: .pftrace for Perfetto, .paje for Pajé; .gz behind it compresses"},
		&cli.StringFlag{Name: "window", Usage: "the timeline shows what lies between two times, `T0:T1` in seconds, or in steps, \"step A:B\", B not included", DefaultText: "all; of --report two steps in the middle"},
		&cli.StringFlag{Name: "window-ranks", Usage: "the timeline shows ranks `A-B`", DefaultText: "all; of --report some 64"},
	}
}

// spanOf returns the part of the run that timelines show.
func spanOf(c *cli.Context) (timeline.Span, error) {
	span, err := timeline.ParseSpan(c.String("window"), c.String("window-ranks"))
	if err != nil {
		return span, command.Usagef("--window and --window-ranks: %w", err)
	}
	return span, nil
}

func newTimelineOutput(c *cli.Context, s *settings) (output, error) {
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
	return &timelineOutput{path: path, format: format, zipped: zipped, span: span}, checkOutput("timeline", path, s)
}

// checkOutput refuses an output that would replace what is read.
func checkOutput(flag, path string, s *settings) error {
	machine := []string{filepath.Join(s.machine, "platform.xml"), filepath.Join(s.machine, "kernels.yaml")}
	if err := atomicfile.CheckOverwrite(path, machine...); err != nil && s.machine != "" {
		return command.Usagef("--%s %w", flag, err)
	}
	if err := atomicfile.CheckOverwrite(path, s.trace, s.platform, s.kernels, s.hostfile, s.networkNoise, s.keep.file, s.keep.resume); err != nil {
		return command.Usagef("--%s %w", flag, err)
	}
	return nil
}

// spare refuses outputs that would replace what the index of a text trace names.
func (s *settings) spare(in *input) error {
	if in.text == nil {
		return nil
	}
	if err := atomicfile.CheckOverwrite(s.keep.file, in.text.Files()...); err != nil {
		return command.Usagef("--checkpoint %w", err)
	}
	for _, o := range s.outputs {
		f, ok := o.(filed)
		if !ok {
			continue
		}
		if err := atomicfile.CheckOverwrite(f.file(), in.text.Files()...); err != nil {
			return command.Usagef("--%s %w", o.flag(), err)
		}
	}
	return nil
}

func (t *timelineOutput) flag() string { return "timeline" }

func (t *timelineOutput) file() string { return t.path }

func (t *timelineOutput) begin(ctx context.Context, end context.CancelCauseFunc, in *input, m *loaded) (replay.Observer, error) {
	if err := t.span.Check(in.header); err != nil {
		return nil, command.Usagef("--window: %w", err)
	}
	var err error
	if t.out, err = newStreamed(ctx, t.path, t.zipped, end); err != nil {
		return nil, err
	}
	t.sink = t.format.Sink(t.out, &timeline.Run{Header: in.header, Hosts: hostsOf(&m.Machine), Span: t.span, Fail: t.out.fail})
	t.recorder = timeline.NewRecorder(in.header, t.span, t.sink)
	return t.recorder, nil
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

func (t *timelineOutput) abandon() { t.out.abandon() }

// hostsOf returns the name of the host of each rank.
func hostsOf(m *replay.Machine) []string {
	hosts := make([]string, len(m.Hosts))
	for rank, host := range m.Hosts {
		hosts[rank] = m.Platform.Host(int(host)).Name
	}
	return hosts
}
