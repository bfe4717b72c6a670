// Package text writes traces for people: [WriteListings] the actions, a line each, as a
// recorder inside of the program would have printed them, and [WriteStructure] the blocks and
// the calls with their columns.
//
// Where an action depends on a poll, a [trace.PollRule] answers it; [ReadRecorded] reads
// answers from the listing of a real run.
package text
