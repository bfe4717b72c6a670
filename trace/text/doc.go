// Package text writes traces for people: [WriteListings] the actions, a line each, as a
// recorder inside of the program would have printed them, and [WriteStructure] the blocks and
// the calls with their columns.
//
// Where an action depends on a poll, a [trace.PollAnswers] answers it; [ReadRecorded] reads
// answers from the listing of a real run.
//
//	err := text.WriteListings(os.Stdout, t, []int32{0}, trace.CursorOptions{}, trace.Hit{}, text.Words{})
//
// # Units
//
// Sizes are in bytes, amounts of work in flop, sleeps in seconds.
//
// # Errors
//
// Those of a file of answers begin with its name and line, those of a trace with rank and step.
//
// # Source
//
// docs/trace-tools.md defines both forms of text.
package text
