package verify_test

import (
	"fmt"

	"reprise/internal/tracetest"
	"reprise/trace/verify"
)

// What is sent is received.
func ExampleTrace() {
	tr := tracetest.Messages(3)
	defer tr.Close()
	verified, err := verify.Trace(tr, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(verified.Ranks, "ranks,", verified.Messages, "messages")
	// Output:
	// 2 ranks, 3 messages
}
