package report_test

import (
	"bytes"
	"fmt"

	"reprise/report"
)

func Example() {
	var page bytes.Buffer
	d := &report.Data{Format: report.Format, Title: "a run of two ranks", Answer: report.Answer{Makespan: 1.5}}
	if err := report.Write(&page, d); err != nil {
		fmt.Println(err)
	}
	runs, err := report.Read(&page)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(runs[0].Title, runs[0].Answer.Makespan, "s")
	// Output: a run of two ranks 1.5 s
}
