package simgrid

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"reprise/trace"
)

// collectiveForm says what the line of a collective has, in this order: the size of
// the send buffer, what is sent, the size of the receive buffer, what is
// received, flop, root, the types of both sides, displacements. Both sizes and all
// counts are in elements.
type collectiveForm struct{ buffers, send, recv, flops, span bool }

var collectiveForms = map[trace.CollectiveKind]collectiveForm{
	trace.CollBarrier:       {},
	trace.CollBcast:         {send: true},
	trace.CollReduce:        {send: true, flops: true},
	trace.CollAllreduce:     {send: true, flops: true},
	trace.CollAlltoall:      {send: true, recv: true},
	trace.CollAlltoallv:     {send: true, recv: true, buffers: true},
	trace.CollGather:        {send: true, recv: true},
	trace.CollGatherv:       {send: true, recv: true},
	trace.CollAllgather:     {send: true, recv: true},
	trace.CollAllgatherv:    {send: true, recv: true, span: true},
	trace.CollScatter:       {send: true, recv: true},
	trace.CollScatterv:      {send: true, recv: true},
	trace.CollReduceScatter: {recv: true, flops: true},
	trace.CollScan:          {send: true, flops: true},
	trace.CollExscan:        {send: true, flops: true},
}

// counted is one side of a collective: what goes to, or comes from, each rank, in
// items of a datatype.
type counted struct {
	items    []int64
	datatype int64
}

// collective writes a collective, with all that a reader would else assume.
func (r *rankWriter) collective(c *trace.Collective) error {
	form, ok := collectiveForms[c.Kind]
	if !ok {
		return errors.New("it has no counterpart in SimGrid's text")
	}
	var sent, received counted
	var err error
	if form.send {
		sent, err = countedBy(c.Send, c.SendSums, c.SendSize)
	}
	if form.recv && err == nil {
		received, err = countedBy(c.Recv, c.RecvSums, c.RecvSize)
	}
	if err != nil {
		return err
	}
	r.verb(c.Kind.String())
	r.counts(form.buffers, sent)
	r.counts(form.buffers, received)
	if form.flops {
		r.number(c.Flops)
	}
	if c.Kind.Rooted() {
		r.ints(int64(c.Root))
	}
	if form.send {
		r.ints(sent.datatype)
	}
	if form.recv {
		r.ints(received.datatype)
	}
	if form.span {
		err = r.displacements(c.Span, c.RecvSize, received)
	}
	r.text = append(r.text, '\n')
	return err
}

// counts writes the counts of one side, behind their sum if the line has that.
func (r *rankWriter) counts(sum bool, s counted) {
	if sum {
		r.ints(total(s.items))
	}
	r.ints(s.items...)
}

// countedBy turns counts of elements, one or those between running sums, into
// items of a datatype: of the elements' own size, or else of the largest that
// divides them all into numbers of 31 bits.
func countedBy(count int64, sums []int64, size int64) (counted, error) {
	counts := []int64{count}
	if sums != nil {
		counts = counts[:0]
		for i := range len(sums) - 1 {
			counts = append(counts, sums[i+1]-sums[i])
		}
	}
	for i := -1; i < len(itemTypes); i++ {
		n := ownType(size)
		if i >= 0 {
			n = itemTypes[i]
		}
		if n < 0 {
			continue
		}
		if items, ok := inItems(counts, size, typeSizes[n]); ok {
			return counted{items, n}, nil
		}
	}
	return counted{}, fmt.Errorf("elements of %d bytes: SimGrid counts to %d, in items of 1 to 32 bytes", size,
		math.MaxInt32)
}

// itemTypes are datatypes of 32, 16, 8, 4, 2 and 1 bytes.
var itemTypes = [...]int64{27, 14, 0, 1, 3, 6}

// ownType returns the datatype of a size, -1 if there is none.
func ownType(size int64) int64 {
	for _, n := range itemTypes {
		if typeSizes[n] == size {
			return n
		}
	}
	return -1
}

// inItems turns counts of elements into counts of items; it is false if one is
// not whole, or too large.
func inItems(counts []int64, size, item int64) ([]int64, bool) {
	items := make([]int64, len(counts))
	for i, n := range counts {
		if n < 0 || n > math.MaxInt64/size || n*size%item != 0 || n*size/item > math.MaxInt32 {
			return nil, false
		}
		items[i] = n * size / item
	}
	return items, true
}

func total(items []int64) int64 {
	sum := int64(0)
	for _, n := range items {
		sum += n
	}
	return sum
}

// displacements writes where in its buffer a rank receives. Without them SimGrid
// puts all parts at the beginning; so nothing is written if that is meant, and else
// one part after the other as far as the buffer goes, the last part at its end.
func (r *rankWriter) displacements(span, size int64, s counted) error {
	item := typeSizes[s.datatype]
	if span > math.MaxInt32*item/size || span*size%item != 0 {
		return fmt.Errorf("a buffer of %d elements of %d bytes: SimGrid counts to %d", span, size, math.MaxInt32)
	}
	span = span * size / item
	most := slices.Max(s.items)
	if span < most {
		return fmt.Errorf("%d elements into a buffer of %d", most, span)
	}
	if span == most {
		return nil
	}
	at := int64(0)
	for i, n := range s.items {
		if at = min(at, span-n); i == len(s.items)-1 {
			at = span - n
		}
		r.ints(at)
		at += n
	}
	return nil
}
