package hpl

import (
	"fmt"
	"math/bits"
)

// maxMemory bounds what the definitions of a run may take, in bytes.
const maxMemory = 2 << 30

// What blocks take in memory while they are made and written, in bytes: about
// twice their size, as they are garbage collected. Fitted from above to the
// peak memory of runs of 1,000 to 30,000 process rows or columns.
const (
	callMemory      = 550     // a call of a block of ten operands
	rowMemory       = 8 << 10 // what a process row has once: its part in the solve
	widthMemory     = 8 << 10 // what it has for each width of panels, besides the levels of a swap
	binaryMemory    = 4 << 10 // a level of a binary exchange
	spreadMemory    = 3 << 10 // a level of a spread
	ringMemory      = 5 << 10 // a broadcast by ring, for each width
	longMemory      = 2 << 10 // a level of a long broadcast
	recursionMemory = 1500    // a part of a recursion
)

// memory estimates the bytes that the definitions of a run take. They grow with
// P log(P) and Q log(Q), with equilibrated spread-roll by P sqrt(P).
func (p *Params) memory() int64 {
	rows, cols, widths := int64(p.P), int64(p.Q), p.widths()
	levels := int64(bits.Len(uint(p.P)))
	perRow := rowMemory + widths*widthMemory
	if p.Swap != SpreadRoll {
		perRow += widths * levels * binaryMemory
	}
	if p.Swap != BinaryExchange {
		perRow += levels * spreadMemory
	}
	sum := rows*perRow + cols*p.bcastMemory() + p.factorMemory()
	if p.Swap != BinaryExchange && p.Equil {
		size := int64(p.sourcesInRange())
		sum += callMemory * (rows*(rows/size) + rows*size)
	}
	return sum
}

// widths returns how many widths panels have, empty ones not counted.
func (p *Params) widths() int64 {
	if p.N > p.NB && p.N%p.NB != 0 {
		return 2
	}
	return 1
}

// bcastMemory estimates what a process column takes.
func (p *Params) bcastMemory() int64 {
	if p.Bcast.IsLong() {
		return p.widths()*ringMemory/2 + longMemory*int64(bits.Len(uint(p.Q)))
	}
	return p.widths() * ringMemory
}

// factorMemory estimates what the recursion and its leaves take: they are made
// for each width and list of hops (see pivotHops), and for up to two sizes on
// each level.
func (p *Params) factorMemory() int64 {
	levels := int64(bits.Len(uint(p.P)))
	width := int64(min(p.N, p.NB))
	leaf := min(int64(p.NBMin), width)
	parts := min(int64(p.NDiv), width/leaf+1)
	return p.widths() * 4 * levels * 2 * (leaf*callMemory + parts*recursionMemory)
}

// checkMemory says what to change if the definitions take too much memory.
func (p *Params) checkMemory() error {
	need := p.memory()
	if need <= maxMemory {
		return nil
	}
	return fmt.Errorf("definitions of about %.2f GiB, allowed %d, for P = %d, Q = %d, SWAP %v, EQUIL %s, BCAST %v, NBMIN %d, NDIV %d: "+
		"take fewer process rows or columns, SWAP bin or EQUIL no, an NB that divides N, or a smaller NBMIN or NDIV",
		float64(need)/(1<<30), maxMemory>>30, p.P, p.Q, p.Swap, yesNo(p.Equil), p.Bcast, p.NBMin, p.NDiv)
}
