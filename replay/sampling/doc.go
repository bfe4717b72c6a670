// Package sampling estimates the length of a run from parts of it: windows of
// steps that are simulated exactly, and a parabola with local corrections between
// them.
//
// It knows neither traces nor machines. Whoever can simulate the steps [from, to)
// of a run, all ranks entering at time 0, gives it that as a [Measure]; [Run]
// decides which windows to simulate, simulates them in parallel, and returns an
// [Estimate] with its interval, or [ErrExact] when the exact run would cost no
// more. docs/sampling.md states the method, what it assumes, and when it fails.
//
// The result depends on nothing but the options and what the windows measure: not
// on the number of workers. With a time limit it depends on the speed of the
// machine.
//
//	e, err := sampling.Run(ctx, sampling.Options{End: steps, Tolerance: 0.005, Workers: 4, Measure: simulate})
//	fmt.Println(e.Seconds, e.Interval) // with about 95 % confidence
//
// # Units
//
// Times are in seconds; a tolerance is a part of the estimate.
//
// # Errors
//
// [ErrExact] says that the exact run costs no more, [ErrTime] that the time does not
// suffice; others are those of Measure.
//
// # Source
//
// The method is our own, docs/sampling.md; the intervals are Student's.
package sampling
