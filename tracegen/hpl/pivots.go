package hpl

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/internal/sniff"
	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/trace/vectors"
)

// PivotKind says where pivots come from.
type PivotKind int

// Sources of pivots.
const (
	RandomPivots PivotKind = iota // uniform over the rows that remain, by seed; rule of vectors.PivotOwners
	LUPivots                      // by factoring HPL's own pseudo-random matrix
	GivenPivots                   // Pivots.Rows
	NoPivots                      // the current row is the pivot, always
)

// Pivots is a source of pivots. Which row is the pivot of a column decides how
// many rows each message of a row swap carries.
type Pivots struct {
	Kind PivotKind
	Seed uint64  // of random pivots
	Rows []int32 // of given pivots: the global row exchanged with row c in column c, from 0
	Name string  // of given pivots: where they come from
}

// String returns the source as flags name it.
func (v *Pivots) String() string {
	switch v.Kind {
	case RandomPivots:
		return "random"
	case LUPivots:
		return "lu"
	case NoPivots:
		return "none"
	}
	return "file:" + v.Name
}

// Set takes a source that needs no file by its name, random, lu or none. The seed stays.
func (v *Pivots) Set(source string) error {
	for _, kind := range []PivotKind{RandomPivots, LUPivots, NoPivots} {
		if of := (Pivots{Kind: kind, Seed: v.Seed}); of.String() == source {
			*v = of
			return nil
		}
	}
	return fmt.Errorf("%q, want random, lu, none", source)
}

// validate checks the source against the order of the matrix.
func (v *Pivots) validate(p *Params) error {
	switch v.Kind {
	case RandomPivots, NoPivots:
		return nil
	case LUPivots:
		if p.N > MaxLU {
			return fmt.Errorf("pivots lu: N = %d, at most %d: the matrix is factored here", p.N, MaxLU)
		}
		return nil
	case GivenPivots:
		if len(v.Rows) != p.N {
			return fmt.Errorf("pivots: %d rows given, want N = %d", len(v.Rows), p.N)
		}
		for c, r := range v.Rows {
			if int(r) < c || int(r) >= p.N {
				return fmt.Errorf("pivots: column %d: row %d, allowed %d to %d", c, r, c, p.N-1)
			}
		}
		return nil
	}
	return fmt.Errorf("pivots: unknown source %d", v.Kind)
}

// ReadPivots reads the pivots of a matrix of order n: line c, from 0, holds the
// global row, from 0, that is exchanged with row c in column c. Name is for
// error messages, which give the line from 1.
func ReadPivots(r io.Reader, name string, n int) ([]int32, error) {
	head := sniff.Remember(r)
	var rows []int32
	fail := func(line int, format string, args ...any) ([]int32, error) {
		return nil, head.Instead(fmt.Errorf("%s:%d: %w", name, line, fmt.Errorf(format, args...)), name, sniff.Pivots)
	}
	scan := textutil.NewLineScanner(head)
	for scan.Scan() {
		c := len(rows)
		if c == n {
			return fail(c+1, "more than N = %d pivots", n)
		}
		row, err := strconv.ParseInt(strings.TrimSpace(scan.Text()), 10, 32)
		if err != nil {
			return fail(c+1, "pivot %q is not a row", clip(scan.Text()))
		}
		if int(row) < c || int(row) >= n {
			return fail(c+1, "pivot row %d of column %d, allowed %d to %d", row, c, c, n-1)
		}
		rows = append(rows, int32(row))
	}
	if err := textutil.LineError(scan); err != nil {
		return fail(len(rows)+1, "%w", err)
	}
	if len(rows) != n {
		return fail(len(rows), "%d pivots, want N = %d", len(rows), n)
	}
	return rows, nil
}

// clip shortens text that goes into an error message.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

// pivotRows yields the pivot of each column.
type pivotRows struct {
	n    int64
	kind PivotKind
	seed uint64
	key  uint64  // of seed
	rows []int32 // unless random or none
}

// newPivotRows makes the pivots of a run ready: of LUPivots by factoring the matrix, until ctx is
// done.
func newPivotRows(ctx context.Context, p *Params) (*pivotRows, error) {
	v := &pivotRows{n: int64(p.N), kind: p.Pivots.Kind, seed: p.Pivots.Seed, key: vectors.PivotKey(p.Pivots.Seed),
		rows: p.Pivots.Rows}
	if v.kind == LUPivots {
		rows, err := factorPivots(ctx, p.N, p.NB, p.P)
		if err != nil {
			return nil, err
		}
		v.rows = rows
	}
	return v, nil
}

// row returns the pivot row of column c.
func (v *pivotRows) row(c int64) int64 {
	switch v.kind {
	case RandomPivots:
		return vectors.PivotRow(v.key, c, v.n)
	case NoPivots:
		return c
	}
	return int64(v.rows[c])
}

// owners returns, for the jb columns from j, 0 where the pivot is the current
// row itself and else 1 + the distance of the pivot's process row from the
// panel's: all that the local row swaps of the factorization depend on.
func (v *pivotRows) owners(g *grid, j, jb int64) trace.Vector {
	if v.kind == RandomPivots {
		owners := vectors.PivotOwners{Seed: v.seed, First: j, Count: jb, Rows: v.n, Block: g.nb, Owners: g.p}
		return trace.Vector{Generated: owners.Generated()}
	}
	// Pivots without a rule are listed.
	values := make([]int64, jb)
	for i := range values {
		c := j + int64(i)
		if r := v.row(c); r != c {
			values[i] = 1 + mod(r/g.nb-j/g.nb, g.p)
		}
	}
	return trace.Vector{Values: values}
}

// rowCounter counts distinct rows by owner.
type rowCounter struct {
	slots []int32 // open addressing: row + 1, or 0
}

// count returns K by distance from the panel's process row: how many rows of the
// panel's diagonal block and its pivots, each row once, a process row owns. dst
// has g.p elements. Source: HPL 2.3 control flow, row swaps.
func (s *rowCounter) count(dst []int64, v *pivotRows, g *grid, j, jb int64) {
	clear(dst)
	dst[0] = jb
	if v.kind == NoPivots {
		return
	}
	// Rows are told apart by a hash table of at least twice as many slots as there are pivots.
	size := 4 << log2(int(jb))
	if cap(s.slots) < size {
		s.slots = make([]int32, size)
	}
	s.slots = s.slots[:size]
	clear(s.slots)
	first, mask := j/g.nb, uint32(size-1)
	for c := j; c < j+jb; c++ {
		r := v.row(c)
		if r < j+jb {
			continue
		}
		i := uint32(r) * 0x9E3779B1 >> 7 & mask
		for s.slots[i] != 0 && s.slots[i] != int32(r)+1 {
			i = (i + 1) & mask
		}
		if s.slots[i] == 0 { // not counted before
			s.slots[i] = int32(r) + 1
			dst[(r/g.nb-first)%g.p]++
		}
	}
}
