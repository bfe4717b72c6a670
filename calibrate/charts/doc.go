// Package charts draws fits: the measured and fitted seconds over the size, both
// on logarithmic axes, and below them the relative residuals.
//
//	err := charts.Write(w, report.Series()[0], "svg")
//
// # Units
//
// Axes are in seconds and in what the model's size is counted in; residuals are in percent.
//
// # Errors
//
// A format that is not known, and a series without a value that could be drawn.
//
// # Source
//
// Drawn by gonum/plot.
package charts
