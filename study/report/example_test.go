package report_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"reprise/study"
	"reprise/study/report"
)

// Which of two block sizes is quicker.
func ExampleOf() {
	s, err := study.Parse(strings.NewReader("program: hpl\nparameters: {N: 400, P: 1, Q: 2}\nfactors: {NB: [16, 64]}\n"), "nb.yaml")
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
	if _, err := plan.Create(filepath.Join(parent, "nb")); err != nil {
		log.Fatal(err)
	}
	if _, err := plan.Work(context.Background(), study.WorkOptions{Jobs: 1, Lease: time.Minute}); err != nil {
		log.Fatal(err)
	}
	results := study.NewResults(plan.Dir())
	if err := results.Update(); err != nil {
		log.Fatal(err)
	}
	f, err := report.Of(plan, results)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(f.Ranking), f.Factors[0].Name, len(f.Factors[0].Levels))
	// Output: 2 NB 2
}
