// Package stat sums up a trace: actions, messages, bytes, kernel calls and flop, in all and
// by kind, kernel and phase.
//
// [Of] counts from the structure that [trace.Trace.Chunks] yields, without expanding it to
// actions: a block is run once for all ranks that call it with the same arguments that count, and a
// loop once for all its turns. So the cost does not depend on how many actions there are.
// [Report.WriteText] prints the result; its JSON is that of "trace stat --json".
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
