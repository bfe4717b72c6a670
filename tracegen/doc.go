// Package tracegen holds what the exporters below it share: [Plain] turns the
// actions of a trace into plain ones, which other formats have too.
//
// A trace leaves two things open. A poll asks whether a message has arrived,
// which only a replay knows; and a kernel is a name with dimensions, whose time
// only a model of a machine knows. Formats without polls and kernels need a
// decision: a rule that answers polls, and an amount of flop for each call.
package tracegen
