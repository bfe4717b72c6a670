// Package study makes many replays for one question: which levels of which factors give which
// makespan.
//
// A file says what is varied (docs/studies.md, [Load]). A [Plan] has its runs, in a directory
// that any number of workers share ([Plan.Work]); the results are a [Table].
//
//	s, err := study.Load("nb.yaml")
//	plan, err := study.NewPlan(s, version)
//	found, err := plan.Create("nb")               // or study.Open("nb", version)
//	work, err := plan.Work(ctx, study.WorkOptions{Jobs: 4, Lease: 30 * time.Second})
//	results := plan.NewResults()
//	err = results.Update()
//	table := plan.NewTable(results)
//
// An [Evaluator] makes one run of any configuration, for callers who choose the next run by the
// last, as package tune. Package report sums up results, package slurm starts workers, package
// estimates shares one large estimate. The package knows programs by package tracegen/programs
// only, and machines and replays by the table of parameters of package replay.
//
// # Directory
//
//	plan.json            the plan: factors, inputs, and each run with its ID; never changes
//	inputs/HASH.xml      copies of the files that runs depend on, by the hash of their content
//	workers/NAME         a worker that lives: two lines, "held" and itself as JSON; written to
//	                     again four times a lease, removed when the worker leaves
//	leases/ID.K          the K-th lease of a run, K = 1, 2 ...: two lines, "held" or "free", and its
//	                     worker as JSON; created exclusively; that of the largest K counts; removed
//	                     once the run is done
//	journals/NAME.jsonl  the results of a worker: a line for each run that has ended, an [Entry];
//	                     appended to by that worker alone, with the first 16 digits of the SHA-256 of
//	                     the line without it as the last field, "sum"; a torn last line does not count,
//	                     nor does a line with another checksum or without a figure, which is reported
//	checkpoints/ID       state of a long exact replay that was interrupted; removed once it is done
//	table.csv            all rows in the order of the design, written by the worker that ends the study
//	table.parquet        the same
//
// A run is named by its ID, 20 hexadecimal digits of the hash of all that its result depends on:
// version of Reprise, parameters of the trace, bytes of platform and kernel models, options,
// tolerance, seed. A worker takes a lease, looks whether the run has been done meanwhile, makes
// it, appends the result to its journal, and removes the lease. A run with a line in a journal is
// done, whatever leases say; a run without a line, and without a lease of a living worker, is
// free.
//
// # Units
//
// Times are in seconds, rates in Gflop/s, memory in bytes; names of columns have the unit.
//
// # Errors
//
// Errors of a study's file have the line. A run that fails is no error: its row has the reason.
// Directories of another study or of another version of Reprise are refused.
//
// # Source
//
// Designs: package design. Leases: package workqueue. Common random numbers: Law, Simulation
// Modeling and Analysis, chapter 11.
package study

import (
	"fmt"
	"slices"
	"strings"

	"reprise/internal/textutil"
)

// Names of responses in files.
const (
	responsePath = "critical-path"
	responsePOP  = "pop"
)

// Study is the content of a study's file.
type Study struct {
	File      string // its name, for messages
	Program   string // hpl, hpcg, or the file of a trace, by its name in the study's file
	Fixed     []Setting
	Factors   []Factor
	Rows      [][]int // of the design: a level of each factor
	Design    string  // name of the design, for people
	Tolerance float64 // half-width of each estimate's interval, relative; 0: exact
	Seeds     []uint64
	Responses Responses

	parameters
	trace *Input // of which all runs are replays; nil: the program makes their traces
}

// Responses are further results of each run, which take longer.
type Responses struct {
	CriticalPath bool `json:"critical_path,omitempty"` // parts of the longest chain of computations and messages
	POP          bool `json:"pop,omitempty"`           // POP's efficiencies, by two further replays
}

// Factor is something that is varied.
type Factor struct {
	Name   string  `json:"name"`
	Levels []Level `json:"levels"`
	// Range: levels are places of a range of numbers, in the order in which they come.
	Range bool `json:"range,omitempty"`
}

// Level is one of the values of a factor.
type Level struct {
	Label    string    `json:"label"`
	Settings []Setting `json:"settings"`
}

// settings returns the settings of a row of a design. Later ones override earlier ones.
func settings(fixed []Setting, factors []Factor, row []int) []Setting {
	list := slices.Clone(fixed)
	for f, level := range row {
		list = append(list, factors[f].Levels[level].Settings...)
	}
	return list
}

// factorNames returns the names of factors.
func factorNames(factors []Factor) []string {
	var names []string
	for _, f := range factors {
		names = append(names, f.Name)
	}
	return names
}

// describe names the levels of a row, as "NB 64, DEPTH 0".
func describe(factors []Factor, row []int) string {
	var parts []string
	for f, level := range row {
		parts = append(parts, factors[f].Name+" "+factors[f].Levels[level].Label)
	}
	if len(parts) == 0 {
		return "without factors"
	}
	return strings.Join(parts, ", ")
}

// errorOf adds the row of the design to an error.
func (s *Study) errorOf(row int, err error) error {
	return fmt.Errorf("%s: run %d (%s): %w", s.File, row+1, describe(s.Factors, s.Rows[row]), textutil.OneLine(err))
}

// Config returns the configuration of a row of the design.
func (s *Study) Config(row int) (*Config, error) {
	c, err := s.config(settings(s.Fixed, s.Factors, s.Rows[row]))
	if err != nil {
		return nil, s.errorOf(row, err)
	}
	return c, nil
}
