package study_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"reprise/study"
)

// A study of two block sizes on the built-in machine.
func Example() {
	s, err := study.Parse(strings.NewReader(`
program: hpl
parameters: {N: 400, P: 1, Q: 2}
factors:
  NB: [32, 64]
`), "nb.yaml")
	if err != nil {
		log.Fatal(err)
	}
	plan, err := study.NewPlan(s, "0.1.0")
	if err != nil {
		log.Fatal(err)
	}
	parent, err := os.MkdirTemp("", "study")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(parent)
	dir := filepath.Join(parent, "nb")
	if _, err := plan.Create(dir); err != nil {
		log.Fatal(err)
	}
	work, err := plan.Work(context.Background(), study.WorkOptions{Jobs: 1, Lease: time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(work.Summary())
	results := study.NewResults(dir)
	if err := results.Update(); err != nil {
		log.Fatal(err)
	}
	table := plan.NewTable(results)
	fmt.Println(table.Factors, table.Labels, table.Columns[:2])
	// Output:
	// made 2 runs
	// [NB] [[32] [64]] [makespan_s gflops]
}
