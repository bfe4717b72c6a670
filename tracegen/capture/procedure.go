package capture

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"reprise/trace"
)

// This file has what is known of each procedure of MPI (procedures, from procedures.txt) and of each kernel (kernels).

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
		// A procedure with wide counts stands behind the one that it is like. The number of a procedure is its
		// line, so the order of the file must be that of the recorder's tables.
		p := procedure{name: words[0]}
		numbers[p.name] = procedureNumber(len(list))
		// MPI_Send_c has counts of MPI_Count, and is MPI_Send in all else.
		narrow := strings.TrimSuffix(p.name, "_c")
		p.as = numbers[narrow]
		p.neighbourhood = strings.Contains(p.name, "eighbor_")
		for _, word := range words[1:] {
			switch name := strings.TrimRight(word, "><!"); name {
			case "hand":
				p.byHand = true
			// Calls of both widths are refused under their own names.
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
		// Underscores do not tell: MPI_Reduce_scatter is reducescatter, MPI_Win_lock_all is winlockall.
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

// ofKernels stands for the procedure of all kernels.
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

// The directions. Arguments that hold for both have no side.
const (
	anySide side = iota
	sends
	receives
)

// role is the meaning of a field. The numbers are indices of roleNames.
type role int

// The meanings of fields.
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

// kernel is a routine of BLAS, LAPACK or FFTW that the recorder knows (shim/blas.h, shim/lapack.h), with the names of
// its options and dimensions, in the order of records, and its flop as a polynomial of the dimensions.
type kernel struct {
	name    string
	options []string
	dims    []string
	flops   []trace.Term
}

// kernels are in the order of their numbers in records, which follow those of procedures. Their names are those of
// tracegen/hpl, so that one set of kernel models serves both. Copies and searches have no flop; those of dtrsm depend
// on its side (declared), and those of a transform are what FFTW says of its plan.
var kernels = []kernel{
	{"dgemm", []string{"transa", "transb"}, []string{"M", "N", "K"}, []trace.Term{{Coef: 2, Pow: [4]uint8{1, 1, 1}}}},
	{"dtrsm", []string{"side", "uplo", "trans", "diag"}, []string{"M", "N"}, nil},
	{"dgemv", []string{"trans"}, []string{"M", "N"}, []trace.Term{{Coef: 2, Pow: [4]uint8{1, 1}}}},
	{"dger", nil, []string{"M", "N"}, []trace.Term{{Coef: 2, Pow: [4]uint8{1, 1}}}},
	{"dtrsv", []string{"uplo", "trans", "diag"}, []string{"N"}, []trace.Term{{Coef: 1, Pow: [4]uint8{2}}}},
	{"dscal", nil, []string{"N"}, []trace.Term{{Coef: 1, Pow: [4]uint8{1}}}},
	{"daxpy", nil, []string{"N"}, []trace.Term{{Coef: 2, Pow: [4]uint8{1}}}},
	{"dcopy", nil, []string{"N"}, nil},
	{"idamax", nil, []string{"N"}, nil},
	{"dgetrf", nil, []string{"M", "N", "K"}, factorization(1)},
	{"dpotrf", []string{"uplo"}, []string{"N"}, []trace.Term{{Coef: 1.0 / 3, Pow: [4]uint8{3}}}},
	{"dgeqrf", nil, []string{"M", "N", "K"}, factorization(2)},
	{"fftw", nil, []string{"FLOP"}, []trace.Term{{Coef: 1, Pow: [4]uint8{1}}}},
	{"fftwf", nil, []string{"FLOP"}, []trace.Term{{Coef: 1, Pow: [4]uint8{1}}}},
}

// factorization returns the flop of a factorization that in step k of K, the lesser of M and N, works on (M-k)(N-k)
// elements, with each products and as many sums for an element: to the leading order 2 (MNK - (M+N) K^2/2 + K^3/3)
// times each (Golub and Van Loan, Matrix Computations, sections 3.2 and 5.2).
func factorization(each float64) []trace.Term {
	return []trace.Term{
		{Coef: 2 * each, Pow: [4]uint8{1, 1, 1}}, {Coef: -each, Pow: [4]uint8{1, 0, 2}}, {Coef: -each,
			Pow: [4]uint8{0, 1, 2}},
		{Coef: each * 2 / 3, Pow: [4]uint8{0, 0, 3}},
	}
}

// used is a kernel with its options, a letter each. The trace has a kernel for each set of options, as their
// costs differ.
type used struct {
	number  int
	options string
}

// kernelCall is a call of a kernel with its dimensions.
type kernelCall struct {
	used
	dims [4]int64
}

// kernel reads a call of a kernel.
func (s *stream) kernel(e *event, number int) {
	k := &kernels[number]
	e.kernel.number = number
	// Options are letters as BLAS has them; a recorder writes them in capitals.
	letters := make([]byte, len(k.options))
	for i := range letters {
		letters[i] = byte(s.number(127))
		if letters[i] < 'A' || letters[i] > 'Z' {
			s.fail("%s %s %q", k.name, k.options[i], letters[i])
		}
	}
	e.kernel.options = string(letters)
	// The event is used again, so dimensions of the kernel before must not stay.
	e.kernel.dims = [4]int64{}
	for i := range k.dims {
		e.kernel.dims[i] = s.number(mostCount)
	}
}

// declared returns kernels for the header.
func declared(kernelsUsed []used) (list []trace.Kernel) {
	for _, u := range kernelsUsed {
		// Each option is an attribute of one letter. Dimensions are declared in the order of the record.
		k := &kernels[u.number]
		out := trace.Kernel{Name: k.name, Flops: k.flops}
		for i, name := range k.options {
			out.Attrs = append(out.Attrs, trace.Param{Name: name, Value: u.options[i : i+1]})
		}
		for _, name := range k.dims {
			out.Dims = append(out.Dims, trace.Dim{Name: name})
		}
		if k.name == "dtrsm" { // the triangle is M by M on the left, N by N on the right
			powers := [4]uint8{2, 1}
			if u.options[0] == 'R' {
				powers = [4]uint8{1, 2}
			}
			out.Flops = []trace.Term{{Coef: 1, Pow: powers}}
		}
		list = append(list, out)
	}
	return list
}
