// Package verify checks what a trace means: that what is sent is received, in order and size;
// that waits have requests and phases nest; that ranks agree in their collective
// operations; and that the file holds what its index says.
//
// [Trace] expands all ranks side by side, a chunk of the file at a time. What is wrong in the
// meaning is a [Fault], which names the rank, the step and the action.
//
//	verified, err := verify.Trace(t, nil)
//	var fault *verify.Fault
//	if errors.As(err, &fault) {
//		fmt.Println(fault.Rank, fault.Step, fault.Action)
//	}
//
// # Units
//
// Sizes are in bytes; ranks and steps are counted from 0, actions from 1.
//
// # Errors
//
// A [Fault], or what is wrong with the file, which wraps errors of package trace.
//
// # Source
//
// The rules are MPI's: messages between two ranks with one tag do not overtake each other, and
// all ranks call the same collective operations in the same order.
package verify
