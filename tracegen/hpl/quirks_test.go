package hpl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/internal/tracetest"
	"reprise/trace"
)

// The quirks of HPL 2.3's control flow, a test each. Expected lines are worked
// out by hand from the control flow, not taken from a trace.

// small returns a run of order n with blocks of nb on a p x q grid: no
// look-ahead, one ring, binary exchange, forms no-transposed, pivots none.
func small(n, nb, p, q int) Params {
	r := DefaultParams(n, p, q)
	r.NB, r.NBMin, r.Depth, r.Bcast, r.Swap = nb, 2, 0, OneRing, BinaryExchange
	r.L1, r.U, r.RFact, r.PFact = NoTransposed, NoTransposed, Left, Right
	r.Pivots = Pivots{Kind: NoPivots}
	return r
}

// lines returns the listing of a rank of a run, without its header line.
func lines(t *testing.T, p Params, rank int32, rule trace.PollAnswers) []string {
	t.Helper()
	text := list(t, tracetest.Open(t, generate(t, p, Options{})), rank, rule)
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")[1:]
}

// matching returns the lines that a regular expression matches.
func matching(lines []string, pattern string) []string {
	re := regexp.MustCompile(pattern)
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !re.MatchString(line) })
}

// contains reports whether want stands in lines, in a row.
func contains(lines, want []string) bool {
	for i := range lines {
		if len(lines)-i >= len(want) && slices.Equal(lines[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

func wantLines(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func TestQuirk01ZeroSizedKernelsAreCalled(t *testing.T) {
	// One panel of 4 columns in two halves: the first has nothing before it.
	got := matching(lines(t, small(4, 4, 1, 1), 0, trace.Hit{}), "^(dtrsm|dgemm|dlacpy)")
	wantLines(t, got, []string{
		"dtrsm L L N U 0 2", "dgemm N N 4 2 0", "dlacpy 0 2",
		"dtrsm L L N U 2 2", "dgemm N N 2 2 2", "dlacpy 2 2",
		// The update of the right-hand side.
		"dtrsm L L N U 4 1", "dgemm N N 0 1 4",
	})
}

// stubborn fails each poll a number of times after the work has run out.
type stubborn struct{ spins, left int }

func (s *stubborn) Answer(a *trace.Action) (bool, error) {
	if a.Flags&trace.FlagSpin == 0 {
		return false, nil
	}
	if s.left == 0 {
		s.left = s.spins
		return true, nil
	}
	s.left--
	return false, nil
}

func (s *stubborn) Finish() error { return nil }

func TestQuirk02BusyWaitCallsEmptyKernels(t *testing.T) {
	// Rank 1 of a 1x2 grid receives panels 0, 2, ... Panel 1 updates, while panel 2
	// (at column 8) is pending, columns 12 to 15 and, if N/NB is odd, the right-hand
	// side: with N = 16, NB = 4 rank 1 owns columns 4-7 and 12-15.
	p := small(16, 4, 1, 2)
	p.Depth = 1
	got := lines(t, p, 1, &stubborn{spins: 3, left: 3})
	want := []string{
		"begin pdupdateNN panel=4 bcast=8 NN=4 n=4",
		"miss 0 2004 row x1",
		"dlaswp00N 4 4", "dtrsm L L N U 4 4", "dgemm N N 8 4 4",
		"miss 0 2004 row x1",
		"dlaswp00N 4 0", "dtrsm L L N U 4 0", "dgemm N N 8 0 4",
		"miss 0 2004 row x2",
		"dlaswp00N 4 0", "dtrsm L L N U 4 0", "dgemm N N 8 0 4",
		"begin bcast 8",
	}
	if !contains(got, want) {
		t.Errorf("not found:\n\t%s\nin\n\t%s", strings.Join(want, "\n\t"), strings.Join(got, "\n\t"))
	}
}

func TestQuirk03PivotExchangeMovesFullRows(t *testing.T) {
	// Panels of 8 columns, leaves of 2: sizes are those of 8 columns everywhere:
	// a candidate of 8*(8+4) bytes one way, with the current row 8*(16+4) the other.
	got := matching(lines(t, small(16, 8, 2, 1), 0, trace.Hit{}), "^(begin|end) pdmxswp|^(send|irecv) .* 1001 col")
	var sizes []string
	inside := false
	for _, line := range got {
		switch {
		case strings.HasPrefix(line, "begin"):
			inside = true
		case strings.HasPrefix(line, "end"):
			inside = false
		case inside:
			sizes = append(sizes, strings.Fields(line)[0]+" "+strings.Fields(line)[2])
		}
	}
	var want []string
	for range 8 { // process row 0 owns panel 0
		want = append(want, "irecv 96", "send 160")
	}
	for range 8 {
		want = append(want, "irecv 160", "send 96")
	}
	wantLines(t, sizes, want)
}

func TestQuirk04ExtraProcessesTalkTwice(t *testing.T) {
	// The example of the control flow: P = 6, w = 32; distances are ranks here.
	exchange := func(peer, out, in int) []string {
		return []string{fmt.Sprintf("irecv %d %d 1001 col", peer, in), fmt.Sprintf("send %d %d 1001 col", peer, out), fmt.Sprintf("wait recv %d %d 1001", peer, in)}
	}
	send := func(peer, out int) []string { return []string{fmt.Sprintf("send %d %d 1001 col", peer, out)} }
	recv := func(peer, in int) []string { return []string{fmt.Sprintf("recv %d %d 1001 col", peer, in)} }
	want := [][]string{
		slices.Concat(exchange(4, 256, 288), exchange(1, 544, 288), exchange(2, 544, 288), send(4, 288)),
		slices.Concat(recv(5, 288), exchange(0, 288, 544), exchange(3, 544, 288), send(5, 288)),
		slices.Concat(exchange(3, 288, 288), exchange(0, 288, 544)),
		slices.Concat(exchange(2, 288, 288), exchange(1, 288, 544)),
		slices.Concat(exchange(0, 288, 256), send(5, 256), recv(0, 288)),
		slices.Concat(send(1, 288), recv(4, 256), recv(1, 288)),
	}
	p := small(64, 32, 6, 1)
	for rank := range want {
		got := lines(t, p, int32(rank), trace.Hit{})
		begin, end := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, "begin pdmxswp") }), slices.Index(got, "end pdmxswp")
		wantLines(t, matching(got[begin:end], "^(irecv|send|recv|wait)"), want[rank])
	}
}

func TestQuirk05LookAheadSkipsATag(t *testing.T) {
	p := small(12, 4, 1, 2)
	p.Depth = 1
	wantLines(t, matching(lines(t, p, 0, trace.Hit{}), "^(send|recv) .* 20.. row"),
		// Panels of 12, 8 and 4 rows: (rows below*4 + 4*4 + 4 + 1) * 8 bytes.
		[]string{"send 1 424 2001 row", "recv 1 296 2003 row", "send 1 168 2004 row"})

	// Deeper than the matrix has panels: an empty panel is 1 double.
	p = small(4, 4, 1, 2)
	p.Depth = 2
	wantLines(t, matching(lines(t, p, 0, trace.Hit{}), "^(send|recv) .* 20.. row"), []string{"send 1 168 2001 row", "recv 1 8 2002 row"})
}

func TestQuirk06RightHandSideIsAColumn(t *testing.T) {
	// In blocks of 4 on 1x3: with N = 8 the right-hand side opens block 2, on column 2; with N = 7 it is the last
	// column of block 1.
	for n, columns := range map[int][]string{8: {"n=0", "n=4", "n=1"}, 7: {"n=0", "n=4", "n=0"}} {
		for rank, want := range columns {
			got := matching(lines(t, small(n, 4, 1, 3), int32(rank), trace.Hit{}), "^begin pdupdate.*panel=0 ")
			if len(got) != 1 || !strings.HasSuffix(got[0], " "+want) {
				t.Errorf("N = %d, rank %d: %v, want %s", n, rank, got, want)
			}
		}
	}
}

func TestQuirk07RepeatedPivotsCountOnce(t *testing.T) {
	// One panel of 4 columns at row 0; row 5 is on process row 1, row 9 on 2.
	g := &grid{n: 12, nb: 4, p: 3, q: 1}
	count := func(rows ...int32) []int64 {
		k := make([]int64, 3)
		(&pivotRows{n: 12, Pivots: Pivots{Kind: GivenPivots, Rows: rows}}).count(k, g, 0, 4)
		return k
	}
	if got := count(5, 5, 9, 5); !slices.Equal(got, []int64{4, 1, 1}) {
		t.Errorf("K = %v, want [4 1 1]", got)
	}
	if got := count(0, 3, 2, 3); !slices.Equal(got, []int64{4, 0, 0}) {
		t.Errorf("pivots in the block: K = %v, want [4 0 0]", got)
	}

	// Equal counts, equal traces, but for the roles.
	list := func(rows ...int32) []string {
		p := small(12, 4, 3, 1)
		p.Pivots = Pivots{Kind: GivenPivots, Rows: append(rows, 4, 5, 6, 7, 8, 9, 10, 11)}
		return slices.DeleteFunc(lines(t, p, 1, trace.Hit{}), func(s string) bool { return strings.HasPrefix(s, "dlocswp") })
	}
	wantLines(t, list(5, 5, 9, 3), list(1, 10, 6, 6))
}

func TestQuirk08EquilibrationIgnoresTheLastPosition(t *testing.T) {
	// jb = 10 on 3 process rows: even shares are 4, 3, 3.
	if v := newLayout([]int64{0, 4, 2}, 0, 10, true); v.uneven {
		t.Errorf("lengths %v: want nothing to even out: only the last one is odd", v.lengths)
	}
	if v := newLayout([]int64{0, 5, 1}, 0, 10, true); !v.uneven || !slices.Equal(v.equal, []int64{4, 3, 3}) {
		t.Errorf("lengths %v become %v (uneven %t), want 4, 3, 3", v.lengths, v.equal, v.uneven)
	}
}

func TestQuirk09MixedSwapGoesByColumnsOfTheCall(t *testing.T) {
	// With look-ahead, panel 0 updates the 4 columns of panel 1 first, then the rest:
	// process column 1 of 2 owns columns 4-7, 12-15, ..., 28-31.
	p := small(32, 4, 2, 2)
	p.Depth, p.Swap, p.SwapThreshold = 1, Mix, 4
	got := matching(lines(t, p, 1, trace.Hit{}), "^begin pdlaswp.* panel=0 ")
	wantLines(t, got, []string{"begin pdlaswp00N panel=0 n=4", "begin pdlaswp01N panel=0 n=12"})
}

func TestQuirk10SynchronousSendsAreForLongBroadcasts(t *testing.T) {
	for b := OneRing; b <= LongM; b++ {
		p := small(24, 4, 2, 3)
		p.Bcast, p.Depth = b, 1
		for rank := range int32(6) {
			got := matching(lines(t, p, rank, trace.Hit{}), "^i?ssend")
			if b.IsLong() == (len(got) == 0) {
				t.Errorf("%v, rank %d: %d synchronous sends", b, rank, len(got))
			}
			for _, line := range got {
				if !strings.HasSuffix(line, " row") {
					t.Errorf("%v, rank %d: %s", b, rank, line)
				}
			}
		}
	}
}

func TestQuirk11NextColumnNeverForwards(t *testing.T) {
	for _, b := range []Bcast{OneRingM, TwoRingM} {
		for q := 2; q < 12; q++ {
			p := small(4, 4, 1, q)
			p.Bcast = b
			if newLibrary(&p, nil).ringForwards(1) {
				t.Errorf("%v, Q = %d: x = 1 forwards", b, q)
			}
		}
	}
}

func TestQuirk12ChunksAreNBWide(t *testing.T) {
	// The last panel has 2 columns, chunks have 4.
	data := generate(t, small(6, 4, 1, 1), Options{})
	program := tracetest.Open(t, data).Program()
	seen := map[int64]bool{}
	for i := range program.NumBlocks() {
		b := program.Block(i)
		var walk func(items []trace.Item)
		walk = func(items []trace.Item) {
			for _, it := range items {
				if it.Op == trace.OpWork {
					seen[it.Args[1].Const] = true
				}
				walk(it.Body)
			}
		}
		walk(b.Items)
	}
	if len(seen) != 1 || !seen[4] {
		t.Errorf("chunks %v, want 4 only", seen)
	}
}

func TestQuirk13ProcessesWithoutRowsTakePart(t *testing.T) {
	// Process row 2 of 3 has no rows of an 8 x 8 matrix in blocks of 4.
	got := lines(t, small(8, 4, 3, 1), 2, trace.Hit{})
	if n := len(matching(got, "^idamax")); n != 0 {
		t.Errorf("%d idamax, want none", n)
	}
	if n := len(matching(got, "^begin pdmxswp 0 ")); n != 8 {
		t.Errorf("%d pivot exchanges, want 8", n)
	}
	if n := len(matching(got, "^dlocmax 0 ")); n != 8 {
		t.Errorf("%d dlocmax, want 8", n)
	}
}

func TestQuirk14LookAheadNeedsColumns(t *testing.T) {
	deep := small(20, 4, 2, 1)
	deep.Depth = 2
	wantLines(t, lines(t, deep, 1, trace.Hit{}), lines(t, small(20, 4, 2, 1), 1, trace.Hit{}))
}

// must returns a value that tests need.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
