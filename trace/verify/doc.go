// Package verify checks what a trace means: that what is sent is received, in order and size;
// that waits have requests and phases nest; that ranks agree in their collective
// operations; and that the file holds what its index says.
//
// [Trace] expands all ranks side by side, a chunk of the file at a time. What is wrong in the
// meaning is a [Fault], which names the rank, the step and the action.
package verify
