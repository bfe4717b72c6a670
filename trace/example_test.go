package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"

	"reprise/trace"
	"reprise/trace/text"
)

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
	if err != nil {
		log.Fatal(err)
	}
	send := trace.NewBuilder("send", 1)
	send.Compute(0, trace.Const(100), trace.Const(100), trace.Const(10))
	send.Message(trace.OpSend, 0, 0, trace.Const(1), trace.Const(7), send.Param(0))
	recv := trace.NewBuilder("recv", 1)
	recv.Message(trace.OpRecv, 0, 0, trace.Const(0), trace.Const(7), recv.Param(0))
	var blocks []int64 // by rank
	for _, b := range []*trace.Builder{send, recv} {
		n, err := w.Program().Add(b)
		if err != nil {
			log.Fatal(err)
		}
		blocks = append(blocks, int64(n))
	}
	for step := range header.Steps {
		if err := w.Step(step); err != nil {
			log.Fatal(err)
		}
		if err := w.Call(&trace.Call{Blocks: blocks, Args: [][]int64{{int64(1000 * (step + 1))}}}); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	t, err := trace.NewReader(&file, "example")
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	if err := text.WriteListings(os.Stdout, t, nil, trace.CursorOptions{}, trace.Hit{}, text.Words{}); err != nil {
		log.Fatal(err)
	}
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

// What a trace says in its own terms: the calls of each step, with a value per class of
// ranks in each column.
func ExampleTrace_Chunks() {
	header := &trace.Header{Program: "pipeline", Ranks: 4, Steps: 2,
		Axes:    []trace.Axis{{Name: "all", Kind: trace.AxisAll}, {Name: "rank", Kind: trace.AxisRank}},
		Kernels: []trace.Kernel{{Name: "work", Dims: []trace.Dim{{Name: "N"}}}},
		CallSites: []trace.CallSite{{Name: "step", Masks: []int{1}, Counts: trace.NoAxis, Block: 0,
			Params: []trace.ParamColumn{{Name: "n", Axis: 0}}}},
	}
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, header, trace.WriterOptions{})
	if err != nil {
		log.Fatal(err)
	}
	work := trace.NewBuilder("work", 1)
	work.Compute(0, work.Param(0))
	block, err := w.Program().Add(work)
	if err != nil {
		log.Fatal(err)
	}
	for step := range header.Steps {
		mask := []int64{1, 1, 1, 1}
		mask[step] = 0 // the rank takes no part
		call := &trace.Call{Masks: [][]int64{mask}, Blocks: []int64{int64(block)}, Args: [][]int64{{int64(100 * (step + 1))}}}
		if err := errors.Join(w.Step(step), w.Call(call)); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	t, err := trace.NewReader(&file, "example")
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	for chunk, err := range t.Chunks(0, 0) {
		if err != nil {
			log.Fatal(err)
		}
		for _, unit := range chunk.Units() {
			for _, call := range unit.Calls {
				name := t.Header().CallSites[call.Site].Name
				fmt.Printf("step %d: %s by ranks %v with n = %d\n", unit.Step, name, call.Masks[0], call.Args[0])
			}
		}
	}
	// Output:
	// step 0: step by ranks [0 1 1 1] with n = [100]
	// step 1: step by ranks [1 0 1 1] with n = [200]
}
