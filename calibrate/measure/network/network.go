// Package network times messages between the ranks of an MPI program, for calibrate network to fit.
//
//	o := network.DefaultOptions()
//	o.Launcher = []string{"mpirun", "-np", "2"}
//	result, err := network.Run(ctx, o, nil)
//	err = result.WriteCSV(w, facts)
//
// The program (helper/bench.c) is compiled with the MPI's own compiler and started by the launcher
// of the user, so that it runs as programs do there: any MPI 3, any network, any scheduler. It
// prints nothing, since its output wakes the launcher, which competes with the ranks. Rank 0
// appends the timings to a file, about once a second and between operations that are timed; the
// file outlives ranks that are killed, so that the timings of an interrupted measurement are kept.
//
// The places of the ranks decide which messages are timed: two ranks on one host give messages
// within a host, two on two hosts messages between them, and more give pairs at the same time.
//
// [Options] say how, a [Result] holds the timings, a [Report] everything that is told of them. Fitting is left to
// calibrate.
//
// # Units
//
// Times are in seconds, sizes in bytes.
//
// # Errors
//
// All options that make no sense, joined; messages of the compiler or the launcher when it fails;
// and a line of the program's file that is no timing.
//
// # Source
//
// The operations are those that SimGrid's calibration of SMPI times: T. Cornebize, "High Performance Computing: Towards
// Better Performance Predictions and Experiments", PhD thesis, Université Grenoble Alpes, 2021.
package network

import (
	"slices"
	"time"

	"reprise/internal/textutil"
)

// Between says between which ranks messages are timed.
type Between string

// The choices: within a host, between two hosts, both, and as many of both as the places of the ranks allow.
const (
	Cores Between = "cores"
	Nodes Between = "nodes"
	Both  Between = "both"
	Auto  Between = "auto"
)

// Options says which messages are timed, and how.
type Options struct {
	Launcher []string      // the command that starts the program, such as mpirun -np 2
	Compiler string        // of MPI programs
	Dir      string        // where the program and its file are while it runs; all hosts see it
	Sizes    int           // of messages
	MaxBytes int64         // the largest
	Reps     int           // timings of each operation and size
	Budget   time.Duration // of the timing
	Seed     uint64        // of sizes and order
	Between  Between
}

// DefaultOptions returns the options of the command without flags.
func DefaultOptions() Options {
	return Options{Compiler: "mpicc", Dir: ".", Sizes: 100, MaxBytes: 16 << 20, Reps: 30, Budget: 5 * time.Minute, Seed: 1,
		Between: Auto}
}

// Limits of what can be asked for. MPI counts bytes in 32 bits.
const (
	maxSizes = 4096
	maxBytes = 1 << 30
	maxReps  = 1 << 20
)

// Validate returns the error of options that are out of range.
func (o *Options) Validate() error {
	var faults textutil.Faults
	faults.WantRange("sizes", int64(o.Sizes), 2, maxSizes)
	faults.WantRange("bytes of the largest message", o.MaxBytes, 1024, maxBytes)
	faults.WantRange("timings of each size", int64(o.Reps), 1, maxReps)
	faults.Want(len(o.Launcher) > 0, "no command that starts MPI programs, as in -- mpirun -np 2")
	faults.Want(o.Budget > 0, "budget %v, want more than 0", o.Budget)
	faults.Want(slices.Contains([]Between{Cores, Nodes, Both, Auto}, o.Between),
		"between %q, want cores, nodes, both or auto", o.Between)
	return faults.Err()
}
