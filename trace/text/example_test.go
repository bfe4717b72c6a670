package text_test

import (
	"fmt"
	"os"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/trace/text"
)

// The actions of a rank.
func ExampleWriteListings() {
	tr := tracetest.Messages(2)
	defer tr.Close()
	if err := text.WriteListings(os.Stdout, tr, []int32{0}, trace.CursorOptions{}, trace.Hit{}, text.Words{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// # rank 0
	// work 100
	// send 1 1000 0
	// send 1 1000 0
}
