package trace

import (
	"bytes"
	"io"
	"testing"

	"reprise/internal/portable"
	"reprise/trace/vectors"
)

// synthetic writes traces that have the shape of a block-cyclic LU
// factorization: nothing is known of HPL, but columns change along steps and
// along the process grid as a factorization's do.
type synthetic struct {
	n, nb int64
	p, q  int
	chunk int
	draws bool
}

func (s synthetic) steps() int { return int((s.n + s.nb - 1) / s.nb) }

// header describes p x q ranks, column-major, as "row" and "col" families.
func (s synthetic) header() *Header {
	h := &Header{Program: "synthetic", Tool: "test", Command: "none", Ranks: s.p * s.q, Steps: s.steps()}
	row, col := CommFamily{Name: "row"}, CommFamily{Name: "col"}
	for r := range s.p {
		row.Groups = append(row.Groups, Group{Start: int32(r), Stride: int32(s.p), Count: int32(s.q)})
	}
	for c := range s.q {
		col.Groups = append(col.Groups, Group{Start: int32(c * s.p), Stride: 1, Count: int32(s.p)})
	}
	h.CommFamilies = []CommFamily{row, col}
	h.Axes = []Axis{{Name: "all"}, {Name: "row", Kind: AxisFamily, Family: 0}, {Name: "col", Kind: AxisFamily, Family: 1}, {Name: "rank", Kind: AxisRank}}
	all, rows, cols := 0, 1, 2
	arg := func(name string, axis int) ParamColumn { return ParamColumn{Name: name, Axis: axis} }
	vec := ParamColumn{Name: "counts", Axis: all, Vector: true}
	h.CallSites = []CallSite{
		{Name: "pdfact", Masks: []int{cols}, Counts: NoAxis, Block: rows, Params: []ParamColumn{arg("m", rows), arg("root", all), arg("step", all)}},
		{Name: "binit", Counts: NoAxis, Block: cols, Params: []ParamColumn{arg("root", all), arg("tag", all), arg("c", rows), arg("g", rows)}},
		{Name: "bcast", Counts: NoAxis, Block: cols, Params: []ParamColumn{arg("root", all), arg("tag", all), arg("c", rows), arg("g", rows)}},
		{Name: "poll", Masks: []int{cols}, Counts: NoAxis, Block: all, Params: []ParamColumn{arg("tag", all)}},
		{Name: "narrow", Masks: []int{cols}, Counts: NoAxis, Block: rows, Params: []ParamColumn{arg("m", rows), arg("n", cols), arg("root", all), vec}},
		{Name: "wide", Masks: []int{cols}, Counts: NoAxis, Block: rows, Params: []ParamColumn{arg("m", rows), arg("n", cols), arg("root", all), vec}},
		{Name: "wait", Masks: []int{cols}, Counts: NoAxis, Block: all, Params: []ParamColumn{arg("tag", all)}},
		{Name: "pivots", Masks: []int{cols}, Counts: NoAxis, Block: all, Params: []ParamColumn{{Name: "ipiv", Axis: all, Vector: true}}},
	}
	return h
}

// local returns how many of the rows (or columns) from on belong to process i of p.
func (s synthetic) local(from int64, i, p int) int64 {
	whole, width := s.n/s.nb, int64(p)
	count := func(end int64) int64 { // of the blocks [0, end)
		return end/width + one(int64(i) < end%width)
	}
	rows := (count(whole) - count(from/s.nb)) * s.nb
	if int64(i) == whole%width {
		rows += s.n - whole*s.nb
	}
	return rows
}

// random is a counter-based generator.
func random(key, counter int) uint64 {
	return portable.Mix(portable.Mix(uint64(key)) + uint64(counter))
}

// counts draws how many of nb pivots fall on each of p rows.
func (s synthetic) counts(step int) []int64 {
	k := make([]int64, s.p)
	for i := range s.nb {
		k[random(step, int(i))%uint64(s.p)]++
	}
	return k
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func fill(n int, f func(i int) int64) []int64 {
	v := make([]int64, n)
	for i := range v {
		v[i] = f(i)
	}
	return v
}

// blocks adds the blocks of each kind and distance, and returns their numbers.
func (s synthetic) blocks(t testing.TB, p *Program) map[string][]int64 {
	numbers := map[string][]int64{}
	add := func(kind string, count, params int) {
		for d := range count {
			b := NewBuilder(kind, params)
			peer := b.Member(1, Const(int64(d)))
			b.Message(OpSend, 1, 0, peer, Const(int64(len(numbers))), b.Param(0))
			n := must(p.Add(b))
			numbers[kind] = append(numbers[kind], int64(n))
		}
	}
	add("pdfact", s.p, 3)
	add("binit", s.q, 4)
	add("bcast", s.q, 4)
	add("update", s.p, 4)
	add("poll", 1, 1)
	add("pivots", 1, 1)
	return numbers
}

// write writes the first steps steps, all if 0.
func (s synthetic) write(t testing.TB, out io.Writer, steps int) *Writer {
	w := must(NewWriter(out, s.header(), WriterOptions{ChunkUnits: s.chunk}))
	blocks := s.blocks(t, w.Program())
	if steps == 0 {
		steps = s.steps()
	}
	for k := range steps {
		s.step(t, w, blocks, k)
	}
	check(t, w.Close())
	return w
}

func (s synthetic) step(t testing.TB, w *Writer, blocks map[string][]int64, k int) {
	check(t, w.Step(k))
	from := int64(k) * s.nb
	jb := min(s.nb, s.n-from)
	proot, qroot := k%s.p, k%s.q
	m := fill(s.p, func(i int) int64 { return s.local(from, i, s.p) })
	n := fill(s.q, func(i int) int64 { return s.local(from+jb, i, s.q) })
	narrow := fill(s.q, func(i int) int64 { return jb * one(i == (k+1)%s.q) })
	c := fill(s.p, func(i int) int64 { return (m[i]+jb+1)*jb + 3 })
	g := fill(s.p, func(i int) int64 { return c[i] / int64(s.q) })
	mask := func(f func(i int) bool) []int64 {
		return fill(s.q, func(i int) int64 { return one(f(i)) })
	}
	byDistance := func(kind string, size, root int) []int64 {
		return fill(size, func(i int) int64 { return blocks[kind][(i-root+size)%size] })
	}
	all := func(v int64) []int64 { return []int64{v} }
	v, tag := w.Vector(Vector{Values: s.counts(k)}), int64(1000+k%100)
	call := func(c Call) {
		check(t, w.Call(&c))
	}
	everybody := mask(func(int) bool { return true })
	call(Call{Site: 0, Masks: [][]int64{mask(func(i int) bool { return i == qroot })}, Blocks: byDistance("pdfact", s.p, proot), Args: [][]int64{m, all(int64(proot)), all(int64(k))}})
	for t := 1; t <= 2; t++ {
		call(Call{Site: t, Blocks: byDistance([]string{"binit", "bcast"}[t-1], s.q, qroot), Args: [][]int64{all(int64(qroot)), all(tag), c, g}})
	}
	call(Call{Site: 3, Masks: [][]int64{everybody}, Blocks: all(blocks["poll"][0]), Args: [][]int64{all(tag)}})
	for t, cols := range [][]int64{narrow, n} {
		call(Call{Site: 4 + t, Masks: [][]int64{mask(func(i int) bool { return cols[i] > 0 })}, Blocks: byDistance("update", s.p, proot),
			Args: [][]int64{m, cols, all(int64(proot)), all(v)}})
	}
	call(Call{Site: 6, Masks: [][]int64{mask(func(i int) bool { return n[i] == 0 })}, Blocks: all(blocks["poll"][0]), Args: [][]int64{all(tag)}})
	if s.draws {
		d := w.Vector(Vector{Generated: vectors.PivotOwners{Seed: 42, First: from, Count: jb, Rows: s.n, Block: s.nb, Owners: int64(s.p)}.Generated()})
		call(Call{Site: 7, Masks: [][]int64{everybody}, Blocks: all(blocks["pivots"][0]), Args: [][]int64{all(d)}})
	}
}

// stampede has the size of the run of 2016 on 6,006 ranks.
var stampede = synthetic{n: 3875000, nb: 1024, p: 77, q: 78}

// readAll reads a trace to its end.
func readAll(t *Trace) (chunks int, err error) {
	for _, err := range t.Chunks(0, 0) {
		if err != nil {
			return chunks, err
		}
		chunks++
	}
	return chunks, nil
}

func BenchmarkWrite(b *testing.B) {
	for range b.N {
		w := stampede.write(b, io.Discard, 0)
		b.ReportMetric(float64(w.frames.offset), "file-B")
	}
}

func BenchmarkRead(b *testing.B) {
	for _, draws := range []bool{false, true} {
		s := stampede
		s.draws = draws
		var buf bytes.Buffer
		s.write(b, &buf, 0)
		b.Run(map[bool]string{false: "draws=no", true: "draws=yes"}[draws], func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				t := must(NewReader(bytes.NewReader(buf.Bytes()), "stampede"))
				must(readAll(t))
			}
		})
	}
}
