package hpl_test

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"reprise/trace"
	"reprise/trace/text"
	"reprise/tracegen/hpl"
)

// A trace of two processes, and what the first of them does in it.
func ExampleGenerate() {
	p := hpl.DefaultParams(2, 1, 2)
	p.NB, p.Depth = 2, 0
	p.Pivots = hpl.Pivots{Kind: hpl.NoPivots}
	var file bytes.Buffer
	if err := hpl.Generate(context.Background(), &file, p, hpl.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	tr, err := trace.NewReader(&file, "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tr.Close()
	if err := text.WriteListings(os.Stdout, tr, []int32{0}, trace.CursorOptions{}, trace.Hit{}, text.Words{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// # rank 0 myrow 0 mycol 0
	// dlocmax 2 0
	// idamax 2
	// dcopy 2
	// dcopy 2
	// dlocswpT 2 0 same
	// dscal 1
	// daxpy 1
	// dlocmax 1 1
	// idamax 1
	// dcopy 2
	// dcopy 2
	// dlocswpT 2 1 same
	// dscal 0
	// send 1 56 2001 row
	// recv 1 16 3001 row
	// dtrsv U N N 2
	// dcopy 2
}
