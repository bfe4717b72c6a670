// Package calibrate turns measurements into models: timings of kernels into a
// kernel file (package kernels), timings of messages into the overheads and
// factors of a platform (packages netmodel and platforms).
//
//	timings := calibrate.NewTimings()
//	err := timings.Read(table, calibrate.ReadOptions{Keep: true})  // as often as there are files
//	report, err := calibrate.LearnKernels(timings, calibrate.DefaultLearnOptions())
//	err = report.WriteYAML(w, calibrate.FileOptions{})             // for replay --kernels
//
// [LearnKernels] takes medians, attributes and thresholds; [FitKernels] fits means by least squares, as published
// calibrations do, to moments by host, CPU and size, for which no timing is kept. A kernel or host that cannot
// be fitted with sense, as of too few sizes, is left out with a warning, or, if nothing is left, refused
// ([ErrMeaningless]). Reports carry warnings of all that is odd. docs/calibrate.md has the methods.
//
// The package knows nothing of how measurements are made, and nothing of traces.
//
// # Units
//
// Times are in seconds, sizes in bytes, bandwidths in byte/s; a coefficient is in seconds per
// unit of its term.
//
// # Errors
//
// One of a table begins with file and line. [ErrMeaningless] is about data that no model fits
// with sense, [ErrContradiction] about a table that says something else than the options.
//
// # Source
//
// Models of kernels and of messages are those of T. Cornebize, "High Performance Computing:
// Towards Better Performance Predictions and Experiments", PhD thesis, Université Grenoble
// Alpes, 2021, for SimGrid's SMPI.
package calibrate
