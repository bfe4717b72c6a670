// Package search finds the quickest of many points, which have a level of each of some factors, by
// measuring few of them.
//
//	found, err := search.Run(ctx, &search.Space{Factors: factors, Points: points}, search.Options{
//		Tolerances: []float64{0.03, 0.01, 0}, Indifference: 0.005, Measure: replay})
//	best := found.Points[0]
//
// It begins with a few points in which all levels, and pairs of levels, are about equally often.
// A model of effects tells from what was measured how long each other point takes, with an
// interval. Points are discarded by these intervals: as many as can be with a chance of at most
// 5 % that any of them is better than the best by more than the indifference. Of the others those
// are measured next that promise most, a few at a time, until there are none. Then the
// neighbours of the best that were never measured are, whatever the model says of them.
//
// That is done with each tolerance in turn; with a finer one the points that are left are measured
// again. Nothing is discarded for good: what the model says of all points counts each time.
//
// # Units
//
// Times are in seconds; tolerances and the indifference are shares of a time.
//
// # Errors
//
// Errors are those of Measure, and of a space or options that make no sense.
//
// # Source
//
// The model: Joseph and Delaney, Functionally induced priors for the analysis of experiments,
// Technometrics 49, 2007. Points that promise most, by their expected improvement: Jones, Schonlau
// and Welch, Efficient global optimization of expensive black-box functions, Journal of Global
// Optimization 13, 1998. Discarding by intervals, up to a difference that does not matter:
// Even-Dar, Mannor and Mansour, Action elimination and stopping conditions, JMLR 7, 2006.
package search
