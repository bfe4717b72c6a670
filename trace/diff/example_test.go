package diff_test

import (
	"bytes"
	"context"
	"fmt"

	"reprise/trace"
	"reprise/trace/diff"
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

// Two sizes of a problem.
func ExampleTraces() {
	a, err := small(4)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	b, err := small(6)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	d, err := diff.Traces(a, b, diff.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Same)
	for _, c := range d.Header {
		fmt.Printf("%s: %s, %s\n", c.Name, c.A, c.B)
	}
	// Output:
	// false
	// steps: 3, 4
	// flop of the program's rate: 6.666667e+01, 198
	// N: 4, 6
}
