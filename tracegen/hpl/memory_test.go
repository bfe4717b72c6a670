package hpl

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"reprise/tracegen"
)

func TestMemoryIsBounded(t *testing.T) {
	for _, c := range []struct {
		n, p, q int
		allowed bool
	}{{3875000, 77, 78, true}, {1 << 20, 256, 256, true}, {1 << 20, 4096, 1, true}, {100, 1, 100000, true}, {100, 100000, 1, false}, {100, 1 << 24, 1, false}, {100, 1, 1 << 24, false}} {
		p := DefaultParams(c.n, c.p, c.q)
		err := p.Validate()
		if allowed := err == nil; allowed != c.allowed {
			t.Errorf("%d x %d: error %v", c.p, c.q, err)
		}
		if err != nil && !strings.Contains(err.Error(), ": take fewer process rows") {
			t.Errorf("%d x %d: error %v says not what to change", c.p, c.q, err)
		}
	}
}

// countdown is a context that is done when it has been asked some times.
type countdown struct {
	context.Context
	left, after int
}

func (c *countdown) Err() error {
	if c.left--; c.left >= 0 {
		return nil
	}
	c.after++
	return context.Canceled
}

// A run of 1,000 process rows makes thousands of blocks in its first step.
func TestStopsBetweenBlocks(t *testing.T) {
	for _, swap := range []Swap{BinaryExchange, SpreadRoll} {
		for _, left := range []int{0, 10, 500, 1500, 2500, 3500} {
			p := DefaultParams(1000, 1000, 1)
			p.Swap = swap
			ctx := &countdown{Context: context.Background(), left: left}
			if err := Generate(ctx, io.Discard, p, Options{}); !errors.Is(err, context.Canceled) {
				t.Errorf("%v, canceled after %d: error %v", swap, left, err)
			}
			if ctx.after > 3 {
				t.Errorf("%v, canceled after %d: asked %d times more", swap, left, ctx.after)
			}
		}
	}
}

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
