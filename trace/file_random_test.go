package trace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/trace/vectors"
)

// stated is what was written, or read: a unit's calls, with vectors in place of
// handles. Values of an argument column that names vectors are indices into Vectors.
type stated struct {
	Step    int
	Call    Call
	Vectors [][]int64
}

// randomTrace is a trace made up from a seed: header, blocks and calls.
type randomTrace struct {
	rng    *rand.Rand
	header *Header
	wrote  []stated
}

func newRandomTrace(seed uint64) *randomTrace {
	r := &randomTrace{rng: rand.New(rand.NewPCG(seed, 3))}
	r.header = r.randomHeader()
	return r
}

func (r *randomTrace) pick(n int) int { return r.rng.IntN(n) }

func (r *randomTrace) name() string { return fmt.Sprintf("n%d é", r.pick(1000)) }

func (r *randomTrace) params(max int) []Param {
	p := make([]Param, r.pick(max))
	for i := range p {
		p[i] = Param{r.name(), r.name()}
	}
	return p
}

func (r *randomTrace) randomHeader() *Header {
	h := &Header{Program: r.name(), Tool: r.name(), Command: r.name(), Params: r.params(4), Flops: float64(r.pick(1 << 30)),
		Ranks: 1 + r.pick(12), Steps: r.pick(100), Pollables: r.pick(4)}
	for range r.pick(3) {
		h.Result = append(h.Result, Column{r.name(), r.name()})
		h.Phases = append(h.Phases, r.name())
	}
	for range 1 + r.pick(3) {
		h.CommFamilies = append(h.CommFamilies, r.family(h.Ranks))
	}
	h.Axes = []Axis{{Name: "all"}, {Name: "rank", Kind: AxisRank}}
	for i := range h.CommFamilies {
		h.Axes = append(h.Axes, Axis{Name: r.name(), Kind: AxisFamily, Family: i})
	}
	for range 1 + r.pick(3) {
		h.Kernels = append(h.Kernels, r.kernel())
	}
	for range r.pick(3) {
		h.Markers = append(h.Markers, Marker{Text: "at {} of {list}", Phase: r.pick(len(h.Phases) + 1), End: r.pick(2) == 0})
	}
	for range 1 + r.pick(4) {
		h.CallSites = append(h.CallSites, r.site(len(h.Axes)))
	}
	return h
}

// family deals the ranks to groups, as lists or as one range.
func (r *randomTrace) family(ranks int) CommFamily {
	f := CommFamily{Name: r.name()}
	if r.pick(2) == 0 {
		f.Groups = []Group{{Start: int32(ranks - 1), Stride: -1, Count: int32(ranks)}}
		return f
	}
	f.Groups = make([]Group, 1+r.pick(ranks))
	for rank, g := range r.rng.Perm(ranks) {
		group := &f.Groups[g%len(f.Groups)]
		group.Ranks = append(group.Ranks, int32(rank))
	}
	return f
}

func (r *randomTrace) kernel() Kernel {
	k := Kernel{Name: r.name(), Attrs: r.params(3)}
	for range r.pick(5) {
		k.Dims = append(k.Dims, Dim{Name: r.name(), Label: r.pick(2) == 0})
	}
	if len(k.Dims) > 1 {
		k.Dims[1].Enum = []string{r.name(), r.name()}
	}
	for range r.pick(3) {
		k.Flops = append(k.Flops, Term{Coef: r.rng.NormFloat64(), Pow: [4]uint8{uint8(r.pick(3)), 0, uint8(r.pick(3)), uint8(r.pick(2))}})
	}
	return k
}

func (r *randomTrace) site(axes int) CallSite {
	t := CallSite{Name: r.name(), Counts: NoAxis, Block: r.pick(axes)}
	for range r.pick(3) {
		t.Masks = append(t.Masks, r.pick(axes))
	}
	columns := axes
	if r.pick(2) == 0 {
		t.Counts, columns = r.pick(axes), axes+1
	}
	axis := func() int {
		if a := r.pick(columns); a < axes {
			return a
		}
		return PerItem
	}
	t.Block = axis()
	for range r.pick(4) {
		t.Params = append(t.Params, ParamColumn{Name: r.name(), Axis: axis(), Vector: r.pick(4) == 0})
	}
	return t
}

// block adds a random block of at most max parameters and returns its number.
func (r *randomTrace) block(t testing.TB, p *Program, max int) int64 {
	b := NewBuilder(r.name(), r.pick(max+1))
	sum := b.Affine([]int64{2, -3}, Const(r.rng.Int64N(1<<40)), b.Member(0, Const(r.rng.Int64N(9))))
	b.Loop(sum, func() {
		b.If(b.Mul(sum, sum.Plus(-1<<62)), func() { b.Message(OpIsend, 0, int32(r.pick(9)), sum, sum.Plus(3), Const(8)) })
		b.Wait(int32(r.pick(9)))
	})
	if n := p.NumBlocks(); n > 0 && r.pick(2) == 0 {
		callee := r.pick(n)
		if p.Block(callee).Params == 0 {
			b.Call(callee)
		}
		if r.header.Pollables > 0 && p.Block(callee).Params == 1 && !p.infos[callee].polls {
			b.DefineGuarded(0, 0, sum, Const(4), callee, Const(9))
			b.Poll(0)
		}
	}
	n := must(p.Add(b))
	return int64(n)
}

func (r *randomTrace) values(n int) []int64 {
	v := make([]int64, n)
	for i := range v {
		v[i] = randomValue(r.rng)
	}
	return v
}

// vector states a vector, sometimes as a generated one, and returns its handle and values.
func (r *randomTrace) vector(w *Writer) (int64, []int64) {
	if r.pick(3) == 0 {
		g := vectors.PivotOwners{Seed: r.rng.Uint64(), First: 5, Count: r.rng.Int64N(9), Rows: 100, Block: 4, Owners: 3}.Generated()
		return w.Vector(Vector{Generated: g}), g.Append([]int64{})
	}
	v := r.values(r.pick(6))
	return w.Vector(Vector{Values: v}), v
}

// write writes a few units. Blocks and vectors turn up on the way.
func (r *randomTrace) write(t testing.TB) []byte {
	var buf bytes.Buffer
	w := must(NewWriter(&buf, r.header, WriterOptions{ChunkUnits: 1 + r.pick(5)}))
	handles, vectors := []int64{}, [][]int64{}
	step := 0
	for range r.pick(20) {
		step += r.pick(3)
		check(t, w.Step(step))
		for range r.pick(4) {
			h, v := r.vector(w)
			handles, vectors = append(handles, h), append(vectors, v)
			r.call(t, w, step, handles, vectors)
		}
	}
	check(t, w.Close())
	return buf.Bytes()
}

func (r *randomTrace) call(t testing.TB, w *Writer, step int, handles []int64, vectors [][]int64) {
	c := Call{Site: r.pick(len(r.header.CallSites))}
	def := &r.header.CallSites[c.Site]
	s := stated{Step: step}
	items := 0
	size := func(axis int) int {
		if axis == PerItem {
			return items
		}
		return r.header.Classes(axis)
	}
	for _, axis := range def.Masks {
		c.Masks = append(c.Masks, r.values(size(axis)))
	}
	if def.Counts != NoAxis {
		for range size(def.Counts) {
			n := r.pick(3)
			items += n
			c.Counts = append(c.Counts, int64(n))
		}
	}
	for range size(def.Block) {
		b := r.block(t, w.Program(), len(def.Params))
		if r.pick(4) == 0 {
			b = NoBlock
		}
		c.Blocks = append(c.Blocks, b)
	}
	for _, p := range def.Params {
		vals := r.values(size(p.Axis))
		if p.Vector {
			for i := range vals {
				h := r.pick(len(handles))
				vals[i] = handles[h]
				s.Vectors = append(s.Vectors, vectors[h])
			}
		}
		c.Args = append(c.Args, vals)
	}
	check(t, w.Call(&c))
	s.Call = c
	r.wrote = append(r.wrote, s)
}

// read returns what a chunk states.
func readChunk(h *Header, w *Chunk) (all []stated) {
	for _, u := range w.Units() {
		for _, c := range u.Calls {
			def := &h.CallSites[c.Site]
			s := stated{Step: u.Step, Call: Call{Site: int(c.Site), Masks: c.Masks, Args: c.Args}}
			for i := 1; i < len(c.Starts); i++ {
				s.Call.Counts = append(s.Call.Counts, int64(c.Starts[i]-c.Starts[i-1]))
			}
			for _, b := range c.Blocks {
				s.Call.Blocks = append(s.Call.Blocks, int64(b))
			}
			for i, p := range def.Params {
				if p.Vector {
					for _, v := range c.Args[i] {
						s.Vectors = append(s.Vectors, elements(w.Sums(v)))
					}
				}
			}
			all = append(all, s)
		}
	}
	return all
}

// elements undoes the running sums.
func elements(sums []int64) []int64 {
	e := make([]int64, len(sums)-1)
	for i := range e {
		e[i] = sums[i+1] - sums[i]
	}
	return e
}

// readStated reads a trace from the first chunk that holds a step >= from.
func readStated(tr *Trace, from int) (all []stated, err error) {
	for chunk, err := range tr.Chunks(from, 0) {
		if err != nil {
			return all, err
		}
		all = append(all, readChunk(tr.Header(), chunk)...)
	}
	return all, nil
}

// sameStated compares calls; handles of vectors do not count.
func sameStated(h *Header, want, got []stated) string {
	hide := cmp.FilterPath(func(p cmp.Path) bool { return len(p) > 0 && p.Last().String() == ".Call" },
		cmp.Transformer("handles", func(c Call) Call {
			args := append([][]int64{}, c.Args...)
			for i, p := range h.CallSites[c.Site].Params {
				if p.Vector {
					args[i] = make([]int64, len(args[i]))
				}
			}
			c.Args = args
			return c
		}))
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), onlyOnce(hide))
}

// onlyOnce keeps a transformer from being applied to its own output.
func onlyOnce(o cmp.Option) cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool {
		for _, step := range p {
			if _, ok := step.(cmp.Transform); ok {
				return false
			}
		}
		return true
	}, o)
}

func TestRandomTracesRoundTrip(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		r := newRandomTrace(seed)
		data := r.write(t)
		if !bytes.Equal(newRandomTrace(seed).write(t), data) {
			t.Errorf("seed %d: two runs write other bytes", seed)
		}
		stream, err := NewReader(bytes.NewReader(data), "stream")
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		file, err := NewReaderAt(bytes.NewReader(data), int64(len(data)), "file")
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, tr := range []*Trace{stream, file} {
			if diff := cmp.Diff(r.header, tr.Header(), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d: header\n%s", seed, diff)
			}
			got, err := readStated(tr, 0)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if diff := sameStated(r.header, r.wrote, got); diff != "" {
				t.Fatalf("seed %d: %s\n%s", seed, tr.frames.name, diff)
			}
		}
		if diff := cmp.Diff(file.ChunkInfos(), stream.ChunkInfos()); diff != "" {
			t.Errorf("seed %d: chunks\n%s", seed, diff)
		}
		a, _ := file.Totals()
		if b, ok := stream.Totals(); a != b || !ok {
			t.Errorf("seed %d: totals %+v of the file, %+v of the stream (%v)", seed, a, b, ok)
		}
		again := must(NewProgram(r.header)) // whose definitions keep numbers and hashes
		for i := range file.prog.blocks {
			if n, err := again.AddBlock(*file.prog.Block(i)); err != nil || n != i || again.BlockHash(i) != file.prog.BlockHash(i) {
				t.Fatalf("seed %d: block %d has number %d in another program, %v", seed, i, n, err)
			}
			if diff := cmp.Diff(file.prog.blocks[i], stream.prog.blocks[i], cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d: block %d\n%s", seed, i, diff)
			}
		}
	}
}
