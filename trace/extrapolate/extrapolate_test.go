package extrapolate_test

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/trace/extrapolate"
	"reprise/trace/text"
	"reprise/trace/verify"
	"reprise/tracegen/hpcg"
)

// rank writes what a rank of a program does, as a recording has it: requests have the lowest slots that are free.
type rank struct {
	me, ranks int
	b         *trace.Builder
	open      map[int32]bool
	vectors   [][]int64
}

func (r *rank) slot() int32 {
	for n := int32(0); ; n++ {
		if !r.open[n] {
			r.open[n] = true
			return n
		}
	}
}

func (r *rank) send(op trace.Op, to, tag, bytes int) int32 {
	n := int32(0)
	if op == trace.OpIsend || op == trace.OpIrecv {
		n = r.slot()
	}
	r.b.Message(op, 0, n, trace.Const(int64(to)), trace.Const(int64(tag)), trace.Const(int64(bytes)))
	return n
}

func (r *rank) wait(n int32) {
	r.b.Wait(n)
	delete(r.open, n)
}

func (r *rank) waitall() {
	r.b.WaitAll()
	r.open = map[int32]bool{}
}

// exchange sends to a rank and receives from it or another one.
func (r *rank) exchange(to, from, tag, bytes int) {
	n := r.send(trace.OpIrecv, from, tag, bytes)
	r.send(trace.OpSend, to, tag, bytes)
	r.wait(n)
}

func (r *rank) collective(k trace.CollectiveKind, comm, root, count int) {
	size := trace.Const(8)
	number := trace.Const(int64(count))
	r.b.Collective(k, trace.CollectiveOperands{Root: trace.Const(int64(root)), Send: number, SendSize: size, Recv: number,
		RecvSize: size, Comm: trace.Comm(comm)})
}

// lists calls a collective operation with counts by rank. Its step has a block of its own for each rank, so that the
// lists are the only arguments.
func (r *rank) lists(k trace.CollectiveKind, sent, received []int64) {
	r.vectors = [][]int64{sent, received}
	r.b.Collective(k, trace.CollectiveOperands{Send: r.b.Param(0), Recv: r.b.Param(1), SendSize: trace.Const(4),
		RecvSize: trace.Const(4)})
}

func (r *rank) compute(flop float64) { r.b.Flops(trace.Const(trace.FloatArg(flop))) }

// program is a parallel program: what a rank does before, in one of its steps, and behind. Families are its
// communicators besides that of all ranks, as the groups of a grid of so many ranks.
type program struct {
	before, step func(r *rank)
	families     func(ranks int) [][]trace.Group
	lists        bool // the step has counts by rank, and nothing comes before it
}

const steps = 3

// recorded returns the recording of a program.
func recorded(t *testing.T, p program, ranks int) *trace.Trace {
	t.Helper()
	h := &trace.Header{Program: "test", Ranks: ranks, Steps: steps + 2, Communicators: true,
		Axes:         []trace.Axis{{Name: "rank", Kind: trace.AxisRank}},
		CommFamilies: []trace.CommFamily{{Name: "world", Groups: []trace.Group{{Stride: 1, Count: int32(ranks)}}}},
		CallSites: []trace.CallSite{{Name: "step", Counts: trace.NoAxis},
			{Name: "lists", Counts: trace.NoAxis,
				Params: []trace.ParamColumn{{Name: "sent", Vector: true}, {Name: "received", Vector: true}}}}}
	if p.families != nil {
		for i, groups := range p.families(ranks) {
			h.CommFamilies = append(h.CommFamilies, trace.CommFamily{Name: fmt.Sprint("comm", 1+i), Groups: groups})
		}
	}
	var file bytes.Buffer
	w := must(trace.NewWriter(&file, h, trace.WriterOptions{}))
	vectors := make([][]int64, 2) // of the step
	params := 0
	if p.lists {
		params = 2
	}
	blocks := func(part func(r *rank)) (list []int64) {
		for me := range ranks {
			r := &rank{me: me, ranks: ranks, b: trace.NewBuilder("step", params), open: map[int32]bool{}}
			if part != nil {
				part(r)
			}
			list = append(list, int64(must(w.Program().Add(r.b))))
			for i, values := range r.vectors {
				vectors[i] = append(vectors[i], w.Vector(trace.Vector{Values: values}))
			}
		}
		return list
	}
	step := blocks(p.step)
	before := step
	if !p.lists {
		before = blocks(p.before)
	}
	for n := range steps + 1 {
		if err := w.Step(n); err != nil {
			t.Fatal(err)
		}
		list := step
		if n == 0 && p.lists {
			continue
		}
		if n == 0 {
			list = before
		}
		c := &trace.Call{Blocks: list}
		if p.lists {
			c.Site, c.Args = 1, vectors
		}
		if err := w.Call(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return tracetest.Open(t, file.Bytes())
}

// extrapolated returns the trace of more ranks that recordings of a program give.
func extrapolated(t *testing.T, p program, ranks int, from ...int) (*trace.Trace, *extrapolate.Summary, int, error) {
	t.Helper()
	var list []*trace.Trace
	for _, n := range from {
		list = append(list, recorded(t, p, n))
	}
	var file bytes.Buffer
	s, err := extrapolate.Write(&file, list, extrapolate.Options{Ranks: ranks})
	if err != nil {
		return nil, nil, 0, err
	}
	tr := tracetest.Open(t, file.Bytes())
	return tr, s, file.Len(), nil
}

// same reports the first difference between two traces, but for computations.
func same(t *testing.T, got, want *trace.Trace) {
	t.Helper()
	a, b := must(got.Cursors(nil, trace.CursorOptions{})), must(want.Cursors(nil, trace.CursorOptions{}))
	for i := range b {
		x, y := trace.NewActionReader(&a[i], trace.Hit{}, 0), trace.NewActionReader(&b[i], trace.Hit{}, 0)
		for n := 0; ; n++ {
			var next [2]*trace.Action
			for k, r := range []*trace.ActionReader{&x, &y} {
				for next[k] = r.Next(); next[k] != nil && next[k].Kind == trace.KindFlops; next[k] = r.Next() {
				}
			}
			if next[0] == nil && next[1] == nil {
				break
			}
			if next[0] == nil || next[1] == nil || *next[0] != *next[1] || x.Step() != y.Step() {
				t.Fatalf("rank %d of %d, action %d: %+v of step %d, want %+v of step %d", i, len(b), n, next[0], x.Step(), next[1],
					y.Step())
			}
		}
	}
}

// grid2 returns the extents of the most square grid, in descending order, as MPI_Dims_create gives it.
func grid2(n int) (rows, columns int) {
	for columns = 1; columns*columns <= n; columns++ {
	}
	for columns--; n%columns != 0; columns-- {
	}
	return n / columns, columns
}

// halo is a halo exchange in a grid with given extents: in each dimension with both neighbours, of faces of a block of
// the domain, whose edge is so long.
func halo(extents func(ranks int) []int, periodic bool, edge int) program {
	return program{step: func(r *rank) {
		g := extents(r.ranks)
		x := make([]int, len(g))
		for k, rest := len(g)-1, r.me; k >= 0; k-- {
			x[k], rest = rest%g[k], rest/g[k]
		}
		place := func(x []int) (rank int) {
			for k, n := range g {
				rank = rank*n + x[k]
			}
			return rank
		}
		r.compute(1e6)
		for k := range g {
			bytes := 8
			for j := range g {
				if j != k {
					bytes *= edge / g[j]
				}
			}
			for _, op := range []trace.Op{trace.OpIrecv, trace.OpIsend} {
				for _, by := range []int{-1, 1} {
					y := slices.Clone(x)
					y[k] += by
					if periodic {
						y[k] = (y[k] + g[k]) % g[k]
					}
					if y[k] >= 0 && y[k] < g[k] {
						r.send(op, place(y), 10+k, bytes)
					}
				}
			}
		}
		r.waitall()
		r.collective(trace.CollAllreduce, 0, 0, 1)
	}}
}

func line(n int) []int { return []int{n} }

func plane(n int) []int {
	rows, columns := grid2(n)
	return []int{rows, columns}
}

// cube returns the extents of 4, 16, 64 and 256 ranks, as MPI_Dims_create gives them.
func cube(n int) []int {
	return map[int][]int{4: {2, 2, 1}, 16: {4, 2, 2}, 64: {4, 4, 4}, 256: {8, 8, 4}, 65536: {64, 32, 32}}[n]
}

// turns has sizes that change in few of the turns of a loop.
var turns = program{step: func(r *rank) {
	for i := range 26 {
		bytes := 8
		switch i {
		case 0:
			bytes = 16
		case 7, 8:
			bytes = 8 * r.ranks
		}
		r.exchange((r.me+1)%r.ranks, (r.me+r.ranks-1)%r.ranks, 3, bytes)
	}
}}

// conjugate is the communication of NAS CG: sums within rows by exchanges with ranks at distances that are halved or
// doubled, and an exchange with the transposed place.
var conjugate = program{step: func(r *rank) {
	_, n := grid2(r.ranks)
	row, column := r.me/n, r.me%n
	rounds := bits.Len(uint(n)) - 1
	for i := range rounds {
		r.exchange(row*n+column^(n>>(i+1)), row*n+column^(n>>(i+1)), i+1, 8)
	}
	for i := rounds; i > 0; i-- {
		r.exchange(row*n+column^(n>>i), row*n+column^(n>>i), i, 1<<16/n)
	}
	r.exchange(column*n+row, column*n+row, 1, 1<<16/n)
	r.collective(trace.CollReduce, 0, 0, 1)
}}

// wavefront is the communication of NAS LU: planes that go through the grid from corner to corner and back.
var wavefront = program{step: func(r *rank) {
	rows, columns := grid2(r.ranks)
	x, y := r.me/columns, r.me%columns
	sweep := func(by int) {
		for range 5 {
			if x-by >= 0 && x-by < rows {
				r.send(trace.OpRecv, r.me-by*columns, 1, 40*64/columns)
			}
			if y-by >= 0 && y-by < columns {
				r.send(trace.OpRecv, r.me-by, 2, 40*(64/rows-1))
			}
			r.compute(1e5)
			if x+by >= 0 && x+by < rows {
				r.send(trace.OpSend, r.me+by*columns, 1, 40*64/columns)
			}
			if y+by >= 0 && y+by < columns {
				r.send(trace.OpSend, r.me+by, 2, 40*(64/rows-1))
			}
		}
	}
	sweep(1)
	sweep(-1)
}}

// transpose is that of the Parallel Research Kernels: in phase i with the ranks i further and i before.
var transpose = program{step: func(r *rank) {
	for i := 1; i < r.ranks; i++ {
		n := r.send(trace.OpIrecv, (r.me+i)%r.ranks, i, 8*4096/r.ranks)
		m := r.send(trace.OpIsend, (r.me-i+r.ranks)%r.ranks, i, 8*4096/r.ranks)
		r.wait(n)
		r.wait(m)
	}
}}

// transposes are three in one step: on 256 ranks a loop with more numbers than a block may have.
var transposes = program{step: func(r *rank) {
	for range 3 {
		transpose.step(r)
	}
}}

// rowsAndColumns has collective operations within rows and columns, with roots that go round.
var rowsAndColumns = program{
	families: func(ranks int) [][]trace.Group {
		rows, columns := grid2(ranks)
		var list [2][]trace.Group
		for i := range rows {
			list[0] = append(list[0], trace.Group{Start: int32(i * columns), Stride: 1, Count: int32(columns)})
		}
		for i := range columns {
			list[1] = append(list[1], trace.Group{Start: int32(i), Stride: int32(columns), Count: int32(rows)})
		}
		return list[:]
	},
	step: func(r *rank) {
		rows, columns := grid2(r.ranks)
		for k := range columns {
			r.collective(trace.CollBcast, 1, k, 4096/rows)
			r.collective(trace.CollBcast, 2, k%rows, 4096/columns)
		}
		r.collective(trace.CollAlltoall, 1, 0, 1<<16/r.ranks)
	},
}

// toRoot gathers at rank 0 by messages, and sends back to all.
var toRoot = program{before: func(r *rank) { r.collective(trace.CollBcast, 0, 0, 7) },
	step: func(r *rank) {
		if r.me > 0 {
			r.send(trace.OpSend, 0, 3, 8*(2+r.me))
			r.send(trace.OpRecv, 0, 4, 8*r.ranks)
			return
		}
		for i := 1; i < r.ranks; i++ {
			r.send(trace.OpRecv, i, 3, 8*(2+i))
		}
		for i := 1; i < r.ranks; i++ {
			r.send(trace.OpSend, i, 4, 8*r.ranks)
		}
	}}

// multipartition is the communication of NAS BT and SP: a cube of 64 points in each direction is divided into p cells in
// each, and rank i of row j has the cells (i+t, j-t, t), of sizes 64/p or one more for the first 64 mod p. Faces of all
// cells but those at an end go to the neighbours; then sweeps in the first direction go from cell to cell, by faces
// without the points at the ends of the domain, and by buffers of the largest face.
var multipartition = program{step: func(r *rank) {
	p, _ := grid2(r.ranks)
	i, j := r.me%p, r.me/p
	size := func(u int) int {
		if u%p < 64%p {
			return 64/p + 1
		}
		return 64 / p
	}
	inner := func(u int) int {
		n := size(u)
		if u%p == 0 {
			n--
		}
		if u%p == p-1 {
			n--
		}
		return n
	}
	at := func(i, j int) int { return (i+p)%p + (j+p)%p*p }
	// faces returns the points of the faces of a rank's cells, but for those at an end of the first direction.
	faces := func(me, end int) (sum int) {
		for t := range p {
			if (me%p+t)%p != end {
				sum += size(me/p-t+p) * size(t)
			}
		}
		return sum
	}
	west, east := at(i-1, j), at(i+1, j)
	r.send(trace.OpIrecv, west, 1, 80*faces(west, p-1))
	r.send(trace.OpIrecv, east, 2, 80*faces(east, 0))
	r.send(trace.OpIsend, east, 1, 80*faces(r.me, p-1))
	r.send(trace.OpIsend, west, 2, 80*faces(r.me, 0))
	r.waitall()
	cell := 64/p + 1
	for stage := range p {
		t := (stage - i + p) % p
		if stage > 0 {
			n := r.send(trace.OpIrecv, west, 3, 176*inner(j-t+p)*inner(t))
			r.wait(n)
			r.send(trace.OpRecv, west, 4, 240*cell*cell)
		}
		if stage < p-1 {
			t = (stage + 1 - (i + 1) + p) % p // of the cell of the next stage, of which the face is
			r.send(trace.OpIsend, east, 3, 176*inner(j-t+p)*inner(t))
			r.send(trace.OpSend, east, 4, 240*cell*cell)
			r.waitall()
		}
	}
}}

// shares divides a domain of 50 points in each direction among the rows and columns of a grid, the first ones having one
// point more. It sends faces: whole ones, ones with a halo, and ones without the first and the last points of the domain.
var shares = program{step: func(r *rank) {
	rows, columns := grid2(r.ranks)
	x, y := r.me/columns, r.me%columns
	part := func(u, p int) int {
		if u < 50%p {
			return 50/p + 1
		}
		return 50 / p
	}
	inner := part(y, columns)
	if y == 0 {
		inner--
	}
	if y == columns-1 {
		inner--
	}
	if x > 0 {
		for i, points := range []int{part(y, columns), part(y, columns) + 2, inner} {
			r.send(trace.OpRecv, r.me-columns, 1+i, 40*points)
		}
	}
	if x < rows-1 {
		for i, points := range []int{part(y, columns), part(y, columns) + 2, inner} {
			r.send(trace.OpSend, r.me+columns, 1+i, 40*points)
		}
	}
	if y > 0 {
		r.send(trace.OpRecv, r.me-1, 4, 40*part(x, rows))
	}
	if y < columns-1 {
		r.send(trace.OpSend, r.me+1, 4, 40*part(x, rows))
	}
}}

// TestShares: recordings of 2, 3 and 4 parts in each direction, of which the last two leave rests of 2 points, give what
// the program does with 6, which leaves one of 2, too.
func TestShares(t *testing.T) {
	tr, _, _, err := extrapolated(t, shares, 36, 4, 9, 16)
	if err != nil {
		t.Fatal(err)
	}
	same(t, tr, recorded(t, shares, 36))
}

// TestMultipartition: recordings of 36, 64 and 100 ranks give what the program does on 144.
func TestMultipartition(t *testing.T) {
	tr, _, _, err := extrapolated(t, multipartition, 144, 36, 64, 100)
	if err != nil {
		t.Fatal(err)
	}
	same(t, tr, recorded(t, multipartition, 144))
}

// TestApproximate: counts of an all-to-all that depend on data are refused; their means, 4096/ranks elements, are
// taken if asked for.
func TestApproximate(t *testing.T) {
	p := program{lists: true, step: func(r *rank) {
		random := rand.New(rand.NewPCG(7, uint64(r.ranks)))
		counts := make([][]int64, r.ranks) // of pairs of ranks; pairs of columns have a constant sum
		for i := range counts {
			counts[i] = make([]int64, r.ranks)
			for k := range counts[i] {
				counts[i][k] = int64(4096 / r.ranks)
				if k%2 == 1 {
					d := random.Int64N(9)
					counts[i][k] += d
					counts[i][k-1] -= d
				}
			}
		}
		sent, received := counts[r.me], make([]int64, r.ranks)
		for i := range received {
			received[i] = counts[i][r.me]
		}
		r.lists(trace.CollAlltoallv, sent, received)
	}}
	if _, _, _, err := extrapolated(t, p, 256, 4, 16, 64); err == nil || !strings.Contains(err.Error(), "counts by rank") {
		t.Fatalf("error %v", err)
	}
	var list []*trace.Trace
	for _, n := range []int{4, 16, 64} {
		list = append(list, recorded(t, p, n))
	}
	var file bytes.Buffer
	s := must(extrapolate.Write(&file, list, extrapolate.Options{Ranks: 256, Approximate: true}))
	if len(s.Warnings) != 2 {
		t.Errorf("warnings %q", s.Warnings)
	}
	tr := tracetest.Open(t, file.Bytes())
	c := must(tr.Cursors([]int32{5}, trace.CursorOptions{}))
	reader := trace.NewActionReader(&c[0], trace.Hit{}, 0)
	sums := reader.Next().Collective(&c[0]).SendSums
	if sums[1] != 16 || sums[256] != 4096 {
		t.Errorf("%d and %d elements, want 16 and 4096", sums[1], sums[256])
	}
	must(verify.Trace(tr, nil))
}

// TestAlone: ranks that are 8 or more from both ends of a line are in the largest recording alone, so that nothing
// confirms that they send 100 bytes. That is refused, and taken for a constant if asked for, with a warning.
func TestAlone(t *testing.T) {
	p := program{step: func(r *rank) {
		if r.me >= 8 && r.me < r.ranks-8 {
			r.send(trace.OpIsend, r.me+1, 5, 100)
		}
		if r.me >= 9 && r.me < r.ranks-7 {
			r.send(trace.OpRecv, r.me-1, 5, 100)
		}
		r.waitall()
	}}
	const want = "(isend): tag: no rule gives 5 of rank 8 of 64, which is of this recording alone"
	if _, _, _, err := extrapolated(t, p, 256, 4, 16, 64); err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("error %v, want one with %q", err, want)
	}
	var list []*trace.Trace
	for _, n := range []int{4, 16, 64} {
		list = append(list, recorded(t, p, n))
	}
	var file bytes.Buffer
	s := must(extrapolate.Write(&file, list, extrapolate.Options{Ranks: 256, Approximate: true}))
	if len(s.Warnings) != 4 { // tags and bytes, sent and received
		t.Errorf("warnings %q", s.Warnings)
	}
	same(t, tracetest.Open(t, file.Bytes()), recorded(t, p, 256))
}

// TestScaling: what ranks of 4, 16 and 64 compute in a step stays on 256 ranks if the problem grows with them, and is a
// quarter of that on 64 if it stays. If nothing is said, the recordings tell which.
func TestScaling(t *testing.T) {
	for _, c := range []struct {
		recorded                 map[int]float64
		asRecorded, weak, strong float64
	}{
		{map[int]float64{4: 100, 16: 90, 64: 80}, 80, 80, 20},
		{map[int]float64{4: 1300, 16: 350, 64: 80}, 20, 80, 20},
	} {
		p := program{step: func(r *rank) {
			r.compute(c.recorded[r.ranks])
			r.exchange((r.me+1)%r.ranks, (r.me+r.ranks-1)%r.ranks, 3, 64)
		}}
		var list []*trace.Trace
		for _, n := range []int{4, 16, 64} {
			list = append(list, recorded(t, p, n))
		}
		for scaling, want := range []float64{c.asRecorded, c.weak, c.strong} {
			var file bytes.Buffer
			must(extrapolate.Write(&file, list, extrapolate.Options{Ranks: 256, Scaling: extrapolate.Scaling(scaling)}))
			cursors := must(tracetest.Open(t, file.Bytes()).Cursors([]int32{5}, trace.CursorOptions{}))
			reader := trace.NewActionReader(&cursors[0], trace.Hit{}, 0)
			a := reader.Next()
			for a.Kind != trace.KindFlops {
				a = reader.Next()
			}
			if a.Flops() != want {
				t.Errorf("%v, scaling %d: %g flop, want %g", c.recorded, scaling, a.Flops(), want)
			}
		}
	}
}

// TestImbalance: the last rank computes twice as long as the others, on 256 ranks as on 4, 16 and 64, to 1 %.
func TestImbalance(t *testing.T) {
	p := program{step: func(r *rank) {
		r.compute(1e6 * float64(1+(r.me+1)/r.ranks))
		r.exchange((r.me+1)%r.ranks, (r.me+r.ranks-1)%r.ranks, 3, 64)
	}}
	tr, _, _, err := extrapolated(t, p, 256, 4, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	for rank, want := range map[int32]float64{0: 1e6, 5: 1e6, 254: 1e6, 255: 2e6} {
		cursors := must(tr.Cursors([]int32{rank}, trace.CursorOptions{}))
		reader := trace.NewActionReader(&cursors[0], trace.Hit{}, 0)
		a := reader.Next()
		for a.Kind != trace.KindFlops {
			a = reader.Next()
		}
		if math.Abs(a.Flops()/want-1) > 0.01 {
			t.Errorf("rank %d: %g flop, want %g", rank, a.Flops(), want)
		}
	}
}

// idle has steps in which rank 0 does nothing.
var idle = program{before: func(r *rank) { r.collective(trace.CollBcast, 0, 0, 7) }, step: func(r *rank) {
	if r.me > 0 && r.me < r.ranks-1 {
		r.send(trace.OpSend, r.me+1, 3, 64)
	}
	if r.me > 1 {
		r.send(trace.OpRecv, r.me-1, 3, 64)
	}
}}

// TestRegular: recordings of 4, 16 and 64 ranks give what the program does on 256.
func TestRegular(t *testing.T) {
	for name, p := range map[string]program{
		"line": halo(line, false, 512), "ring": halo(line, true, 512),
		"plane": halo(plane, false, 512), "torus": halo(plane, true, 512),
		"cube": halo(cube, false, 512), "cube torus": halo(cube, true, 512),
		"cg": conjugate, "lu": wavefront, "transpose": transpose, "transposes": transposes, "communicators": rowsAndColumns, "root": toRoot,
		"idle": idle, "turns": turns,
	} {
		t.Run(name, func(t *testing.T) {
			tr, _, _, err := extrapolated(t, p, 256, 4, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			same(t, tr, recorded(t, p, 256))
			if _, err := verify.Trace(tr, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestEnds: what HPCG's generator says of 4, 9 and 16 ranks, in grids of 2x2x1, 3x3x1 and 4x2x2, gives what it says of 25
// and 36, in grids of 5x5x1 and 4x3x3, though no rank of the three has neighbours on both sides in the third dimension. The
// largest alone has neighbours there, so that the sizes of these 18 messages are taken for constants if asked for.
func TestEnds(t *testing.T) {
	generated := func(ranks int) *trace.Trace {
		p := hpcg.DefaultParams(ranks, 16)
		p.Iterations = 3
		var file bytes.Buffer
		if err := hpcg.Generate(t.Context(), &file, p, hpcg.Options{}); err != nil {
			t.Fatal(err)
		}
		return tracetest.Open(t, file.Bytes())
	}
	// Listings name requests by their messages; the numbers of their slots differ.
	lines := func(tr *trace.Trace) []string {
		var list strings.Builder
		if err := text.WriteListings(&list, tr, nil, trace.CursorOptions{Markers: true}, trace.Hit{}, hpcg.Words()); err != nil {
			t.Fatal(err)
		}
		return strings.Split(list.String(), "\n")
	}
	for _, ranks := range []int{25, 36} {
		var file bytes.Buffer
		list := []*trace.Trace{generated(4), generated(9), generated(16)}
		o := extrapolate.Options{Ranks: ranks, Approximate: ranks == 36}
		if _, err := extrapolate.Write(&file, list, o); err != nil {
			t.Fatal(ranks, err)
		}
		got, want := lines(tracetest.Open(t, file.Bytes())), lines(generated(ranks))
		for i := range want {
			if i == len(got) || got[i] != want[i] {
				t.Fatalf("%d ranks: line %d of %d: %q, want %q", ranks, i+1, len(want), got[min(i, len(got)-1)], want[i])
			}
		}
	}
}

// TestLarge: a trace of 65,536 ranks takes less than 1 MB.
func TestLarge(t *testing.T) {
	for name, p := range map[string]program{"cube": halo(cube, false, 512), "cg": conjugate} {
		_, _, size, err := extrapolated(t, p, 65536, 4, 16, 64)
		if err != nil {
			t.Fatal(name, err)
		}
		if size > 1<<20 {
			t.Errorf("%s: %d bytes", name, size)
		}
	}
}

// TestRefused: what follows no rule is refused with its place.
func TestRefused(t *testing.T) {
	random := program{step: func(r *rank) {
		// Pairs of a random permutation.
		p := rand.New(rand.NewPCG(1, uint64(r.ranks))).Perm(r.ranks)
		i := slices.Index(p, r.me)
		r.exchange(p[i^1], p[i^1], 5, 100)
	}}
	sizes := program{step: func(r *rank) {
		n := int(rand.New(rand.NewPCG(uint64(r.me), uint64(r.ranks))).Int64N(1000))
		r.send(trace.OpIsend, (r.me+1)%r.ranks, 5, n)
		r.waitall()
	}}
	// Each rank has 192/ranks numbers of 8 bytes, so that there is no whole number of them on 256 ranks.
	elements := program{step: func(r *rank) {
		r.send(trace.OpIsend, (r.me+1)%r.ranks, 5, 8*192/r.ranks)
		r.waitall()
	}}
	// The same of a collective.
	counts := program{step: func(r *rank) { r.collective(trace.CollAllreduce, 0, 0, 192/r.ranks) }}
	for _, c := range []struct {
		name  string
		p     program
		ranks int
		from  []int
		want  string
	}{
		{"partners", random, 256, []int{4, 16, 64}, "irecv tag 5"},
		{"sizes", sizes, 256, []int{4, 16, 64}, "(isend tag 5): bytes: no rule gives"},
		{"elements", elements, 256, []int{4, 16, 64}, "bytes of rank 0 cannot be told for a grid of 256: 6 is no multiple of 8"},
		{"counts", counts, 256, []int{4, 16, 64}, "of rank 0 cannot be told for a grid of 256"},
		{"two", transpose, 256, []int{4, 16}, "3 sizes or more"},
		{"twice", transpose, 256, []int{4, 16, 16}, "both of 16 ranks"},
		{"fewer", transpose, 32, []int{4, 16, 64}, "fewer than the 64"},
		{"prime", halo(plane, false, 512), 257, []int{4, 16, 64}, "257x1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, _, err := extrapolated(t, c.p, c.ranks, c.from...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
