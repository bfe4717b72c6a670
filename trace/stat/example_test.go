package stat_test

import (
	"fmt"

	"reprise/internal/tracetest"
	"reprise/trace/stat"
)

// The totals of a trace: three messages of 1,000 bytes and 3*100 flop.
func ExampleOf() {
	tr := tracetest.Messages(3)
	defer tr.Close()
	report, err := stat.Of(tr, stat.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Totals.Messages, "messages,", report.Totals.Bytes, "bytes,", report.Totals.Flops, "flop")
	// Output:
	// 3 messages, 3000 bytes, 300 flop
}
