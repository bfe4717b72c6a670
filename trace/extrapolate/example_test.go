package extrapolate_test

import (
	"bytes"
	"context"
	"fmt"

	"reprise/trace"
	"reprise/trace/extrapolate"
	"reprise/tracegen/hpcg"
)

// HPCG on 8, 27 and 64 ranks says what it does on 125.
func Example() {
	var traces []*trace.Trace
	for _, ranks := range []int{8, 27, 64} {
		p := hpcg.DefaultParams(ranks, 16)
		p.Iterations = 2
		var file bytes.Buffer
		if err := hpcg.Generate(context.Background(), &file, p, hpcg.Options{}); err != nil {
			fmt.Println(err)
			return
		}
		t, err := trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), fmt.Sprint("hpcg on ", ranks))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer t.Close()
		traces = append(traces, t)
	}
	var big bytes.Buffer
	s, err := extrapolate.Write(&big, traces, extrapolate.Options{Ranks: 125})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d ranks in a grid of %s\n", s.Ranks, s.Grid)
	// Output: 125 ranks in a grid of 5x5x5
}
