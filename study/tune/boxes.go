package tune

import (
	"errors"
	"fmt"
	"math"

	"reprise/study/search"
	"reprise/tracegen/hpcg"
)

// Boxes says for which machine process grid and boxes of HPCG are to be chosen.
type Boxes struct {
	Machine      string // as Setting machine has it; "": the generic one
	Kernels      string // "": those of the machine
	Ranks, Nodes int    // as in Request
	Memory       float64
	Fill         float64 // the share of the memory that HPCG takes at most
}

// leastShare is the share of the memory that a run which counts takes at least, by HPCG's rules.
const leastShare = 0.25

// bytesPerPoint is what HPCG's own report counts as memory for each point, without halos: 629 bytes on
// the finest level (a row of 27 nonzeros of 4 + 8 + 8 bytes, 4 pointers, its number of nonzeros, and 7
// vectors), and 601 on each of three others, with an eighth of the points of the one before (the
// same row, 3 vectors and an index): 714.7, in the report "Bytes per equation". Source: HPCG 3.1,
// ReportResults.cpp.
const bytesPerPoint = 629 + 601*(1./8+1./64+1./512)

// mostSizes is how many sizes of a box there are in each direction.
const mostSizes = 8

// candidates returns all grids and boxes that come into question, as a space with the parameters of each
// point, and how many ranks a node has.
func (b *Boxes) candidates() (*search.Space, []hpcg.Params, *places, error) {
	r := b.request()
	where, err := r.places()
	if err != nil {
		return nil, nil, nil, err
	}
	ranks, err := r.ranks(where)
	if err != nil {
		return nil, nil, nil, err
	}
	if b.Memory == 0 {
		return nil, nil, nil, errors.New("the memory of a node is not given: it says how large boxes are")
	}
	most := b.Fill * b.Memory / float64(min(where.perHost, ranks)) / bytesPerPoint
	least := most * leastShare / b.Fill
	sides := sizes(least, most)
	grids := boxGrids(ranks)
	space := &search.Space{Factors: []search.Factor{{Levels: len(grids)}, {Levels: len(sides), Ordered: true},
		{Levels: len(sides), Ordered: true}, {Levels: len(sides), Ordered: true}}}
	var list []hpcg.Params
	for g, grid := range grids {
		for x, nx := range sides {
			for y, ny := range sides {
				for z, nz := range sides {
					points := float64(nx) * float64(ny) * float64(nz)
					p := hpcg.DefaultParams(ranks, nx)
					p.NY, p.NZ, p.Grid = ny, nz, grid
					if _, err := p.Complete(); err != nil || points < least || points > most {
						continue
					}
					space.Points = append(space.Points, []int{g, x, y, z})
					list = append(list, p)
				}
			}
		}
	}
	if len(list) == 0 {
		return nil, nil, nil, fmt.Errorf("%d ranks with memory for %.0f to %.0f points each: HPCG has no process grid and box for them (sides are multiples of 8, 16 at least, and none below an eighth of another)", ranks, least, most)
	}
	return space, list, where, nil
}

func (b *Boxes) request() *Request {
	r := &Request{Ranks: b.Ranks, Nodes: b.Nodes}
	if b.Machine != "" {
		r.set("machine", b.Machine)
	}
	return r
}

// sizes returns sides of boxes around the cube that has most points: multiples of 8, so many that
// boxes of the least number of points are among them, and flat ones.
func sizes(least, most float64) []int {
	low := max(int(math.Cbrt(least)/1.25)/8*8, 16)
	high := max(int(math.Cbrt(most)*1.5)/8*8, low)
	step := ((high-low)/8 + mostSizes - 1) / mostSizes * 8
	var list []int
	for n := high; n >= low; n -= max(step, 8) {
		list = append([]int{n}, list...)
	}
	return list
}

// boxGrids returns the process grids of so many ranks that HPCG does not refuse.
func boxGrids(ranks int) []hpcg.Grid {
	var list []hpcg.Grid
	for x := 1; x <= ranks; x++ {
		for y := 1; ranks%x == 0 && y <= ranks/x; y++ {
			g := hpcg.Grid{NX: x, NY: y, NZ: ranks / x / y}
			p := hpcg.DefaultParams(ranks, 16)
			p.Grid = g
			if _, err := p.Complete(); err == nil && g.Ranks() == ranks {
				list = append(list, g)
			}
		}
	}
	return list
}
