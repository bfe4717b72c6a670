package capture

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"reprise/trace"
)

// procedureNumber is the number of a procedure in records: its line in procedures.txt, from 0.
type procedureNumber int

// procKernel stands for all kernels of BLAS, LAPACK and FFTW, whose numbers come behind those of procedures.
const procKernel procedureNumber = -1

// procedure describes a procedure that the recorder interposes.
type procedure struct {
	name string
	// as is the procedure that does the same with counts of 32 bits: of MPI_Send_c that is MPI_Send.
	as procedureNumber
	// does is the operation of the trace: a trace.CollectiveKind, a trace.AccessKind, a trace.SyncKind, or nil.
	does any
	// fields are the parts of its record, in their order. A procedure with a wrapper by hand has none, and its
	// record is read by stream.completion.
	fields []field

	byHand        bool
	refused       bool // the recorder counts it, and writes no arguments
	persistent    bool // it makes a request that is started later
	neighbourhood bool
	blocking      bool // a collective or neighbourhood operation that ends before it returns
}

// proceduresText has a line for each procedure: its name, and the roles of its fields, each with < or > for a side and
// ! for a field of the root alone; or the word "hand" or "refused".
//
//go:embed procedures.txt
var proceduresText string

// procedures returns all that is known of the procedures, by number. The table is read at its first use, as most
// commands never need it.
var procedures = sync.OnceValue(func() (list []procedure) {
	// The operations of the trace have the names of MPI's procedures, but for their spelling. Of those whose arguments
	// differ in their form alone the trace has one.
	operations := map[string]any{}
	for k := range trace.CollectiveKind(trace.NumCollectives) {
		operations[k.String()] = k
	}
	for k := range trace.AccessKind(trace.NumAccesses) {
		operations[strings.ReplaceAll(k.String(), "_", "")] = k
	}
	for k := range trace.SyncKind(trace.NumSyncs) {
		operations["win"+strings.ReplaceAll(k.String(), "_", "")] = k
	}
	for name, same := range map[string]string{
		"alltoallw": "alltoallv", "reducescatterblock": "reducescatter", "winallocate": "wincreate",
		"winallocateshared": "wincreate", "wincreatedynamic": "wincreate", "wintest": "winwait",
		"winflushall": "winflush", "winflushlocalall": "winflushlocal",
	} {
		operations[name] = operations[same]
	}
	numbers := map[string]procedureNumber{}
	for line := range strings.Lines(proceduresText) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		// A procedure with wide counts stands behind the one that it is like.
		p := procedure{name: words[0]}
		numbers[p.name] = procedureNumber(len(list))
		narrow := strings.TrimSuffix(p.name, "_c")
		p.as = numbers[narrow]
		p.neighbourhood = strings.Contains(p.name, "eighbor_")
		for _, word := range words[1:] {
			switch name := strings.TrimRight(word, "><!"); name {
			case "hand":
				p.byHand = true
			case "refused":
				p.refused, p.as = true, procedureNumber(len(list))
			default:
				f := field{role: role(slices.Index(roleNames, name)), rootOnly: strings.HasSuffix(word, "!")}
				switch {
				case strings.Contains(word, ">"):
					f.side = sends
				case strings.Contains(word, "<"):
					f.side = receives
				}
				p.fields = append(p.fields, f)
			}
		}
		// The operation follows from the name: of MPI_Bcast_init that is bcast.
		plain, prepared := strings.CutSuffix(strings.TrimPrefix(narrow, "MPI_"), "_init")
		p.persistent = prepared && !p.byHand
		plain = strings.ReplaceAll(plain, "_", "")
		// MPI_Ibcast and MPI_Rput are MPI_Bcast and MPI_Put with a request.
		if p.does = operations[strings.ToLower(plain)]; p.does == nil && (plain[0] == 'I' || plain[0] == 'R') {
			p.does = operations[plain[1:]]
		}
		_, collective := p.does.(trace.CollectiveKind)
		p.blocking = (collective || p.neighbourhood) && !p.persistent && !strings.HasPrefix(p.name, "MPI_I")
		list = append(list, p)
	}
	return list
})

// known returns what is known of a procedure; of a kernel nothing but that it is one.
func (p procedureNumber) known() *procedure {
	if list := procedures(); p >= 0 && int(p) < len(list) {
		return &list[p]
	}
	return &ofKernels
}

// ofKernels describes all kernels, of which no procedure of MPI is known.
var ofKernels = procedure{name: "a kernel", byHand: true}

func (p procedureNumber) String() string { return p.known().name }

// collective reports whether a procedure is a collective operation of the trace.
func (p procedureNumber) collective() bool {
	_, ok := p.known().does.(trace.CollectiveKind)
	return ok
}

// field is a part of a record. A field of a side is missing where that side is in place (MPI_IN_PLACE).
type field struct {
	role     role
	rootOnly bool // the root alone records it
	side     side
}

// side is one of the two directions of a collective operation, or of a sendrecv.
type side int

const (
	anySide side = iota
	sends
	receives
)

// role is the meaning of a field. The numbers are indices of roleNames.
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

// roleNames are the names of roles in procedures.txt.
var roleNames = strings.Fields(`comm rank tag message inPlace flag count counts size sizes span operator status new request
	partitions file window newWindow assert lock group noOp`)

// Ranks and tags in records with a meaning of their own. The recorder writes these for the library's own numbers.
const (
	anyRank  = -1 // MPI_ANY_SOURCE
	anyTag   = -1 // MPI_ANY_TAG
	procNull = -2 // MPI_PROC_NULL
	rootHere = -3 // MPI_ROOT: the rank is the root of an operation of two groups
)
