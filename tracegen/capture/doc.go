// Package capture records MPI programs and makes traces of what they do: `tracegen mpi`.
//
// [Record] runs a program under a library (shim/shim.c) that is compiled when it is needed
// and loaded before MPI's into each rank. It interposes MPI's procedures below the Fortran
// bindings, for Open MPI, MPICH and MPI 5 alike, and each rank writes a file of its calls.
// [Merge] makes one trace of these files: communicators of ranks become those of the run,
// peers ranks of the world, receives from anybody what they received, and the time between
// calls computations in flop.
//
//	err := capture.Record(ctx, dir, capture.Command{Args: []string{"mpirun", "-np", "4", "./app"}, Stdout: os.Stdout,
//		Stderr: os.Stderr})
//	summary, err := capture.Merge(dir, w, capture.Options{Rate: 1e9})
//
// What is known of MPI's procedures, in C and in Go, is written by the program in scripts/mpistandard from
// the data of the MPI standard.
//
// # Units
//
// Sizes of messages are in bytes, times between calls in nanoseconds of the recording
// processor, in the trace as flop by Options.Rate, in flop per second.
//
// # Errors
//
// What is wrong with a recording is said with its file, rank, the number of the call and
// the procedure. Calls that a trace cannot have are refused by name, unless
// Options.LeaveOut asks for a trace without them.
//
// # Source
//
// The MPI standard, version 4.1, and the data of its procedures,
// github.com/mpi-forum/pympistandard; the binary interface of MPI 5.0,
// github.com/mpi-forum/mpi-abi-stubs.
package capture
