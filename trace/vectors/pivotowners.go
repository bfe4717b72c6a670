package vectors

import (
	"fmt"

	"reprise/internal/portable"
)

// PivotOwners says which processes own the pivot rows of a block of columns, if pivots are drawn uniformly from the
// rows that remain: of the LU factorization of a matrix of Rows rows, in blocks of Block rows that are dealt cyclically
// to Owners process rows. Element i, 0 <= i < Count, belongs to column c = First+i. With r the row that [PivotRow]
// draws it is 0 if r = c, else 1 + the distance from the owner of row First to that of row r,
//
//	(r/Block - First/Block) mod Owners
//
// so elements are from 0 to Owners. As the owners themselves they would cost log2(Owners) bits each.
type PivotOwners struct {
	Seed                uint64
	First, Count        int64
	Rows, Block, Owners int64
}

// pivotOwners is the kind of PivotOwners.
var pivotOwners = Kind{
	name:  "pivot-owners/1",
	args:  []string{"seed", "first", "rows", "block", "owners"},
	check: checkPivotOwners,
	fill:  fillPivotOwners,
}

// Generated returns the vector.
func (p PivotOwners) Generated() *Generated {
	return &Generated{Kind: &pivotOwners, Args: []int64{int64(p.Seed), p.First, p.Rows, p.Block, p.Owners}, Count: p.Count}
}

// pivotOwnersOf undoes Generated: it names the arguments.
func pivotOwnersOf(args []int64, count int64) PivotOwners {
	return PivotOwners{Seed: uint64(args[0]), First: args[1], Count: count, Rows: args[2], Block: args[3], Owners: args[4]}
}

// checkPivotOwners bounds the columns by the rows, without sums that could overflow.
func checkPivotOwners(args []int64, count int64) error {
	p := pivotOwnersOf(args, count)
	switch {
	case p.First < 0 || p.Rows < p.Count || p.First > p.Rows-p.Count:
		return fmt.Errorf("columns [%d,%d+%d) of %d rows", p.First, p.First, p.Count, p.Rows)
	case p.Block < 1 || p.Owners < 1:
		return fmt.Errorf("blocks of %d rows dealt to %d owners", p.Block, p.Owners)
	}
	return nil
}

// fillPivotOwners computes each element by itself, so that it costs no state.
func fillPivotOwners(dst, args []int64) {
	p := pivotOwnersOf(args, int64(len(dst)))
	key := PivotKey(p.Seed)
	base := p.First / p.Block
	for i := range dst {
		c := p.First + int64(i)
		dst[i] = 0
		if r := PivotRow(key, c, p.Rows); r != c {
			dst[i] = 1 + (r/p.Block-base)%p.Owners
		}
	}
}

// PivotKey returns what PivotRow takes for a seed.
func PivotKey(seed uint64) uint64 { return portable.Mix(seed) }

// PivotRow draws the pivot of column c, 0 <= c < rows, uniformly from the rows [c, rows):
//
//	c + mix(key + c) mod (rows - c)
//
// in 64-bit unsigned arithmetic, with mix the finalizer of SplitMix64.
func PivotRow(key uint64, c, rows int64) int64 {
	return c + int64(portable.Mix(key+uint64(c))%uint64(rows-c))
}
