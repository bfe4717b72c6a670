// Package compare tells whether one prediction is slower than another, and where.
//
// [Read] reads what replay --json prints, of one replay, of --runs, of an estimate or of
// --uncertainty, or a page of replay --report. [Compare] compares others with a base: makespan,
// Gflops, and where the time of a rank went by kind, phase and kernel, with intervals as far as
// the results scatter, and the verdict of a gate. A [Comparison] is written as text, Markdown,
// JSON or JUnit's XML.
//
//	base, err := compare.Read("base.json", file)
//	...
//	c, err := compare.Compare(base, []*compare.Result{other}, compare.Options{Gate: true, Threshold: 0.01})
//	...
//	err = c.WriteText(os.Stdout)
//	if c.Worse { ...
//
// # Units
//
// Seconds and Gflops; relative changes are parts of the base, 0.01 for 1 %. Intervals are of
// 95 %.
//
// # Errors
//
// Errors name the file. Results that cannot be compared are errors: of another program, of an
// interrupted run, of parts of runs that are not the same part or the same steps, of a newer format.
// What is odd about a comparison, but does not forbid it, is a warning in it.
//
// # Source
//
// B. L. Welch, "The generalization of 'Student's' problem when several different population
// variances are involved", Biometrika 34 (1947); limits of ratios by E. C. Fieller, "Some
// problems in interval estimation", J. Royal Statistical Society B 16 (1954); permutations of
// studentized differences by A. Janssen, "Studentized permutation tests for non-i.i.d.
// hypotheses and the generalized Behrens-Fisher problem", Statistics & Probability Letters 36
// (1997); many tests by S. Holm, "A simple sequentially rejective multiple test procedure",
// Scandinavian J. of Statistics 6 (1979).
package compare
