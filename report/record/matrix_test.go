package record

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/netmodel"
	"reprise/replay"
	"reprise/report/typedarray"
	"reprise/trace"
)

// kindsFor returns times of which a share is spent waiting, and the rest computing.
func kindsFor(length, share float64) []float64 {
	now := make([]float64, numKinds)
	now[replay.TimeCompute], now[replay.TimeWait] = length*(1-share), length*share
	return now
}

// TestCoarse: 5,000 ranks in 1,000 columns are more than 1.5 million cells, so four columns
// become one cell; what the ranks have spent their time on stays, and the one that waits all of
// column 402 is still seen, of whose cell it is a quarter, and so is the column that took it
// three times as long.
func TestCoarse(t *testing.T) {
	const ranks, count = 5000, 1000
	m := newMatrix(ranks)
	for column := range int32(count) {
		for rank := range int32(ranks) {
			length, share := 1.0, 0.25
			if column == 402 && rank == 77 {
				share = 1
			}
			if column == 900 && rank == 99 {
				length = 3
			}
			m.add(rank, column, kindsFor(length, share), length)
		}
	}
	d := m.data(0)
	if d.Rows != ranks || d.Cols != count/4 || d.ColumnsPerCell != 4 || d.RanksPerRow != 1 {
		t.Fatalf("%d rows of %d ranks, %d cells of %d columns", d.Rows, d.RanksPerRow, d.Cols, d.ColumnsPerCell)
	}
	at := func(state, rank, column int) int { return (state*d.Cols+column/4)*d.Rows + rank }
	for _, c := range []struct {
		name       string
		rank       int
		column     int
		mean, most byte // 255ths
	}{
		{"one of all", 3, 700, 64, 64},        // 63.75
		{"one that waits", 77, 402, 112, 255}, // (3*0.25+1)/4*255 = 111.56
		{"one before", 77, 399, 64, 64},
	} {
		if mean, most := d.Mean[at(1, c.rank, c.column)], d.Most[at(1, c.rank, c.column)]; mean != c.mean || most != c.most {
			t.Errorf("%s waits %d, at most %d, want %d and %d of 255", c.name, mean, most, c.mean, c.most)
		}
	}
	if a, b := d.Length[at(0, 99, 900)], d.Length[at(0, 98, 900)]; a != 255 || b != 85 {
		t.Errorf("lengths %d and %d, want 255 and 85", a, b)
	}
	seconds := 0.0
	for _, column := range m.list {
		for i := range column {
			for _, s := range column[i].seconds {
				seconds += float64(s)
			}
		}
	}
	if seconds != ranks*count+2 {
		t.Errorf("%v s in all cells, want %d", seconds, ranks*count+2)
	}
}

// TestManyRanks: 40,000 ranks share 13,334 rows by threes, the last of one.
func TestManyRanks(t *testing.T) {
	const ranks = 40000
	m := newMatrix(ranks)
	for rank := range int32(ranks) {
		m.add(rank, 0, kindsFor(2, float64(rank%3)/2), 2) // waits 0, 1/2 and 1 of it
	}
	d := m.data(0)
	if d.Rows != 13334 || d.RanksPerRow != 3 || d.Cols != 1 || d.Ranks != ranks {
		t.Fatalf("%d rows of %d of %d ranks, %d columns", d.Rows, d.RanksPerRow, d.Ranks, d.Cols)
	}
	waits := d.Mean[d.Rows:][:d.Rows]
	if waits[0] != 128 || d.Most[d.Rows] != 255 || waits[13333] != 0 {
		t.Errorf("rows wait %d, at most %d, the last %d of 255, want 128, 255 and 0", waits[0], d.Most[d.Rows], waits[13333])
	}
	g := []group{{by: "host", of: descending(ranks)}}
	if order := orders(g, 3, make([]rank, ranks))[1]; order.Name != "host" || binary.LittleEndian.Uint32(order.Rows) != 13333 {
		t.Errorf("by %s the first is row %d, want the last", order.Name, order.Rows[:4])
	}
}

func descending(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(n - i)
	}
	return list
}

// TestGridOrders: ranks of a grid of 2 rows and 3 columns, numbered along the columns, on 3
// hosts of two ranks each.
func TestGridOrders(t *testing.T) {
	b := newBench(t, cluster(3), 6, 2)
	b.Header.CommFamilies = []trace.CommFamily{
		{Name: "row", Groups: []trace.Group{{Start: 0, Stride: 2, Count: 3}, {Start: 1, Stride: 2, Count: 3}}},
		{Name: "col", Groups: []trace.Group{{Start: 0, Stride: 1, Count: 2}, {Start: 2, Stride: 1, Count: 2}, {Start: 4, Stride: 1, Count: 2}}},
	}
	b.lists([]trace.Action{send(3, 0, 10)}, nil, nil, []trace.Action{recv(0, 0, 10)}, nil, nil)
	_, _, d := b.record(t)
	orders := map[string][]byte{}
	for _, o := range d.Matrix.Orders {
		orders[o.Name] = o.Rows
	}
	want := map[string][]byte{"rank": nil, "grid row": typedarray.Of([]uint32{0, 2, 4, 1, 3, 5}), "grid column": nil, "host": nil,
		"end": typedarray.Of([]uint32{0, 1, 2, 4, 5, 3})}
	if diff := cmp.Diff(want, orders); diff != "" {
		t.Errorf("orders (-want +got):\n%s", diff)
	}
	for i, c := range []struct {
		by     string
		size   int
		cell   int // where the message is
		labels []string
	}{{"rank", 6, 0*6 + 3, nil}, {"grid row", 2, 0*2 + 1, nil}, {"grid column", 3, 0*3 + 1, nil}, {"host", 3, 0*3 + 1, []string{"n0", "n1", "n2"}}} {
		m := &d.Communication[i]
		if m.By != c.by || m.Size != c.size || m.Per != 1 || float32sOf(t, m.Bytes)[c.cell] != 10 || float32sOf(t, m.Number)[c.cell] != 1 {
			t.Errorf("by %s, %d of %d: %v", m.By, m.Size, m.Per, float32sOf(t, m.Bytes))
		}
		if diff := cmp.Diff(c.labels, m.Labels); diff != "" {
			t.Errorf("labels (-want +got):\n%s", diff)
		}
	}
}

// TestManySenders: 1,025 ranks are 342 rows of three; rank 1,024 is the last one's.
func TestManySenders(t *testing.T) {
	traffic := &newTraffic(1025, nil)[0]
	traffic.add([]replay.Transferred{{Src: 1024, Dst: 2, Summary: netmodel.Summary{Bytes: 5 + 16}}})
	d := traffic.data()
	if d.Size != 342 || d.Per != 3 || float32sOf(t, d.Bytes)[341*342] != 5 {
		t.Errorf("%d rows of %d", d.Size, d.Per)
	}
}

// TestManyKernels: 60,000 kernels leave room for 34 columns, so 1,000 steps are columns of 30;
// steps beyond those that the header has are in the last one.
func TestManyKernels(t *testing.T) {
	b := newBench(t, cluster(1), 1, 1)
	b.Header.Kernels, b.Header.Steps = make([]trace.Kernel, 60000), 1000
	r := b.recorder()
	for _, s := range []int64{0, 29, 30, 999, 1 << 30} {
		r.spentBy(0, float64(s), make([]float64, r.sums.width), false)
		r.marked(0, step(s), float64(s))
	}
	if d := dataOf(t, r); d.Columns.Steps != 30 || d.Columns.Count != 34 {
		t.Errorf("%d columns of %d steps, want 34 of 30", d.Columns.Count, d.Columns.Steps)
	}
}

// TestMerged: slices become one by fours; where nothing has happened is nothing.
func TestMerged(t *testing.T) {
	list := [][]float32{{1}, nil, {2, 3}, nil, nil, nil, nil, nil, nil, {4}}
	got := merged(list, 2, addTo[float32])
	if diff := cmp.Diff([][]float32{{3, 3}, nil, {4}}, got); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
	if got := merged([][]float32{{1}, {2}}, 70, addTo[float32]); len(got) != 1 || got[0][0] != 3 {
		t.Errorf("all in one: %v", got)
	}
	w := widths{firstWidth, maxSlices}
	if k := w.reach(3e7 * 365 * 24 * 3600); k < 40 || math.IsInf(w.width, 1) {
		t.Errorf("%d doublings to slices of %v s", k, w.width)
	}
}

// TestRound: 32 steps of 255ths are 0, 7.97, 15.94, ..., 255, each rounded.
func TestRound(t *testing.T) {
	m := Matrix{Mean: []byte{0, 3, 4, 8, 11, 12, 128, 251, 252, 255}, Length: []byte{85}}
	m.Round(32)
	if want := []byte{0, 0, 8, 8, 8, 16, 128, 247, 255, 255}; !slices.Equal(m.Mean, want) || m.Length[0] != 88 || m.Steps != 32 {
		t.Errorf("%d and %d in %d steps, want %d and 88 in 32", m.Mean, m.Length[0], m.Steps, want)
	}
}

// TestManySteps: 20,000 steps are columns of three.
func TestManySteps(t *testing.T) {
	b := newBench(t, cluster(1), 1, 1)
	b.Header.Steps = 20000
	var list []trace.Action
	for s := range int64(20000) {
		list = append(list, step(s), sleep(1))
	}
	_, _, d := b.lists(list).record(t)
	if d.Columns.Steps != 3 || d.Columns.Count != 6667 {
		t.Fatalf("%d columns of %d steps, want 6667 of 3", d.Columns.Count, d.Columns.Steps)
	}
	if starts := float64sOf(d.Columns.Starts); starts[1] != 3 || starts[6666] != 19998 || starts[6667] != 20000 {
		t.Errorf("columns start at %v, %v and %v s", starts[1], starts[6666], starts[6667])
	}
}
