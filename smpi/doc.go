// Package smpi has all the options of a run under SimGrid's SMPI that a replay depends on,
// by SimGrid's names: those of the network and of the protocol of messages (package
// netmodel), and what MPI's calls cost and do.
//
//	o := smpi.DefaultOptions()
//	err := o.Set("network/model", "LV08") // as in --cfg=network/model:LV08
//
// Names of SimGrid 3.5 to 4 are understood, see [Obsolete].
//
// # Units
//
// Times are in seconds, sizes in bytes, bandwidths in byte/s, speeds in flop/s, whatever
// the units of the texts.
//
// # Errors
//
// An error names the option, and one that is spelt alike.
//
// # Source
//
// The names and defaults are those of SimGrid 3.32, its documentation and its sources.
package smpi
