package testprogram

import (
	"bytes"
	"fmt"
	"slices"

	"reprise/trace"
)

// Trace returns the case as a trace: a step for each of its lines, a block for what a rank
// does in it.
func (c *Case) Trace() ([]byte, error) {
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, c.header(), trace.WriterOptions{})
	if err != nil {
		return nil, err
	}
	p := &program{Case: c, w: w, persistent: map[persistentKey]persistent{}, windows: map[windowKey]group{}}
	for i := range c.lines {
		if err := p.line(i); err != nil {
			return nil, fmt.Errorf("case %s: %s: %w", c.Name, c.lines[i].text, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

// header returns one with the world as family 0, and then a family for each line comm, with a
// group of its own for each rank that is in none of it.
func (c *Case) header() *trace.Header {
	vector := func(name string) trace.ParamColumn { return trace.ParamColumn{Name: name, Axis: 0, Vector: true} }
	h := &trace.Header{
		Program: "testprogram", Ranks: c.Ranks, Steps: len(c.lines), Communicators: true,
		CommFamilies: []trace.CommFamily{{Name: "world", Groups: []trace.Group{{Stride: 1, Count: int32(c.Ranks)}}}},
		Axes:         []trace.Axis{{Name: "rank", Kind: trace.AxisRank}},
		CallSites: []trace.CallSite{{Name: "line", Counts: trace.NoAxis,
			Params: []trace.ParamColumn{vector("sent"), vector("received")}}},
	}
	for _, m := range c.comms {
		f := trace.CommFamily{Name: m.name}
		for _, g := range m.groups {
			f.Groups = append(f.Groups, trace.Group{Ranks: g})
		}
		var rest []int32
		for r := range int32(c.Ranks) {
			if !slices.ContainsFunc(m.groups, func(g []int32) bool { return slices.Contains(g, r) }) {
				rest = append(rest, r)
			}
		}
		if rest != nil {
			f.Groups = append(f.Groups, trace.Group{Ranks: rest})
		}
		h.CommFamilies = append(h.CommFamilies, f)
	}
	return h
}

// program writes the lines of a case.
type program struct {
	*Case
	w          *trace.Writer
	persistent map[persistentKey]persistent
	windows    map[windowKey]group
}

func (p *program) line(i int) error {
	l := &p.lines[i]
	if err := p.w.Step(i); err != nil {
		return err
	}
	call := trace.Call{Args: [][]int64{nil, nil}}
	none := p.w.Vector(trace.Vector{Values: []int64{0}})
	for r := range p.Ranks {
		block, vectors := int64(trace.NoBlock), [2]int64{none, none}
		if l.ranks[r] {
			o := &operation{program: p, line: l, rank: int32(r), words: l.words[1:], b: trace.NewBuilder("", 2)}
			o.do(l.words[0])
			n, err := p.w.Program().Add(o.b)
			if err != nil {
				return err
			}
			block = int64(n)
			for side, v := range o.vectors {
				if v != nil {
					vectors[side] = p.w.Vector(trace.Vector{Values: v})
				}
			}
		}
		call.Blocks = append(call.Blocks, block)
		for side := range vectors {
			call.Args[side] = append(call.Args[side], vectors[side])
		}
	}
	return p.w.Call(&call)
}
