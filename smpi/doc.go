// Package smpi has all the options of a run under SimGrid's SMPI that a replay depends on,
// by SimGrid's names: those of the network and of the protocol of messages (package
// netmodel), and what MPI's calls cost and do.
//
//	o := smpi.DefaultOptions()
//	err := o.Set("network/model", "LV08") // as in --cfg=network/model:LV08
//
// Names of SimGrid 3.5 to 4 are understood, see [Obsolete].
package smpi
