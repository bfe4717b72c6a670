package tune

import (
	"errors"
	"fmt"
	"math"

	"reprise/internal/wording"
	"reprise/study"
	"reprise/tracegen/hpl"
)

// orderStep is what orders are multiples of: the largest block size.
const orderStep = 256

// order returns the order of the matrix that fills the memory.
func (r *Request) order(nodes int) (int, error) {
	if r.Memory == 0 {
		return 0, errors.New("neither the order of the matrix nor the memory of a node is given: which problem is to be solved?")
	}
	n := int(math.Sqrt(r.Fill*r.Memory*float64(nodes)/8)) / orderStep * orderStep
	if n < orderStep {
		return 0, fmt.Errorf("%s of memory on each of %s are too small: %.0f %% of it hold no matrix of order %d", study.Bytes(int64(r.Memory)), wording.Count(nodes, "node"), 100*r.Fill, orderStep)
	}
	return n, nil
}

// leaveOut leaves those configurations out that would not fit into the memory, and returns how many;
// it is an error if that are all.
func (r *Request) leaveOut(s *study.Study) (int, error) {
	if r.Memory == 0 {
		return 0, nil
	}
	places, err := r.places()
	if err != nil {
		return 0, err
	}
	var fit [][]int
	least, at := math.Inf(1), hpl.Params{}
	for i, row := range s.Rows {
		c, err := s.Config(i)
		if err != nil {
			return 0, err
		}
		bytes := float64(min(places.perHost, c.HPL.P*c.HPL.Q)) * bytesOfRank(&c.HPL)
		if bytes <= r.Memory {
			fit = append(fit, row)
		}
		if bytes < least {
			least, at = bytes, c.HPL
		}
	}
	if len(fit) == 0 {
		fits := int(float64(at.N)*math.Sqrt(r.Memory/least)) / orderStep * orderStep
		return 0, fmt.Errorf("HPL would not fit: N = %d takes at least %s of a node (NB %d on %d x %d), which has %s: take N = %d, or less fill",
			at.N, study.Bytes(int64(least)), at.NB, at.P, at.Q, study.Bytes(int64(r.Memory)), fits)
	}
	out := len(s.Rows) - len(fit)
	s.Rows = fit
	return out, nil
}

// bytesOfRank returns what HPL allocates on the rank that has most: its part of the matrix with the
// right-hand side, a panel for each depth of the look-ahead and the one at hand, and U with as much
// again to send it from.
func bytesOfRank(p *hpl.Params) float64 {
	nb := float64(p.NB)
	rows, cols := part(p.N, p.NB, p.P), part(p.N, p.NB, p.Q)
	panels := float64(p.Depth+1) * nb * (rows + 2*nb)
	return 8 * (rows*(cols+1) + panels + 2*nb*cols)
}

// part returns how many of n rows, in blocks dealt out to so many processes, the first has.
func part(n, nb, processes int) float64 {
	blocks := (n + nb - 1) / nb
	return float64(min(n, (blocks+processes-1)/processes*nb))
}
