package simgrid_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"reprise/trace"
	"reprise/tracegen"
	"reprise/tracegen/hpl"
	"reprise/tracegen/simgrid"
)

// The text of a small run of HPL: rank 0's part in the search for the first pivot.
func ExampleExport() {
	var file, text bytes.Buffer
	if err := hpl.Generate(context.Background(), &file, hpl.DefaultParams(40, 2, 1), hpl.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	t, err := trace.NewReader(&file, "hpl")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	if _, err := simgrid.Export(context.Background(), &text, t, tracegen.ExportOptions{Polls: trace.Hit{}}); err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range strings.SplitN(text.String(), "\n", 5)[:4] {
		fmt.Println(line)
	}
	// Output:
	// 0 init
	// 0 irecv 1 1001 288
	// 0 send 1 1001 544
	// 0 wait 1 0 1001
}
