// Package measure times the kernels that a run calls, on the machine that it runs on, for
// calibrate kernels to fit.
//
//	run := measure.NewRunCalls()                         // what a run calls
//	k := run.Kernel(kernel, guess)
//	err := run.Add(k, dims)
//	plan, err := measure.NewPlan(run, o)                 // sizes by where the time goes, in random order
//	result, err := measure.Run(ctx, plan, o, progress)   // a process for each rank, bound to its cores
//	err = result.WriteCSV(w, plan, host, facts)
//
// The processes are those of a small C program (directory helper), compiled when it is needed: it loads a BLAS, and
// has loops of its own for HPL's copies and row swaps. So no C is linked in, and a library that crashes
// takes nothing along. All processes make the same call at the same time, on random numbers, in memory that is laid
// out as that of the run.
//
// HPCG's kernels are timed by another one, whose loops work on matrices as HPCG stores them, in the order of
// a run: what the loop before has left in the caches decides how long one takes. Of such a run,
// [RunCalls.Plane] says how large its boxes are.
//
// This package and measure/network are the only ones of the models that look at a clock; it knows nothing of traces.
//
// # Units
//
// Times are in seconds, memory is in bytes.
//
// # Errors
//
// An [OptionError] is about options that do not go together on this machine. What a process, a
// compiler or a library says when it fails is part of the error.
//
// # Source
//
// What is measured, in which order and with which binding follows docs/calibrate.md; which elements HPL's
// copies and row swaps read and write, its documentation (HPL 2.3); what HPCG stores and in which order it calls
// what, docs/hpcg.md (HPCG 3.1).
package measure
