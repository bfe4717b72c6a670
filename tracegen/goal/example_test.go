package goal_test

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"reprise/trace"
	"reprise/tracegen"
	"reprise/tracegen/goal"
	"reprise/tracegen/hpl"
)

// The text of a small run of HPL begins with the first panel.
func Example() {
	var file, text bytes.Buffer
	if err := hpl.Generate(context.Background(), &file, hpl.DefaultParams(40, 2, 1), hpl.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	t, err := trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "hpl")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	if _, err := goal.Export(context.Background(), &text, t, tracegen.ExportOptions{Polls: trace.Hit{}, Speed: 32e9}); err != nil {
		fmt.Println(err)
		return
	}
	for range 6 {
		line, _ := text.ReadString('\n')
		os.Stdout.WriteString(line)
	}
	// Output:
	// num_ranks 2
	//
	// rank 0 {
	// l1: recv 288b from 1 tag 1001
	// l2: send 544b to 1 tag 1001
	// l2 irequires l1
}
