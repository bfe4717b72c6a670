package stat_test

import (
	"bytes"
	"context"
	"fmt"

	"reprise/trace"
	"reprise/trace/stat"
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

// The totals of a trace.
func ExampleOf() {
	tr, err := small(4)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tr.Close()
	report, err := stat.Of(tr, stat.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d messages of %d bytes, %d calls of kernels\n", report.Totals.Messages, report.Totals.Bytes, report.Totals.KernelCalls)
	// Output:
	// 4 messages of 192 bytes, 41 calls of kernels
}
