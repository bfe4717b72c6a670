package tracetest

import (
	"bytes"

	"reprise/trace"
)

// Messages returns a trace of two ranks for examples: rank 0 computes 3*N flop by the
// kernel work, N = 100, and sends rank 1 the given number of messages of 1,000 bytes.
func Messages(count int) (*trace.Trace, error) {
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, header(2), trace.WriterOptions{})
	if err != nil {
		return nil, err
	}
	sender, receiver := trace.NewBuilder("sender", 0), trace.NewBuilder("receiver", 0)
	sender.Compute(Work, trace.Const(100))
	for range count {
		sender.Message(trace.OpSend, 0, 0, trace.Const(1), trace.Const(0), trace.Const(1000))
		receiver.Message(trace.OpRecv, 0, 0, trace.Const(0), trace.Const(0), trace.Const(1000))
	}
	first, err := w.Program().Add(sender)
	if err != nil {
		return nil, err
	}
	second, err := w.Program().Add(receiver)
	if err != nil {
		return nil, err
	}
	none := w.Vector(trace.Vector{Values: []int64{0}})
	if err := w.Step(0); err != nil {
		return nil, err
	}
	call := trace.Call{Blocks: []int64{int64(first), int64(second)}, Args: [][]int64{{none}, {none}}}
	if err := w.Call(&call); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "example")
}
