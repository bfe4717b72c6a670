package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"reprise/internal/command"
	"reprise/internal/sniff"
	"reprise/replay"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen/simgrid"
)

// input is an opened trace of either form.
type input struct {
	header *trace.Header
	trace  *trace.Trace   // nil for SimGrid's text
	text   *simgrid.Trace // nil for a trace of our own
	pipe   io.Closer      // that trace is read from; nil if it is a file, or standard input
}

// openInput opens a trace, standard input, or the index of a SimGrid trace. What is read
// once is read until ctx ends.
func openInput(ctx context.Context, path string, stdin io.Reader) (*input, error) {
	if path == "-" {
		return openStream(ctx, stdin, "stdin", nil)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		return openStream(ctx, f, path, f)
	}
	text, err := isText(path)
	if err != nil {
		return nil, err
	}
	if text {
		t, err := simgrid.Open(path, "")
		if err != nil {
			return nil, sniff.InFile(err, path, sniff.Trace, sniff.Index, sniff.Actions)
		}
		return &input{header: t.Header(), text: t}, nil
	}
	t, err := trace.Open(path)
	if err != nil {
		return nil, err
	}
	return &input{header: t.Header(), trace: t}, nil
}

// openStream begins to read a trace that is read once.
func openStream(ctx context.Context, r io.Reader, name string, pipe io.Closer) (*input, error) {
	t, err := trace.NewReader(newStream(ctx, r), name)
	if err != nil {
		if pipe != nil {
			err = errors.Join(err, pipe.Close())
		}
		return nil, err
	}
	return &input{header: t.Header(), trace: t, pipe: pipe}, nil
}

// isText reports whether a regular file looks like a SimGrid index. Nothing is
// read from a named pipe, which cannot be read twice.
func isText(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return simgrid.IsIndex(head[:n]), nil
}

// traced returns the trace of either form.
func (in *input) traced() replay.Traced {
	if in.text != nil {
		return in.text
	}
	return in.trace
}

// readAhead has text parsed beside the replay.
func (in *input) readAhead() {
	if in.text != nil {
		in.text.ReadAhead()
	}
}

func (in *input) close() error {
	switch {
	case in.text != nil:
		return in.text.Close()
	case in.pipe != nil:
		return errors.Join(in.trace.Close(), in.pipe.Close())
	}
	return in.trace.Close()
}

// run replays. Of a stream it is known at its end only which steps it holds.
func (in *input) run(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Result, error) {
	if in.trace != nil {
		res, err := replay.Run(ctx, in.trace, m, o)
		if err == nil {
			err = in.checkSteps(o.From, o.To)
		}
		return res, err
	}
	res, err := replay.RunSource(ctx, in.header, in.text, m, o)
	if res == nil {
		return nil, warning.With(err, in.warnings())
	}
	res.Warnings = warning.Join(res.Warnings, in.warnings())
	return res, err
}

// warnings tell what was odd in what has been read so far.
func (in *input) warnings() []warning.Warning {
	if in.text == nil {
		return nil
	}
	return in.text.Warnings()
}

// checkSteps refuses steps that are all before the first or behind the last one that is known.
func (in *input) checkSteps(from, to int) error {
	if in.text != nil {
		if from > 0 || to > 0 {
			return command.Usagef("--steps: the text has no steps, it is played as a whole")
		}
		return nil
	}
	chunks := in.trace.ChunkInfos()
	switch last := len(chunks) - 1; {
	case last < 0:
	case from > chunks[last].Last:
		return command.Usagef("--steps from %d, but the trace ends with step %d", from, chunks[last].Last)
	case to > 0 && to <= chunks[0].First:
		return command.Usagef("--steps up to %d, but the trace begins with step %d", to-1, chunks[0].First)
	}
	return nil
}
