package collective

// This file holds the decisions of Open MPI's component "tuned", as SMPI repeats them:
// which algorithm is quickest was measured by number of ranks and size of the data.
// Source: Open MPI 4.1, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, for operations
// that commute; SimGrid 3.32, "ompi" selector. Where SMPI lacks an algorithm of Open
// MPI's it takes another one: linear_sync and two_proc of alltoall are linear,
// double_ring of barrier and basic_linear of bcast are not what they are called.

// table holds decisions: the first row with more ranks than there are, in it the first
// entry with more bytes than there are.
type table []ranksRow

type ranksRow struct {
	below int // ranks
	sizes sizes
}

type sizes []sizeRule

type sizeRule struct {
	below int64 // bytes
	run   algorithm
}

// Limits that nothing reaches.
const (
	more       = 1 << 30
	rest int64 = 1 << 62
)

// look returns the algorithm for p ranks and so many bytes.
func (t table) look(p int, bytes int64) algorithm {
	for i := range t {
		if p >= t[i].below {
			continue
		}
		for _, r := range t[i].sizes {
			if bytes < r.below {
				return r.run
			}
		}
	}
	return nil
}

var ompiAllreduce = table{
	{4, sizes{{8, allreduceRing}, {4096, allreduceDoubling}, {8192, allreduceRing}, {16384, allreduceDoubling},
		{65536, allreduceRing}, {262144, allreduceRingSegments}, {rest, allreduceRabenseifner}}},
	{8, sizes{{16, allreduceRing}, {8192, allreduceDoubling}, {rest, allreduceRabenseifner}}},
	{16, sizes{{8192, allreduceDoubling}, {rest, allreduceRabenseifner}}},
	{32, sizes{{64, allreduceRingSegments}, {4096, allreduceDoubling}, {rest, allreduceRabenseifner}}},
	{64, sizes{{128, allreduceRingSegments}, {rest, allreduceRabenseifner}}},
	{128, sizes{{262144, allreduceDoubling}, {rest, allreduceRabenseifner}}},
	{256, sizes{{131072, allreduceReduceBcast}, {262144, allreduceDoubling}, {rest, allreduceRabenseifner}}},
	{512, sizes{{4096, allreduceReduceBcast}, {rest, allreduceRabenseifner}}},
	{2048, sizes{{2048, allreduceReduceBcast}, {16384, allreduceDoubling}, {rest, allreduceRabenseifner}}},
	{4096, sizes{{2048, allreduceReduceBcast}, {4096, allreduceRingSegments}, {16384, allreduceDoubling},
		{rest, allreduceRabenseifner}}},
	{more, sizes{{2048, allreduceReduceBcast}, {16384, allreduceRingSegments}, {32768, allreduceDoubling},
		{rest, allreduceRabenseifner}}},
}

var ompiAlltoall = table{
	{3, sizes{{2, alltoallPairs}, {4, alltoallLinear}, {16, alltoallPairs}, {64, alltoallLinear},
		{256, alltoallPairs}, {4096, alltoallLinear}, {32768, alltoallPairs}, {1048576, alltoallLinear},
		{rest, alltoallPairs}}},
	{8, sizes{{524288, alltoallLinear}, {1048576, alltoallPairs}, {rest, alltoallLinear}}},
	{16, sizes{{rest, alltoallLinear}}},
	{32, sizes{{4, alltoallLinear}, {512, alltoallBruck}, {rest, alltoallLinear}}},
	{64, sizes{{512, alltoallBruck}, {rest, alltoallLinear}}},
	{256, sizes{{1024, alltoallBruck}, {262144, alltoallLinear}, {rest, alltoallPairs}}},
	{512, sizes{{1024, alltoallBruck}, {32768, alltoallLinear}, {rest, alltoallPairs}}},
	{1024, sizes{{512, alltoallBruck}, {262144, alltoallLinear}, {rest, alltoallPairs}}},
	{2048, sizes{{512, alltoallBruck}, {rest, alltoallLinear}}},
	{4096, sizes{{1024, alltoallBruck}, {rest, alltoallLinear}}},
	{more, sizes{{2048, alltoallBruck}, {rest, alltoallLinear}}},
}

var ompiAlltoallv = table{
	{4, sizes{{rest, alltoallPairs}}},
	{64, sizes{{rest, alltoallFlat}}},
	{128, sizes{{rest, alltoallPairs}}},
	{256, sizes{{rest, alltoallFlat}}},
	{1024, sizes{{rest, alltoallPairs}}},
	{more, sizes{{rest, alltoallFlat}}},
}

var ompiBarrier = table{
	{4, sizes{{rest, barrierRecursiveDoubling}}},
	{8, sizes{{rest, barrierLinear}}},
	{64, sizes{{rest, barrierRecursiveDoubling}}},
	{256, sizes{{rest, barrierDissemination}}},
	{512, sizes{{rest, barrierTree}}},
	{1024, sizes{{rest, barrierDissemination}}},
	{4096, sizes{{rest, barrierTree}}},
	{more, sizes{{rest, barrierDissemination}}},
}

var ompiBcast = table{
	{4, sizes{{32, bcastPipeline}, {256, bcastTree}, {512, bcastPipeline}, {1024, bcastKnomial},
		{32768, bcastLine}, {131072, bcastTree}, {262144, bcastPipeline}, {524288, bcastLine},
		{1048576, bcastBinomial}, {rest, bcastTree}}},
	{8, sizes{{64, bcastTree}, {128, bcastBinomial}, {2048, bcastTree}, {8192, bcastBinomial},
		{1048576, bcastLine}, {rest, bcastPipeline}}},
	{16, sizes{{8, bcastKnomial}, {64, bcastTree}, {4096, bcastKnomial}, {16384, bcastTree},
		{32768, bcastBinomial}, {rest, bcastLine}}},
	{32, sizes{{4096, bcastKnomial}, {1048576, bcastBinomial}, {rest, bcastScatterDoubling}}},
	{64, sizes{{2048, bcastBinomial}, {rest, bcastKnomial}}},
	{128, sizes{{rest, bcastKnomial}}},
	{256, sizes{{2, bcastBinomial}, {16384, bcastTree}, {32768, bcastLine}, {65536, bcastTree}, {rest, bcastKnomial}}},
	{1024, sizes{{16384, bcastKnomial}, {32768, bcastSplitBinary}, {rest, bcastKnomial}}},
	{2048, sizes{{524288, bcastKnomial}, {rest, bcastScatterDoubling}}},
	{4096, sizes{{262144, bcastKnomial}, {rest, bcastScatterDoubling}}},
	{more, sizes{{8192, bcastKnomial}, {16384, bcastTree}, {262144, bcastKnomial}, {rest, bcastScatterDoubling}}},
}

var ompiReduce = table{
	{4, sizes{{8, reduceLinear}, {16, reduceBinary}, {32, reducePipeline}, {262144, reduceLinear},
		{524288, reducePipeline}, {1048576, reduceChains}, {rest, reducePipeline}}},
	{8, sizes{{4096, reduceBinary}, {65536, reduceChains}, {262144, reduceBinomialSegments},
		{524288, reduceLinear}, {1048576, reduceBinomialSegments}, {rest, reduceLinear}}},
	{16, sizes{{8192, reduceBinary}, {rest, reduceBinomialSegments}}},
	{32, sizes{{4096, reduceBinary}, {rest, reduceBinomialSegments}}},
	{256, sizes{{rest, reduceBinomialSegments}}},
	{512, sizes{{8192, reduceBinomialSegments}, {16384, reduceInOrder}, {rest, reduceBinomialSegments}}},
	{2048, sizes{{rest, reduceBinomialSegments}}},
	{4096, sizes{{512, reduceBinomialSegments}, {1024, reduceInOrder}, {8192, reduceBinomialSegments},
		{16384, reduceInOrder}, {rest, reduceBinomialSegments}}},
	{more, sizes{{16, reduceBinomialSegments}, {32, reduceInOrder}, {1024, reduceBinomialSegments},
		{2048, reduceInOrder}, {8192, reduceBinomialSegments}, {16384, reduceInOrder},
		{rest, reduceBinomialSegments}}},
}

var ompiReduceScatter = table{
	{4, sizes{{65536, reduceScatterRing}, {131072, reduceScatterButterfly}, {rest, reduceScatterRing}}},
	{8, sizes{{8, reduceScatterDefault}, {262144, reduceScatterHalving}, {rest, reduceScatterRing}}},
	{32, sizes{{262144, reduceScatterHalving}, {rest, reduceScatterRing}}},
	{64, sizes{{64, reduceScatterDefault}, {2048, reduceScatterHalving}, {524288, reduceScatterButterfly},
		{rest, reduceScatterRing}}},
	{128, sizes{{256, reduceScatterDefault}, {512, reduceScatterHalving}, {2048, reduceScatterButterfly},
		{4096, reduceScatterHalving}, {rest, reduceScatterButterfly}}},
	{256, sizes{{256, reduceScatterDefault}, {512, reduceScatterHalving}, {rest, reduceScatterButterfly}}},
	{512, sizes{{256, reduceScatterDefault}, {1024, reduceScatterHalving}, {rest, reduceScatterButterfly}}},
	{1024, sizes{{512, reduceScatterDefault}, {2048, reduceScatterHalving}, {8192, reduceScatterButterfly},
		{16384, reduceScatterHalving}, {rest, reduceScatterButterfly}}},
	{2048, sizes{{512, reduceScatterDefault}, {4096, reduceScatterHalving}, {16384, reduceScatterButterfly},
		{32768, reduceScatterHalving}, {rest, reduceScatterButterfly}}},
	{4096, sizes{{512, reduceScatterDefault}, {4096, reduceScatterHalving}, {rest, reduceScatterButterfly}}},
	{more, sizes{{1024, reduceScatterDefault}, {8192, reduceScatterHalving}, {rest, reduceScatterButterfly}}},
}

var ompiAllgather = table{
	{3, sizes{{rest, allgatherPairs}}},
	{32, sizes{{rest, allgatherDoubling}}},
	{64, sizes{{1024, allgatherDoubling}, {65536, allgatherNeighbors}, {rest, allgatherShift}}},
	{128, sizes{{512, allgatherDoubling}, {65536, allgatherNeighbors}, {rest, allgatherShift}}},
	{256, sizes{{512, allgatherDoubling}, {131072, allgatherNeighbors}, {524288, allgatherShift},
		{1048576, allgatherNeighbors}, {rest, allgatherShift}}},
	{512, sizes{{32, allgatherDoubling}, {128, allgatherBruck}, {1024, allgatherDoubling},
		{131072, allgatherNeighbors}, {524288, allgatherShift}, {1048576, allgatherNeighbors},
		{rest, allgatherShift}}},
	{1024, sizes{{64, allgatherDoubling}, {256, allgatherBruck}, {2048, allgatherDoubling}, {rest, allgatherNeighbors}}},
	{2048, sizes{{4, allgatherDoubling}, {8, allgatherBruck}, {16, allgatherDoubling}, {32, allgatherBruck},
		{256, allgatherDoubling}, {512, allgatherBruck}, {4096, allgatherDoubling},
		{rest, allgatherNeighbors}}},
	{4096, sizes{{32, allgatherBruck}, {128, allgatherDoubling}, {512, allgatherBruck},
		{4096, allgatherDoubling}, {rest, allgatherNeighbors}}},
	{more, sizes{{2, allgatherDoubling}, {8, allgatherBruck}, {16, allgatherDoubling}, {512, allgatherBruck},
		{4096, allgatherDoubling}, {rest, allgatherNeighbors}}},
}

var ompiAllgatherv = table{
	{3, sizes{{2048, allgatherRingChunks}, {4096, allgatherPairs}, {8192, allgatherRingChunks}, {rest, allgatherPairs}}},
	{8, sizes{{256, allgatherGatherBcast}, {4096, allgatherNeighbors}, {8192, allgatherRingChunks},
		{16384, allgatherNeighbors}, {262144, allgatherBruck}, {rest, allgatherNeighbors}}},
	{16, sizes{{1024, allgatherGatherBcast}, {rest, allgatherBruck}}},
	{32, sizes{{128, allgatherGatherBcast}, {262144, allgatherBruck}, {rest, allgatherRingChunks}}},
	{64, sizes{{256, allgatherGatherBcast}, {8192, allgatherBruck}, {rest, allgatherRingChunks}}},
	{128, sizes{{256, allgatherGatherBcast}, {4096, allgatherBruck}, {rest, allgatherRingChunks}}},
	{256, sizes{{1024, allgatherBruck}, {65536, allgatherNeighbors}, {rest, allgatherRingChunks}}},
	{512, sizes{{1024, allgatherBruck}, {rest, allgatherRingChunks}}},
	{1024, sizes{{512, allgatherBruck}, {1024, allgatherGatherBcast}, {4096, allgatherBruck},
		{1048576, allgatherNeighbors}, {rest, allgatherRingChunks}}},
	{more, sizes{{4096, allgatherBruck}, {rest, allgatherNeighbors}}},
}

var ompiGather = table{
	{4, sizes{{2, gatherLinearSync}, {4, gatherLinear}, {32768, gatherBinomial}, {65536, gatherLinear},
		{131072, gatherBinomial}, {rest, gatherLinearSync}}},
	{8, sizes{{1024, gatherBinomial}, {8192, gatherLinear}, {32768, gatherBinomial}, {262144, gatherLinear},
		{rest, gatherLinearSync}}},
	{256, sizes{{rest, gatherBinomial}}},
	{512, sizes{{2048, gatherBinomial}, {8192, gatherLinear}, {rest, gatherBinomial}}},
	{more, sizes{{rest, gatherBinomial}}},
}

var ompiScatter = table{
	{4, sizes{{2, scatterLinearNonblocking}, {131072, scatterLinear}, {262144, scatterLinearNonblocking},
		{rest, scatterLinear}}},
	{8, sizes{{2048, scatterBinomial}, {4096, scatterLinear}, {8192, scatterBinomial}, {32768, scatterLinear},
		{1048576, scatterLinearNonblocking}, {rest, scatterLinear}}},
	{16, sizes{{16384, scatterBinomial}, {1048576, scatterLinearNonblocking}, {rest, scatterLinear}}},
	{32, sizes{{16384, scatterBinomial}, {32768, scatterLinear}, {rest, scatterLinearNonblocking}}},
	{64, sizes{{512, scatterBinomial}, {8192, scatterLinearNonblocking}, {16384, scatterBinomial},
		{rest, scatterLinearNonblocking}}},
	{more, sizes{{512, scatterBinomial}, {rest, scatterLinearNonblocking}}},
}
