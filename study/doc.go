// Package study makes many replays of one question: which levels of which factors give which
// makespan.
//
// A file says what is varied (docs/studies.md). A plan has its runs, in a directory that any number
// of workers share; its results are a table.
//
//	s, err := study.Load("nb.yaml")
//	plan, err := study.NewPlan(s, version)
//	found, err := plan.Create("nb")               // or study.Open("nb", version)
//	work, err := plan.Work(ctx, study.WorkOptions{Jobs: 4, Lease: 30 * time.Second})
//	results := plan.NewResults()
//	err = results.Update()
//	table := plan.NewTable(results)
//
// An [Evaluator] makes one run of any configuration, for those who choose the next by the last.
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
//	journals/NAME.jsonl  what a worker has found out: a line for each run that has ended, an [Entry];
//	                     appended to by that worker alone, with the first 16 digits of the SHA-256 of
//	                     the line without it as the last field, "sum"; a last line without its end does
//	                     not count, nor does one with another checksum or without a figure, which is told
//	checkpoints/ID       state of a long exact replay that was interrupted; removed once it is done
//	table.csv            all rows in the order of the design, written by the worker that finds all
//	table.parquet        runs done
//
// A run is named by its ID, 20 hexadecimal digits of the hash of all that its result depends on: version
// of Reprise, parameters of the trace, bytes of platform and kernel models, options, tolerance, seed.
// Workers take a lease, look whether the run has been done meanwhile, make it, append the result to
// their journal, and remove the lease. A run that was done has a line in a journal, whatever
// leases say; one without a line, and without a lease of a worker that lives, is free.
//
// # Units
//
// Times are in seconds, rates in Gflop/s, memory in bytes; names of columns say so.
//
// # Errors
//
// Errors of a study's file have the line. A run that fails is no error: its row says why. Directories
// of another study or of another version of Reprise are refused.
//
// # Source
//
// Designs: package design. Leases: package workqueue. Common random numbers: Law, Simulation
// Modeling and Analysis, chapter 11.
package study
