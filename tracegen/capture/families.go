package capture

import "reprise/trace"

// families are the communicators of the run as families of the trace: partitions of the ranks.
type families struct {
	list  []trace.CommFamily
	index []int32 // by communicator of the run
}

// newFamilies puts communicators that have no rank in common into one family.
func newFamilies(comms []communicator, ranks int) *families {
	f := &families{index: make([]int32, len(comms))}
	f.list = []trace.CommFamily{{Name: "world", Groups: []trace.Group{{Stride: 1, Count: int32(ranks)}}}}
	return f
}

func (f *families) of(comm int) int32 { return f.index[comm] }
