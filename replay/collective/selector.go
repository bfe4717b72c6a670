package collective

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"reprise/trace"
)

// This file chooses the algorithm of each operation, by a selection of SMPI (NewSelector) or by name (Set). The tables
// and rules of the selections are at its end.

// choice picks the algorithm of an operation. All ranks must come to the same one.
type choice func(s *Schedule, o *operands) algorithm

// Selector says which algorithm carries out each operation.
type Selector struct {
	choose  [trace.NumCollectives]choice
	missing [trace.NumCollectives]error // why there is no algorithm; nil: there is
	byNodes bool
	linear  [trace.NumCollectives]bool
	tuned   [trace.NumCollectives][]decision
}

// ByNodes reports whether schedules depend on Nodes.
func (s *Selector) ByNodes() bool { return s.byNodes }

// Linear reports whether an operation goes by an algorithm of SMPI's default selection in which one rank exchanges
// messages with all others, or all with all, in turn.
func (s *Selector) Linear(kind trace.CollectiveKind) bool { return s.linear[kind] }

// twoLevels are the names of algorithms, and of the selection, that go by nodes.
var twoLevels = []string{"mpich", "SMP_binomial", "mvapich2_two_level"}

// elsewhere are selections of SMPI that Reprise does not have.
var elsewhere = []string{"mvapich2", "impi"}

// NewSelector returns one of SMPI's selections: "default", "ompi" or "mpich". With one that Reprise does not have, only
// the operations that need it are refused.
func NewSelector(name string) (*Selector, error) {
	s := &Selector{tuned: tuned()}
	for _, kind := range []trace.CollectiveKind{trace.CollGatherv, trace.CollScatterv, trace.CollScan, trace.CollExscan} {
		s.choose[kind] = always(only[kind])
	}
	unknown := fmt.Errorf("selection %q, want default, ompi or mpich", name)
	for i := range families {
		if err := s.Set(families[i].name, name); err != nil {
			return nil, err
		}
		if kind := families[i].kind; s.missing[kind] != nil {
			if !slices.Contains(elsewhere, name) {
				return nil, unknown
			}
			s.miss(kind, unknown)
		}
	}
	return s, nil
}

// Check returns why an operation cannot be carried out, nil if it can.
func (s *Selector) Check(kind trace.CollectiveKind) error {
	if err := s.missing[kind]; err != nil {
		return fmt.Errorf("%v: %w", kind, err)
	}
	return nil
}

// miss notes that there is no algorithm for an operation. That is an error only if it is called, or is part of another.
func (s *Selector) miss(kind trace.CollectiveKind, err error) {
	s.missing[kind] = err
	s.choose[kind] = func(call *Schedule, _ *operands) algorithm {
		call.err = s.Check(kind)
		return noMessages
	}
}

// only are the algorithms of the operations for which there is no choice.
var only = [trace.NumCollectives]algorithm{
	trace.CollGatherv: gatherFlat, trace.CollScatterv: scatterFlat, trace.CollScan: scanLinear, trace.CollExscan: scanLinear,
}

// Set takes an algorithm by name for an operation, both as SimGrid calls them:
// --cfg=smpi/OPERATION:NAME. The names of selections are names of algorithms. An unknown
// name is an error of Check: SimGrid has more algorithms.
func (s *Selector) Set(operation, name string) error {
	f := familyOf(operation)
	if f == nil {
		return fmt.Errorf("collective operation %q, known are %s", operation, strings.Join(Operations(), ", "))
	}
	for _, a := range f.algorithms {
		if a.name == name {
			s.choose[f.kind], s.missing[f.kind] = a.choose, nil
			s.linear[f.kind] = name == "default" && f.kind != trace.CollAlltoall && f.kind != trace.CollBcast
			s.byNodes = s.byNodes || slices.Contains(twoLevels, name)
			return nil
		}
	}
	s.miss(f.kind, fmt.Errorf("algorithm %q of %s, known are %s", name, operation, strings.Join(f.names(), ", ")))
	return nil
}

// Operations returns the names of the operations whose algorithm can be chosen.
func Operations() []string {
	names := make([]string, len(families))
	for i := range families {
		names[i] = families[i].name
	}
	return names
}

// Algorithms returns the names of the algorithms of an operation, nil if it is not known.
func Algorithms(operation string) []string {
	if f := familyOf(operation); f != nil {
		return f.names()
	}
	return nil
}

// family is an operation with its algorithms.
type family struct {
	name       string
	kind       trace.CollectiveKind
	algorithms []named
}

type named struct {
	name   string
	choose choice
}

// familyOf returns the family of an operation, nil if it is not known.
func familyOf(operation string) *family {
	if i := slices.IndexFunc(families, func(f family) bool { return f.name == operation }); i >= 0 {
		return &families[i]
	}
	return nil
}

func (f *family) names() []string {
	names := make([]string, len(f.algorithms))
	for i := range f.algorithms {
		names[i] = f.algorithms[i].name
	}
	return names
}

// always is the choice of one algorithm, whatever the data.
func always(run algorithm) choice { return func(*Schedule, *operands) algorithm { return run } }

// byNodes is the choice of an algorithm of two levels for all ranks, and of sized on each of the levels.
func byNodes(twoLevels algorithm, sized choice) choice {
	return func(s *Schedule, o *operands) algorithm {
		if s.level == whole {
			return twoLevels
		}
		return sized(s, o)
	}
}

// noMessages is what is done about no data.
func noMessages(*Schedule, *operands, int) bool { return false }

// allgathervDoubling is allgatherDoubling, of no data nothing.
func allgathervDoubling(s *Schedule, o *operands) algorithm {
	if received(s, o) == 0 {
		return noMessages
	}
	return allgatherDoubling
}

// openMPI holds the decisions of Open MPI. The file says in which form, and where they are from.
//
//go:embed open_mpi.txt
var openMPI string

// decision is an algorithm of a table, for fewer ranks and fewer bytes than these. The first that holds counts.
type decision struct {
	ranks  int
	bytes  int64
	choose choice
}

// tuned returns the decisions of Open MPI by operation. It panics at a mistake in the file.
var tuned = sync.OnceValue(func() (tables [trace.NumCollectives][]decision) {
	for line := range strings.Lines(openMPI) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		f, row := familyOf(words[0]), decision{ranks: math.MaxInt}
		if words[1] != "more" {
			row.ranks = number(words[1])
		}
		for _, entry := range words[2:] {
			row.bytes = math.MaxInt64
			if below, name, limited := strings.Cut(entry, ":"); limited {
				row.bytes, entry = int64(number(below)), name
			}
			at := slices.IndexFunc(f.algorithms, func(a named) bool { return a.name == entry })
			row.choose = f.algorithms[at].choose
			tables[f.kind] = append(tables[f.kind], row)
		}
	}
	return tables
})

// number is a limit of the table.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

// by is Open MPI's choice for an operation, by the number of ranks and a number of bytes.
func by(kind trace.CollectiveKind, bytes func(s *Schedule, o *operands) int64) choice {
	return func(s *Schedule, o *operands) algorithm {
		n := bytes(s, o)
		for _, d := range s.sel.tuned[kind] {
			if s.p < d.ranks && n < d.bytes {
				return d.choose(s, o)
			}
		}
		return nil
	}
}

// What tables go by, in bytes.

func nothing(*Schedule, *operands) int64      { return 0 }
func sent(_ *Schedule, o *operands) int64     { return o.send.one() }
func received(s *Schedule, o *operands) int64 { return o.recv.before(s.p) }
func meanReceived(s *Schedule, o *operands) int64 {
	return o.recv.before(s.p) / o.recv.size * o.send.size / int64(s.p)
}

// atRoot is the block that the root gathers, or the one that the rank sends.
func atRoot(s *Schedule, o *operands) int64 {
	if s.rank == o.root {
		return o.recv.one()
	}
	return o.send.one()
}

// fromRoot is the block that the root scatters, or the one that the rank receives.
func fromRoot(s *Schedule, o *operands) int64 {
	if s.rank == o.root {
		return o.send.one()
	}
	return o.recv.one()
}

// families lists what can be chosen, under the names of SimGrid 3.32.
var families = []family{
	{"allgather", trace.CollAllgather, []named{
		{"default", always(allgatherFlat)}, {"ompi", by(trace.CollAllgather, sent)}, {"mpich", mpichAllgather},
		{"NTSLR_NB", always(allgatherRing)}, {"bruck", always(allgatherBruck)},
		{"rdb", always(allgatherDoubling)}, {"ring", always(allgatherShift)}, {"pair", always(allgatherPairs)},
		{"ompi_neighborexchange", always(allgatherNeighbors)},
	}},
	{"allgatherv", trace.CollAllgatherv, []named{
		{"default", always(allgatherFlat)}, {"ompi", by(trace.CollAllgatherv, meanReceived)},
		{"mpich", mpichAllgatherv}, {"GB", always(allgatherGatherBcast)},
		{"ompi_bruck", always(allgatherBruck)}, {"mpich_rdb", allgathervDoubling},
		{"mpich_ring", always(allgatherRingChunks)}, {"ring", always(allgatherShift)},
		{"pair", always(allgatherPairs)}, {"ompi_neighborexchange", always(allgatherNeighbors)},
	}},
	{"allreduce", trace.CollAllreduce, []named{
		{"default", always(allreduceFlat)}, {"ompi", by(trace.CollAllreduce, sent)},
		{"mpich", byNodes(allreduceNodes, allreduceSized)}, {"redbcast", always(allreduceReduceBcast)},
		{"rdb", always(allreduceDoubling)}, {"rab_rdb", always(allreduceRabenseifner)},
		{"lr", always(allreduceRing)}, {"ompi_ring_segmented", always(allreduceRingSegments)},
		{"mvapich2_two_level", always(allreduceNodes)},
	}},
	{"alltoall", trace.CollAlltoall, []named{
		{"default", by(trace.CollAlltoall, sent)}, {"ompi", by(trace.CollAlltoall, sent)}, {"mpich", mpichAlltoall},
		{"basic_linear", always(alltoallLinear)}, {"pair", always(alltoallPairs)},
		{"ring", always(alltoallShift)}, {"bruck", always(alltoallBruck)},
		{"mvapich2_scatter_dest", always(alltoallThrottled)},
	}},
	{"alltoallv", trace.CollAlltoallv, []named{
		{"default", always(alltoallFlat)}, {"ompi", by(trace.CollAlltoallv, nothing)},
		{"mpich", always(alltoallvThrottled)}, {"ompi_basic_linear", always(alltoallFlat)},
		{"pair", always(alltoallPairs)}, {"ring", always(alltoallPairs)}, {"bruck", always(alltoallvThrottled)},
	}},
	{"barrier", trace.CollBarrier, []named{
		{"default", always(barrierLinear)}, {"ompi", by(trace.CollBarrier, nothing)},
		{"mpich", always(barrierDissemination)}, {"ompi_basic_linear", always(barrierLinear)},
		{"ompi_two_procs", always(barrierDissemination)}, {"ompi_tree", always(barrierTree)},
		{"ompi_bruck", always(barrierDissemination)},
		{"ompi_recursivedoubling", always(barrierRecursiveDoubling)},
		{"ompi_doublering", always(barrierDoubleRing)},
	}},
	{"bcast", trace.CollBcast, []named{
		{"default", always(bcastBinomial)}, {"ompi", by(trace.CollBcast, sent)},
		{"mpich", byNodes(bcastNodes, bcastSized)}, {"binomial_tree", always(bcastBinomial)},
		{"NTSL", always(bcastLine)}, {"NTSB", always(bcastTree)}, {"ompi_pipeline", always(bcastPipeline)},
		{"ompi_split_bintree", always(bcastSplitBinary)}, {"scatter_LR_allgather", always(bcastScatterRing)},
		{"scatter_rdb_allgather", always(bcastScatterDoubling)},
		{"mvapich2_knomial_intra_node", always(bcastKnomial)}, {"SMP_binomial", always(bcastNodes)},
	}},
	{"gather", trace.CollGather, []named{
		{"default", always(gatherFlat)}, {"ompi", by(trace.CollGather, atRoot)}, {"mpich", always(gatherBinomial)},
		{"ompi_basic_linear", always(gatherLinear)}, {"ompi_binomial", always(gatherBinomial)},
		{"ompi_linear_sync", always(gatherLinearSync)},
	}},
	{"reduce", trace.CollReduce, []named{
		{"default", always(reduceFlat)}, {"ompi", by(trace.CollReduce, sent)},
		{"mpich", byNodes(reduceNodes, reduceSized)}, {"binomial", always(reduceBinomial)},
		{"scatter_gather", always(reduceScatterGather)}, {"ompi_basic_linear", always(reduceLinear)},
		{"ompi_chain", always(reduceChains)}, {"ompi_pipeline", always(reducePipeline)},
		{"ompi_binary", always(reduceBinary)}, {"ompi_binomial", always(reduceBinomialSegments)},
		{"ompi_in_order_binary", always(reduceInOrder)}, {"mvapich2_knomial", always(reduceKnomial)},
		{"mvapich2_two_level", always(reduceNodes)},
	}},
	{"reduce_scatter", trace.CollReduceScatter, []named{
		{"default", always(reduceScatterDefault)}, {"ompi", by(trace.CollReduceScatter, received)},
		{"mpich", mpichReduceScatter}, {"ompi_basic_recursivehalving", always(reduceScatterHalving)},
		{"ompi_ring", always(reduceScatterRing)}, {"ompi_butterfly", always(reduceScatterButterfly)},
		{"mpich_pair", always(reduceScatterPairwise)}, {"mpich_rdb", always(reduceScatterDoubling)},
	}},
	{"scatter", trace.CollScatter, []named{
		{"default", always(scatterFlat)}, {"ompi", by(trace.CollScatter, fromRoot)},
		{"mpich", always(scatterBinomial)}, {"ompi_basic_linear", always(scatterLinear)},
		{"ompi_binomial", always(scatterBinomial)}, {"ompi_linear_nb", always(scatterLinearNonblocking)},
	}},
}

// This file holds the decisions of MPICH, as SMPI repeats them. Source: R. Thakur, R. Rabenseifner, W. Gropp,
// "Optimization of Collective Communication Operations in MPICH", IJHPCA 19(1), 2005; SimGrid 3.32, "mpich" selector.
// Broadcasts and (all)reductions go by nodes (twolevel.go); among the ranks of a node, and among the leaders of nodes,
// the size decides.

func mpichAllgather(s *Schedule, o *operands) algorithm {
	switch total := o.send.one() * int64(s.p); {
	case isPower(s.p) && total < 512<<10:
		return allgatherDoubling
	case total <= 80<<10:
		return allgatherBruck
	}
	return allgatherShift
}

// mpichAllgatherv goes by elements, not bytes.
func mpichAllgatherv(s *Schedule, o *operands) algorithm {
	switch elements := o.recv.before(s.p) / o.recv.size; {
	case elements == 0:
		return noMessages
	case isPower(s.p) && elements < 512<<10:
		return allgatherDoubling
	case elements <= 80<<10:
		return allgatherBruck
	}
	return allgatherRingChunks
}

// allreduceSized, bcastSized and reduceSized are the choices where nodes do not count.
func allreduceSized(s *Schedule, o *operands) algorithm {
	if o.send.one() > 2048 && o.send.count >= int64(powerBelow(s.p)) {
		return allreduceRabenseifner
	}
	return allreduceDoubling
}

// mpichAlltoall takes pairs for an odd number of ranks, as SMPI does, although
// these can be paired only if they are a power of two.
func mpichAlltoall(s *Schedule, o *operands) algorithm {
	switch block := o.send.one(); {
	case block < 256 && s.p >= 8:
		return alltoallBruck
	case block < 32<<10:
		return alltoallThrottled
	case s.p%2 == 1:
		return alltoallPairs
	}
	return alltoallShift
}

func bcastSized(s *Schedule, o *operands) algorithm {
	switch n := o.send.one(); {
	case n < 12<<10 || s.p <= 8:
		return bcastBinomial
	case n < 512<<10 && s.p%2 == 0:
		return bcastScatterDoubling
	}
	return bcastScatterRing
}

func reduceSized(s *Schedule, o *operands) algorithm {
	if o.send.count < int64(powerBelow(s.p)) || o.send.one() < 2048 {
		return reduceBinomial
	}
	return reduceScatterGather
}

// mpichReduceScatter goes by elements, not bytes.
func mpichReduceScatter(s *Schedule, o *operands) algorithm {
	if o.recv.before(s.p)/o.recv.size > 512<<10 {
		return reduceScatterPairwise
	}
	return reduceScatterDoubling
}
