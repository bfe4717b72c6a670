package tune

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/replay"
	"reprise/study"
	"reprise/tracegen/hpcg"
)

// This file makes the study of what is to be tuned for HPCG: its process grids and boxes.

const (
	// LeastShare is the least share of the memory of a run that counts, by HPCG's rules.
	LeastShare = 0.25

	// BytesPerPoint is the memory that HPCG's own report counts for each point, without halos ("Bytes per equation").
	BytesPerPoint = replay.HPCGPoint

	// mostSizes is how many sizes of a box there are in each direction.
	mostSizes = 8
)

// boxes are the points that a box of a rank may have, of so many ranks.
type boxes struct {
	ranks       int
	least, most float64
}

// boxes writes, as parts of a study's file, the process grids of all ranks and the sides of each rank's box, those that
// are not set, and returns how many points a box may have: it takes the memory that the rules want, and no more than
// the fill. Estimates are within 1 %: iterations of HPCG are the same work, so few of them are enough.
func (r *Request) boxes(places *places, machine, parameters, factors *strings.Builder) (*boxes, error) {
	ranks, err := r.ranks(places)
	if err != nil {
		return nil, err
	}
	if r.Memory == 0 {
		return nil, errors.New("the memory of a node is not given: it says how large boxes are")
	}
	b := &boxes{ranks: ranks, most: r.Fill * r.Memory / float64(min(places.perHost, ranks)) / BytesPerPoint}
	// HPCG's rules want the problem to exceed the caches by far: a quarter of the memory at least.
	b.least = b.most * LeastShare / r.Fill
	machine.WriteString("tolerance: 1%\n")
	if r.setting("ranks-per-host") == "" { // nodes are filled, one after the other
		fmt.Fprintf(machine, "ranks-per-host: %d\n", places.perHost)
	}
	fmt.Fprintf(parameters, "  ranks: %d\n", ranks)

	// Process grids that HPCG does not refuse.
	grids := ""
	for x := 1; x <= ranks; x++ {
		for y := 1; ranks%x == 0 && y <= ranks/x; y++ {
			p := hpcg.DefaultParams(ranks, 16)
			p.Grid = hpcg.Grid{NX: x, NY: y, NZ: ranks / x / y}
			if _, err := p.Complete(); err == nil && p.Grid.Ranks() == ranks {
				grids += fmt.Sprintf("    %v: {npx: %d, npy: %d, npz: %d}\n", p.Grid, x, y, p.Grid.NZ)
			}
		}
	}
	switch {
	case r.setting("npx")+r.setting("npy")+r.setting("npz") != "":
	case grids == "":
		return nil, b.none()
	default:
		factors.WriteString("  grid:\n" + grids)
	}

	// Sides of boxes, multiples of 8 around the side of the cube with most points: from those of boxes with the least
	// number of points to those of flat ones.
	low := max(int(math.Cbrt(b.least)/1.25)/8*8, 16)
	high := max(int(math.Cbrt(b.most)*1.5)/8*8, low)
	step := max(((high-low)/8+mostSizes-1)/mostSizes*8, 8)
	var sides []string
	for n := high; n >= low; n -= step {
		sides = append(sides, strconv.Itoa(n))
	}
	slices.Reverse(sides)
	for _, name := range []string{"nx", "ny", "nz"} {
		if r.setting(name) == "" {
			fmt.Fprintf(factors, "  %s: [%s]\n", name, strings.Join(sides, ", "))
		}
	}
	return b, nil
}

// keep removes from a study the configurations that HPCG refuses, as too flat, or that have too few or too many points.
func (b *boxes) keep(s *study.Study) error {
	var fit [][]int
	for i, row := range s.Rows {
		c, err := s.Config(i)
		if err != nil {
			continue
		}
		p := c.Run.HPCG
		if points := float64(p.NX) * float64(p.NY) * float64(p.NZ); points >= b.least && points <= b.most {
			fit = append(fit, row)
		}
	}
	if s.Rows = fit; len(fit) == 0 {
		return b.none()
	}
	return nil
}

// none is the error where no configuration comes into question.
func (b *boxes) none() error {
	return fmt.Errorf("%d ranks with memory for %.0f to %.0f points each: HPCG has no process grid and box for them (sides are "+
		"multiples of 8, 16 at least, and none below an eighth of another)", b.ranks, b.least, b.most)
}

// boxDat returns the hpcg.dat of a run of the length that counts, 1800 s.
func boxDat(p *hpcg.Params) string {
	return fmt.Sprintf("HPCG benchmark input file\nwritten by Reprise\n%d %d %d\n1800\n%d %d %d\n", p.NX, p.NY, p.NZ,
		p.Grid.NX, p.Grid.NY, p.Grid.NZ)
}
