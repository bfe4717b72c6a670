package hpl

import "reprise/trace"

// panel is one panel of columns and what the actions that concern it depend on.
// Source: HPL 2.3 control flow, panels.
type panel struct {
	j, jb      int64 // first column, width
	prow, pcol int64 // process row and column that own its diagonal block
	tag        int64 // of its broadcast
	blocks     *widthBlocks

	pivots  int64                                         // vector: owner of each column's pivot
	swapped int64                                         // vector: rows that take part in the swap, by distance from prow
	k0      int64                                         // such rows of the panel's own process row
	order   []int64                                       // process rows by position in a swap by spread-roll
	layout  struct{ order, lengths, equal, uneven int64 } // vectors, and whether equal differs from lengths
}

// newPanel sets up the panel at column j, a multiple of NB or N (then it is empty).
func (g *generator) newPanel(j, tag int64) *panel {
	jb := min(g.nb, g.n-j)
	return &panel{j: j, jb: jb, prow: g.rowOwner(j), pcol: g.colOwner(j), tag: tag, blocks: g.lib.width(jb)}
}

// rowsBelow returns the column of ml2: the rows of each process row below the panel's diagonal block.
func (g *generator) rowsBelow(p *panel) []int64 {
	return g.byRow(func(r int64) int64 { return g.rows(p.j+p.jb, g.n-p.j-p.jb, r) })
}

// panelBlock lists a panel of w columns that is set up; current says whether the process row is the panel's.
func (l *library) panelBlock(w int64, current bool) int64 {
	b, a := newBlock(6, "panel") // j ml2 nq prow pcol tag
	length := trace.Const(w*w + w + 1)
	if l.p.Q > 1 {
		length = b.Affine([]int64{w, 1}, a[1], length)
	}
	mp := a[1]
	if current {
		mp = mp.Plus(w)
	}
	b.Mark(markPanel, a[0], trace.Const(w), mp, a[2], a[3], a[4], a[5], length)
	return int64(l.add(b))
}
