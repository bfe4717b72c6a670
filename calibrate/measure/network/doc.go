// Package network times messages between the ranks of an MPI program, for calibrate network to fit.
//
//	o := network.DefaultOptions()
//	o.Launcher = []string{"mpirun", "-np", "2"}
//	result, err := network.Run(ctx, o, nil)
//	err = result.WriteCSV(w, description)
//
// The program (helper/bench.c) is compiled with the MPI's own compiler and started by the launcher of the user, so
// that it runs as programs do there: any MPI 3, any network, any scheduler. It prints nothing, since what it prints
// wakes the launcher, which competes with the ranks. Rank 0 appends what was timed to a file, about once a
// second and outside of what is timed; the file outlives ranks that are killed, so what an interrupted measurement
// has timed is kept.
//
// Where the ranks are decides what is timed: two on one host give messages within a host, two on two
// hosts messages between them, and more give pairs at the same time.
//
// # Units
//
// Times are in seconds, sizes in bytes.
//
// # Errors
//
// All options that make no sense, joined; what the compiler or the launcher says when it fails;
// and a place in what the program wrote that is no timing.
//
// # Source
//
// The operations are those that SimGrid's calibration of SMPI times: T. Cornebize, "High
// Performance Computing: Towards Better Performance Predictions and Experiments", PhD thesis,
// Université Grenoble Alpes, 2021.
package network
