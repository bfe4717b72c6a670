package hpl

import (
	"io"
	"testing"

	"reprise/tracegen"
)

// TestManyRows: runs of more process rows than others of these tests have, with equilibrated
// spread-roll; and the deepest trees of the most rows that there may be have blocks that a trace
// can hold.
func TestManyRows(t *testing.T) {
	p := DefaultParams(600, 600, 1)
	p.NB, p.Swap, p.Equil = 64, SpreadRoll, true
	if err := Generate(t.Context(), io.Discard, p, Options{}); err != nil {
		t.Fatal(err)
	}
	p.P = 8192
	out, err := tracegen.New(t.Context(), io.Discard, header(&p, &Options{}), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := newLibrary(&p, out)
	l.spread = &spreadBlocks{trees: map[treeKey]int{}}
	for _, right := range []bool{false, true} {
		for level := range 14 {
			l.evenTree(tree{13, level}, right)
		}
	}
	if !out.OK() {
		t.Error(out.Close())
	}
}
