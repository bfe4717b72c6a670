package trace_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"reprise/trace"
	"reprise/trace/text"
)

// fatal ends the example at an error.
func fatal(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Two ranks: in each step rank 0 computes and sends, more each time, and rank 1 receives.
// What a rank does is a block; what differs from step to step is an argument.
func Example() {
	header := &trace.Header{
		Program: "example", Ranks: 2, Steps: 3,
		CommFamilies: []trace.CommFamily{{Name: "world", Groups: []trace.Group{{Stride: 1, Count: 2}}}},
		Axes:         []trace.Axis{{Name: "all"}, {Name: "rank", Kind: trace.AxisRank}},
		Kernels: []trace.Kernel{{Name: "dgemm", Dims: []trace.Dim{{Name: "M"}, {Name: "N"}, {Name: "K"}},
			Flops: []trace.Term{{Coef: 2, Pow: [4]uint8{1, 1, 1}}}}},
		CallSites: []trace.CallSite{{Name: "step", Counts: trace.NoAxis, Block: 1, Params: []trace.ParamColumn{{Name: "bytes", Axis: 0}}}},
	}
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, header, trace.WriterOptions{})
	fatal(err)
	send := trace.NewBuilder("send", 1)
	send.Compute(0, trace.Const(100), trace.Const(100), trace.Const(10))
	send.Message(trace.OpSend, 0, 0, trace.Const(1), trace.Const(7), send.Param(0))
	recv := trace.NewBuilder("recv", 1)
	recv.Message(trace.OpRecv, 0, 0, trace.Const(0), trace.Const(7), recv.Param(0))
	var blocks []int64 // by rank
	for _, b := range []*trace.Builder{send, recv} {
		n, err := w.Program().Add(b)
		fatal(err)
		blocks = append(blocks, int64(n))
	}
	for step := range header.Steps {
		fatal(w.Step(step))
		fatal(w.Call(&trace.Call{Blocks: blocks, Args: [][]int64{{int64(1000 * (step + 1))}}}))
	}
	fatal(w.Close())

	t, err := trace.NewReader(&file, "example")
	fatal(err)
	defer t.Close()
	fatal(text.WriteListings(os.Stdout, t, nil, trace.CursorOptions{}, trace.Hit{}, text.Words{}))
	hash, _ := t.Hash()
	fmt.Printf("%d bytes of name\n", len(hash))
	// Output:
	// # rank 0 myworld 0
	// dgemm 100 100 10
	// send 1 1000 7 world
	// dgemm 100 100 10
	// send 1 2000 7 world
	// dgemm 100 100 10
	// send 1 3000 7 world
	// # rank 1 myworld 0
	// recv 0 1000 7 world
	// recv 0 2000 7 world
	// recv 0 3000 7 world
	// 32 bytes of name
}
