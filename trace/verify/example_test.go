package verify_test

import (
	"bytes"
	"context"
	"fmt"

	"reprise/trace"
	"reprise/trace/verify"
	"reprise/tracegen/hpl"
)

// small returns a trace of HPL on two processes.
func small(n int) (*trace.Trace, error) {
	p := hpl.DefaultParams(n, 1, 2)
	p.NB, p.Depth = 2, 0
	p.Pivots = hpl.Pivots{Kind: hpl.NoPivots}
	var file bytes.Buffer
	if err := hpl.Generate(context.Background(), &file, p, hpl.Options{}); err != nil {
		return nil, err
	}
	return trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "example")
}

// What is sent is received.
func ExampleTrace() {
	tr, err := small(4)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tr.Close()
	verified, err := verify.Trace(tr, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(verified)
	// Output:
	// 1 window, 24 blocks, 2 ranks, 51 actions, 4 messages sent and received
}
