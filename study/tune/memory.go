package tune

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"reprise/internal/textutil"
	"reprise/study"
	"reprise/tracegen/hpl"
)

// orderStep is what orders are multiples of: the largest block size.
const orderStep = 256

// order returns the order of the matrix that fills the memory, of the node with most ranks if some
// have fewer.
func (r *Request) order(ranks int, p *places) (int, error) {
	if r.Memory == 0 {
		return 0, errors.New("neither the order of the matrix nor the memory of a node is given: which problem is to be solved?")
	}
	each := r.Fill * r.Memory / float64(min(p.perHost, ranks))
	n := int(math.Sqrt(each*float64(ranks)/8)) / orderStep * orderStep
	if n < orderStep {
		return 0, fmt.Errorf("%s of memory on each of %s are too small: %.0f %% of it hold no matrix of order %d",
			study.Bytes(int64(r.Memory)), textutil.Count((ranks+p.perHost-1)/p.perHost, "node"), 100*r.Fill, orderStep)
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
	var list []hpl.Params
	for i, row := range s.Rows {
		c, err := s.Config(i)
		if err != nil {
			return 0, err
		}
		p := hplOf(c).Params
		if places.bytesOfNode(&p) <= r.Memory {
			fit = append(fit, row)
		}
		list = append(list, p)
	}
	if len(fit) == 0 {
		return 0, r.tooLarge(list, places)
	}
	out := len(s.Rows) - len(fit)
	s.Rows = fit
	return out, nil
}

// tooLarge is the error of configurations of which none fits.
func (r *Request) tooLarge(list []hpl.Params, p *places) error {
	least := slices.MinFunc(list, func(a, b hpl.Params) int { return cmp.Compare(p.bytesOfNode(&a), p.bytesOfNode(&b)) })
	todo := fmt.Sprintf("no order from %d fits: take more ranks, or nodes with more memory", orderStep)
	if n := r.largest(list, p); n > 0 {
		todo = fmt.Sprintf("take N = %d", n)
		if r.N == 0 && r.Dat == "" {
			todo += ", or less fill"
		}
	}
	return fmt.Errorf("HPL would not fit: N = %d takes at least %s of a node (NB %d on %d x %d), which has %s: %s",
		least.N, study.Bytes(int64(p.bytesOfNode(&least))), least.NB, least.P, least.Q, study.Bytes(int64(r.Memory)), todo)
}

// largest returns the largest order below theirs with which one of the configurations fits, a multiple
// of orderStep, 0 if none does. They are those of the smallest blocks, which come into question for
// smaller orders as well.
func (r *Request) largest(list []hpl.Params, p *places) int {
	smallest := slices.MinFunc(list, func(a, b hpl.Params) int { return cmp.Compare(a.NB, b.NB) }).NB
	for n := (list[0].N - 1) / orderStep * orderStep; n > 0; n -= orderStep {
		for _, c := range list {
			if c.N = n; c.NB == smallest && p.bytesOfNode(&c) <= r.Memory {
				return n
			}
		}
	}
	return 0
}

// bytesOfNode returns what HPL allocates on the node with most ranks.
func (p *places) bytesOfNode(c *hpl.Params) float64 {
	return float64(min(p.perHost, c.P*c.Q)) * bytesOfRank(c)
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
