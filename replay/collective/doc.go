// Package collective turns collective operations of MPI into the point-to-point
// messages that a rank sends and receives, by the algorithms that Open MPI and
// MPICH use and SimGrid's SMPI imitates.
//
// A [Selector] says which algorithm carries out an operation, by the number of
// ranks and the size of the data: as one of SMPI's selections ("default", "ompi",
// "mpich") does, or by name. A [Schedule] is what one rank does in one call. It
// yields a few steps at a time, so that its size does not depend on that of the
// operation, and nothing is allocated:
//
//	var s collective.Schedule
//	s.Start(selector, &call, ranks, rank)
//	for steps := s.Next(); len(steps) > 0; steps = s.Next() {
//		...
//	}
//
// An algorithm is a function of the rank and the number of its round, in the file
// of its family: what it does, where it was published, what it costs. Costs are in
// the model of Hockney, where a message of m bytes takes a + m*b; p is the number
// of ranks and n the bytes of the data.
//
// Ranks are those of the communicator of the call. A nonblocking call posts all its
// messages at once, and its last step, which waits for them, is its completion.
//
// A call of one rank alone sends nothing. Combining data takes no time here: a
// caller adds the computation that the call names.
//
// # Units
//
// Sizes are in bytes, tags and ranks are integers.
//
// # Errors
//
// What a selection names and is not played is an error where an operation needs it
// (Selector.Check).
//
// # Source
//
// Each algorithm names its paper; which one is used follows SimGrid 3.32's selections.
package collective
