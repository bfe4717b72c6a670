package collective

// This file holds the decisions of MPICH, as SMPI repeats them. Source: R. Thakur, R.
// Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in
// MPICH", IJHPCA 19(1), 2005; SimGrid 3.32, "mpich" selector. Broadcasts and (all)reductions
// go by nodes (twolevel.go); among the ranks of a node, and among the leaders of nodes, the size
// decides.

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
