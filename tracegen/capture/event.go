package capture

// event is a call of MPI as it was recorded.
type event struct {
	proc   procedureNumber // with counts of any width
	called procedureNumber // as it was called
	gap    float64         // nanoseconds of the processor before it
	lost   bool            // its rank was without a processor for more than half of the time before it

	comm     int     // -1: none, or a stranger
	strange  bool    // its communicator is of a call that is not recorded
	groups   bool    // it has two groups
	message  int64   // that a matched probe has found, from 1
	ranks    []int32 // a destination, a source, a root; of a communicator
	tags     []int32
	inPlace  int64
	flag     bool
	of       [3]counted // by side
	span     int64
	operator int64
	status   status // of a receive or a probe
	made     *made
	request  request // that the call has made
	nth      int64   // of a persistent operation: which of its communicator it is, from 1
	kernel   kernelCall

	// Of one-sided communication, files and partitioned messages.
	window     int     // number of the rank's window; -1: none, or a stranger
	members    []int32 // of a group, ranks of the world
	assertions int64   // bits, as those of the trace
	shared     bool    // the lock
	noOp       bool    // an accumulation that only fetches
	partitions int64   // of a message, or those that are ready

	// Of completions: the requests of the call, and which have ended, in the order in which
	// the call says it. undefined: there was none to wait for.
	requests  []request
	ended     []int
	undefined bool
	code      int64 // of MPI_Abort, MPI_Pcontrol
}

// counted is what a call counts in a direction.
type counted struct {
	stated bool
	count  int64
	size   int64
	counts []int64 // by peer
	sizes  []int64 // by peer, of MPI_Alltoallw and its like
}

// status is what a call found.
type status struct {
	found       bool
	source, tag int32 // if they were not known
	wild        bool
	bytes       int64 // -1: as many as there was room for; mostCount: more, it is not known how many
}

// made is a communicator as a rank sees it when it is made; none: it is in none.
type made struct {
	none                  bool
	local                 int // its number, of this rank
	size, rank, remote    int
	members, others       []int32 // ranks of the world, if the record has them
	sources, destinations []int32 // neighbours
	topology              topology
}

// request is one in a record. Its number counts those of its kind from 1; 0: there is none.
type request struct {
	number     int64
	persistent bool
	cancelled  bool
	status     status
}

// topology is what a communicator's neighbours come from.
type topology int

const (
	noTopology topology = iota
	graph
	grid // Cartesian
)
