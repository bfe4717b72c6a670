package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"reprise/internal/command"
	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/replay"
	"reprise/trace"
	"reprise/trace/warning"
	"reprise/tracegen/simgrid"
)

// input is an opened trace of either form. One of trace and text is set. Text has no steps, no header of its own and no
// chunks: it is played as a whole.
type input struct {
	header *trace.Header
	trace  *trace.Trace   // nil for SimGrid's text
	text   *simgrid.Trace // nil for a trace of our own
	pipe   io.Closer      // that trace is read from; nil if it is a file, or standard input
}

// openInput opens a trace, standard input, or the index of a SimGrid trace. A stream, which can be read once, is read
// until ctx ends. A named pipe is opened, which waits for a writer; until then a signal ends the process at once. A
// regular file is an index if its first bytes are a list of files. Everything else is a trace of our own, or an error
// that names the format.
func openInput(ctx context.Context, path string, stdin io.Reader) (_ *input, err error) {
	defer textutil.Stopped(&err)
	info, err := os.Stat(path)
	stream, name, pipe := stdin, "stdin", io.Closer(nil)
	if path != "-" && err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f := textutil.Must(os.Open(path))
		stream, name, pipe = f, path, f
	}
	if path == "-" || pipe != nil {
		// Another goroutine reads what can be read once, so that a replay which waits for it gives up when the context
		// ends, by its cause. The goroutine ends with the stream or with ctx, unless a read never returns: then it
		// waits for ever, as nothing can interrupt a read of a terminal or a pipe.
		in, out := io.Pipe()
		context.AfterFunc(ctx, func() { out.CloseWithError(context.Cause(ctx)) }) // the first error of a pipe stays
		go func() {
			_, err := io.CopyBuffer(out, struct{ io.Reader }{stream}, make([]byte, chunkSize))
			out.CloseWithError(err)
		}()
		t, err := trace.NewReader(in, name)
		if err != nil && pipe != nil {
			err = errors.Join(err, pipe.Close())
		}
		if err != nil {
			return nil, err
		}
		return &input{header: t.Header(), trace: t, pipe: pipe}, nil
	}
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() {
		head := textutil.Must(readHead(path, 512))
		if simgrid.IsIndex(head) {
			t, err := simgrid.Open(path, "")
			if err != nil {
				return nil, sniff.InFile(err, path, sniff.Trace, sniff.Index, sniff.Actions)
			}
			return &input{header: t.Header(), text: t}, nil
		}
	}
	t := textutil.Must(trace.Open(path))
	return &input{header: t.Header(), trace: t}, nil
}

// readHead returns the first bytes of a regular file, fewer where it is shorter. It is for telling formats apart before
// a reader is chosen.
func readHead(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return head, err
}

// traced returns the trace of either form, for those who need no more than its header, warnings and hash.
func (in *input) traced() replay.Traced {
	if in.text != nil {
		return in.text
	}
	return in.trace
}

// close closes the trace, and the pipe that it is read from. Standard input stays open: it is the caller's.
func (in *input) close() error {
	switch {
	case in.text != nil:
		return in.text.Close()
	case in.pipe != nil:
		return errors.Join(in.trace.Close(), in.pipe.Close())
	}
	return in.trace.Close()
}

// run replays. Which steps a stream holds is known at its end only: they are checked then. Warnings of a text trace
// come while it is read, so they are added to those of the result in the end.
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

// warnings are those about the part of a text trace that has been read so far.
func (in *input) warnings() []warning.Warning {
	if in.text == nil {
		return nil
	}
	return in.text.Warnings()
}

// checkSteps refuses steps that are all before the first or behind the last one that is known. Steps that are only in
// part in the trace are played as far as they are there.
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

// chunkSize is the size of a read, in bytes; a pipe of the system holds as much.
const chunkSize = 64 << 10
