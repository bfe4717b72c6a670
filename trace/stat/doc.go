// Package stat sums up a trace: actions, messages, bytes, kernel calls and flop, in all and
// by kind, kernel and phase.
//
// [Of] counts from the structure that [trace.Trace.Chunks] yields, without expanding it to
// actions: each block is turned once into formulas over its arguments and over what is
// pending when it is called, and these are evaluated once for all ranks that call it
// alike. So the cost does not depend on how many actions there are. What no formulas say, as phases that begin under a
// condition, is counted action by action. [Report.WriteText]
// prints the result; its JSON is that of "trace stat --json".
//
//	report, err := stat.Of(t, stat.Options{})
//	fmt.Println(report.Totals.Messages, report.Totals.Bytes, report.Totals.Flops)
//
// # Units
//
// Sizes are in bytes, amounts of work in flop.
//
// # Errors
//
// They name the file and the place in it.
//
// # Source
//
// There is none: it is the sum over the actions that docs/trace-format.md defines, which the
// tests expand.
package stat
