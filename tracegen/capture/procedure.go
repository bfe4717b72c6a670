package capture

// procedureNumber names a procedure in records.
type procedureNumber int

// procKernel stands for all kernels of BLAS, LAPACK and FFTW.
const procKernel procedureNumber = -1

// procedure is what is known of one that the recorder interposes.
type procedure struct {
	name                      string
	as                        procedureNumber // what it does, whatever the width of its counts
	refused                   bool            // it is counted only
	fields                    []field         // of its record; of others than the generated ones, none
	persistent, neighbourhood bool
}

// field is a part of a record.
type field struct {
	role     role
	rootOnly bool // the root alone says it
	side     side
}

// side is one of the two directions of a collective operation, or of a sendrecv.
type side int

const (
	anySide side = iota
	sends
	receives
)

// role is what a field says.
type role int

const (
	roleComm role = iota // number of the communicator
	roleRank             // a rank of it
	roleTag
	roleMessage  // communicator, source and tag of a message that a probe has found
	roleInPlace  // 1: what is sent is in place, 2: what is received
	roleFlag     // whether something was found
	roleCount    // elements
	roleCounts   // elements, for each peer
	roleSize     // bytes of an element
	roleSizes    // bytes of an element, for each peer
	roleSpan     // elements from the first to the last that is received
	roleOperator // as trace.Operator
	roleStatus   // what was found or received
	roleNew      // a communicator that was made
	roleRequest  // a request was made; no bytes

	rolePartitions // of a message
	roleFile       // number of the communicator of a file
	roleWindow     // number of a window
	roleNewWindow  // a window was made; no bytes
	roleAssert     // assertions of a synchronisation, as the trace has them
	roleLock       // 1: shared
	roleGroup      // number of members, and the members as ranks of the world
	roleNoOp       // 1: an accumulation that only fetches
)

// Ranks and tags that mean something else.
const (
	anyRank  = -1
	anyTag   = -1
	procNull = -2
	rootHere = -3
)

func (p procedureNumber) String() string {
	if p >= 0 && int(p) < len(procedures) {
		return procedures[p].name
	}
	return "a kernel"
}
