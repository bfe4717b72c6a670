package cut_test

import (
	"bytes"
	"context"
	"fmt"

	"reprise/trace"
	"reprise/trace/cut"
	"reprise/tracegen/hpcg"
)

// Two of the iterations of HPCG are a trace of their own.
func Example() {
	var file, part bytes.Buffer
	if err := hpcg.Generate(context.Background(), &file, hpcg.DefaultParams(8, 16), hpcg.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	t, err := trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "hpcg")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	from, err := cut.Parse("step:10")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := cut.Write(&part, t, from, cut.Mark{Kind: cut.Step, Number: 12}, cut.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d ranks, %d steps\n", s.Ranks, s.Steps)
	// Output: 8 ranks, 2 steps
}
