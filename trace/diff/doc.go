// Package diff compares two traces by what they mean: parameters, counts, and the actions of
// each rank.
//
// [Traces] skips what has the same name in both files: chunks are named by a hash of their
// content. A [Difference] lists what remains, with the lines around the first
// action of each rank that differs; [Difference.WriteText] prints it, and its JSON is that of
// "trace diff --json".
package diff
