// Package report says what a study has found out: which configuration is the quickest, which
// cannot be told from it, and how much each factor matters.
//
//	f, err := report.Of(plan, results)
//	err = f.WriteText(os.Stdout)
//	err = f.WriteHTML(file)   // one page that needs nothing else
//
// # Units
//
// Makespans are in seconds; effects are relative to the geometric mean of all configurations,
// intervals half-widths with 95 % confidence.
//
// # Errors
//
// A study of which no configuration has a result is an error; one that lacks some is a note in
// the findings.
//
// # Source
//
// Effects: package effects, of logarithms of makespans. What cannot be told from the best: tests of
// package compare, corrected by Holm.
package report
