// Package diff compares two traces by what they mean: parameters, counts, and the actions of
// each rank.
//
// [Traces] skips what has the same name in both files: chunks are named by a hash of their
// content. A [Difference] lists what remains, with the lines around the first
// action of each rank that differs; [Difference.WriteText] prints it, WriteMarkdown, WriteJUnit
// and WriteHTML show it elsewhere, and its JSON is that of "trace diff --json".
//
//	d, err := diff.Traces(a, b, diff.Options{Actions: true})
//	if !d.Same {
//		err = d.WriteText(os.Stdout, "a", "b")
//	}
//
// # Units
//
// Counts of bytes and flop; changes are in percent of A.
//
// # Errors
//
// That traces differ is none. Errors name the file; [trace.ErrStream] is about a trace that
// can be read only once.
//
// # Source
//
// Both traces are expanded to actions as docs/trace-format.md says.
package diff
