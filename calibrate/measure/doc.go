// Package measure times dgemm on the machine that it runs on, for calibrate
// kernels to fit.
//
//	o := measure.DefaultOptions()
//	plan, err := measure.NewPlan(o)                      // sizes, at random and in random order
//	result, err := measure.Run(ctx, plan, o, progress)   // workers, each bound to its cores
//	err = result.WriteCSV(w, description)
//
// A worker is a process of its own that reads a size from its standard input and
// writes the seconds of one call: for a BLAS of the user, a small C program that is
// compiled here and loads the library; else this program itself, with the dgemm of Gonum ([Serve]). So no
// C is linked in, a library that crashes takes nothing along, and the operating system binds all threads of
// a worker to its cores before it begins.
//
// This is the one package of the models that looks at a clock.
//
// # Units
//
// Times are in seconds, memory is in bytes, speeds are in flop/s.
//
// # Errors
//
// A [MemoryError] is about a size that is too large for the memory, an [OptionError] about
// options that do not go together on this machine. What a worker, a compiler or a library says
// when it fails is part of the error.
//
// # Source
//
// What is measured, in which order and with which binding follows docs/calibrate.md.
package measure
