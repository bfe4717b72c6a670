package text_test

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"reprise/trace"
	"reprise/trace/text"
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

// The actions of a rank.
func ExampleWriteListings() {
	tr, err := small(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tr.Close()
	if err := text.WriteListings(os.Stdout, tr, []int32{1}, trace.CursorOptions{}, trace.Hit{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// # rank 1 myrow 0 mycol 1
	// iprobe 0 2001 row
	// recv 0 56 2001 row
	// dlaswp00N 2 1
	// dtrsm L U T U 2 1
	// dgemm N N 0 1 2
	// send 0 16 3001 row
}
