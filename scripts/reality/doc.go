// Command reality asks how well this very machine is predicted: it calibrates the machine by
// the commands of docs/tutorial.md and nothing else, predicts runs of HPL, and only then runs
// HPL: the HPL 2.0 of the HPC Challenge benchmark (Debian's hpcc) with OpenBLAS and Open MPI.
//
//	make reality
//
// Predictions are written before the first run, and are not written again while they are
// there. Runs are interleaved over sizes, and what was measured is kept in -o, so that what
// was interrupted goes on. The table goes to docs/reality.md; the last line of the output is
//
//	mean absolute error X %, worst Y % (N >= 4000)
//
// of the predicted Gflop/s against the best of all runs of a case.
package main
