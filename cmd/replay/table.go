package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"reprise/internal/command"
	"reprise/replay"
	"reprise/report"
	"reprise/report/table"
)

// tableOutput writes a row for each rank and step.
type tableOutput struct {
	path     string
	parquet  bool
	settings *settings
	out      *streamed
	writer   table.Writer
	recorder *table.Recorder
}

func newTableOutput(c *cli.Context, s *settings) (*output, error) {
	path := c.String("table")
	if path == "" {
		return nil, nil
	}
	parquet := strings.HasSuffix(path, ".parquet")
	if !parquet && !strings.HasSuffix(path, ".csv") {
		return nil, command.Usagef("--table %q, want a name that ends in .csv or .parquet", path)
	}
	t := &tableOutput{path: path, parquet: parquet, settings: s}
	o := &output{flag: "table", file: path, whole: true, begin: t.begin, write: t.write,
		abandon: func() { t.out.abandon() }}
	return o, checkOutput("table", path, s)
}

func (t *tableOutput) begin(ctx context.Context, end context.CancelCauseFunc, in *input,
	m *loaded) ([]replay.Observer, error) {
	columns, err := table.ColumnsOf(in.header)
	if err != nil {
		return nil, err
	}
	if t.out, err = newStreamed(ctx, t.path, false, end); err != nil {
		return nil, err
	}
	if t.parquet {
		t.writer = table.NewParquet(t.out, columns)
	} else {
		labels, err := t.labelsAhead(in, m)
		if err != nil {
			return nil, t.out.giveUp(err)
		}
		t.writer = table.NewCSV(t.out, columns, strings.Join(labels, "; "))
	}
	t.recorder = table.NewRecorder(columns, hostsOf(&m.Machine), t.writer)
	return []replay.Observer{t.recorder.Observer()}, nil
}

// labelsAhead are those of a replay that is not interrupted. Of a part they name the steps that are asked for:
// which it has a stream does not say ahead.
func (t *tableOutput) labelsAhead(in *input, m *loaded) ([]string, error) {
	first, end := t.settings.stepRange(in)
	if in.header.Part() != "" {
		first, end = t.settings.stepsAsked(in)
	}
	r := &replay.Result{Header: in.header, First: first, Last: end - 1, Complete: in.header.Part() == "" && first == 0 &&
		end == in.header.Steps}
	noisy, err := replay.HasNoise(in.header, m.Machine, m.options)
	if noisy {
		r.Seed = &m.options.Seed
	}
	return report.Labels(&replay.Report{Provenance: t.settings.provenance(m, 0), Result: r}), err
}

func (t *tableOutput) write(ctx context.Context, r *results) error {
	t.recorder.End(r.StoppedAt != nil)
	if labels := report.Labels(r.Report); len(labels) > 0 {
		t.writer.Label(strings.Join(labels, "; "))
	}
	if err := t.writer.Close(); err != nil {
		return t.out.giveUp(err)
	}
	return t.out.close(ctx)
}
