package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/internal/tracetest"
	"reprise/trace"
)

// appendCall appends a call with some arguments to what a rank has recorded, so many ns after the call before it.
func appendCall(records []byte, ns int, p procedureNumber, arguments ...int) []byte {
	records = append(binary.AppendUvarint(records, uint64(ns)*2<<1), byte(p))
	for _, n := range arguments {
		records = binary.AppendUvarint(records, uint64(n))
	}
	return records
}

// ringOf returns the trace of a ring of ranks, each of which computes 1 us and 10 ns for each rank before it, sends to
// the next rank and receives from the one before, a number of times. Rank 0 sends twice as much.
func ringOf(t *testing.T, ranks, turns int) []byte {
	t.Helper()
	var files [][]byte
	for rank := range ranks {
		var records []byte
		add := func(ns int, p procedureNumber, numbers ...int) { records = appendCall(records, ns, p, numbers...) }
		next, before := (rank+1)%ranks, (rank+ranks-1)%ranks
		count := func(rank int) int { return 5 + 5*max(0, 1-rank) }
		for range turns {
			add(1000+10*rank, procSend, 1, 2*next, 14, count(rank), 8)
			add(1000+10*rank, procRecv, 1, 2*before, 14, count(before), 8, 0)
		}
		add(10, procFinalize, 0)
		files = append(files, recordingOf(int32(ranks), int32(rank), records))
	}
	return mergedOf(t, files)
}

// mergedOf returns the trace of recordings.
func mergedOf(t *testing.T, files [][]byte) []byte {
	t.Helper()
	var file bytes.Buffer
	if _, err := Merge(writeRecordings(t, files...), &file, Options{Rate: 1e9}); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestAlike: ranks that do the same share blocks, which are as many for 64 ranks as for 16 and for 1,000 turns as for 10.
// All actions are those of each rank; each of its two computations is off by at most a hundredth of what the busiest rank
// computes.
func TestAlike(t *testing.T) {
	blocks := 0
	for _, c := range []struct{ ranks, turns int }{{16, 10}, {16, 1000}, {64, 10}} {
		file := tracetest.Open(t, ringOf(t, c.ranks, c.turns))
		if n := file.Program().NumBlocks(); blocks == 0 {
			blocks = n
		} else if n != blocks {
			t.Errorf("%d ranks, %d turns: %d blocks, %d before", c.ranks, c.turns, n, blocks)
		}
		most := float64(c.turns * 2 * (1000 + 10*c.ranks))
		for rank, cursor := range must(file.Cursors(nil, trace.CursorOptions{})) {
			var messages []trace.Action
			amounts := 0.0
			list := make([]trace.Action, 64)
			for n := must(cursor.Fill(list)); n > 0; n = must(cursor.Fill(list)) {
				for _, a := range list[:n] {
					switch a.Kind {
					case trace.KindFlops:
						amounts += a.Flops()
					case trace.KindSend, trace.KindRecv:
						messages = append(messages, a)
					}
				}
			}
			if want := float64(c.turns * 2 * (1000 + 10*rank)); math.Abs(amounts-want) > 0.02*most {
				t.Errorf("rank %d of %d computes %g, want %g", rank, c.ranks, amounts, want)
			}
			if len(messages) != 2*c.turns {
				t.Fatalf("rank %d of %d: %d messages", rank, c.ranks, len(messages))
			}
			next, before := (rank+1)%c.ranks, (rank+c.ranks-1)%c.ranks
			for i, a := range messages {
				kind, peer, from := trace.KindSend, next, rank
				if i%2 == 1 {
					kind, peer, from = trace.KindRecv, before, before
				}
				bytes := int64(40)
				if from == 0 {
					bytes = 80
				}
				if a.Kind != kind || int(a.Peer) != peer || a.X[0] != bytes {
					t.Fatalf("rank %d of %d: %v of %d bytes with %d", rank, c.ranks, a.Kind, a.X[0], a.Peer)
				}
			}
		}
	}
}

// TestSizes: 144 ranks in a square of 12 x 12 have twelve cells each, of sizes that go round with the place. In each step
// they send all of them to the right, left, down and up; before the first step once in another order. Each computation
// takes 1 to 1.5 us. The trace takes at most 16 kB and 4 bytes a rank, however many steps there are.
func TestSizes(t *testing.T) {
	const p = 12
	for _, steps := range []int{5, 50} {
		var files [][]byte
		for rank := range p * p {
			var records []byte
			random := rand.New(rand.NewPCG(1, uint64(rank)))
			add := func(p procedureNumber, numbers ...int) {
				records = appendCall(records, 1000+random.IntN(500), p, numbers...)
			}
			x, y := rank%p, rank/p
			shift := func(way, cell int) {
				at := func(by int) int {
					if way < 2 {
						return y*p + (x+by+p)%p
					}
					return (y+by+p)%p*p + x
				}
				// The first 7 cells in a direction have one point more.
				size := func(rank int) int {
					n := 2 + way
					if (rank%p+rank/p*(1+way)+cell)%p < 7 {
						n++
					}
					return n * n
				}
				by := 1 - way%2*2
				add(procSend, 1, 2*at(by), 14, size(rank), 8)
				add(procRecv, 1, 2*at(-by), 14, size(at(-by)), 8, 0)
			}
			for way := range 4 {
				for cell := range p {
					shift(3-way, cell)
				}
			}
			for range steps {
				add(procBarrier, 1)
				for way := range 4 {
					for cell := range p {
						shift(way, cell)
					}
				}
			}
			add(procFinalize, 0)
			files = append(files, recordingOf(p*p, int32(rank), records))
		}
		if n := len(mergedOf(t, files)); n > 16_000+4*p*p {
			t.Errorf("%d steps: %d bytes", steps, n)
		}
	}
}

// TestGuards: ranks in a cube of n x n x n exchange messages with up to 26 neighbours; in each step first all with all, then
// only from those before to those behind, and the other way behind the last step. A send to the next rank is under way from
// the beginning to the end. A neighbour's message has 8 bytes for a corner, 40 for an edge and 200 for a face, tag 3 to 5.
// The trace has a block for each part, in which ranks skip what they do not do, and takes at most 16 kB and 4 bytes a rank, however many steps there are.
func TestGuards(t *testing.T) {
	const first = 9 // tag of the send to the next rank
	for _, c := range []struct{ n, steps int }{{3, 5}, {3, 50}, {4, 5}} {
		ranks, blocks := c.n*c.n*c.n, 0
		var files [][]byte
		var want [][]string // by rank: messages, and the waits for them
		for rank := range ranks {
			var records []byte
			var list []string
			random := rand.New(rand.NewPCG(1, uint64(rank)))
			add := func(p procedureNumber, numbers ...int) {
				records = appendCall(records, 1000+random.IntN(500), p, numbers...)
			}
			var open []string
			begin := func(p procedureNumber, peer, tag, bytes int) {
				kind := trace.KindIsend
				if p == procIrecv {
					kind = trace.KindIrecv
				}
				add(p, 1, 2*peer, 2*tag, bytes, 1)
				open = append(open, fmt.Sprintf("%v %d %d %d", kind, peer, tag, bytes))
				list = append(list, open[len(open)-1])
			}
			wait := func(request int) {
				add(procWait, (len(open)-request)<<4)
				list = append(list, "wait "+open[request])
			}
			// exchange receives from the neighbours of some directions, and sends to those of others.
			exchange := func(tag int, from, to func(direction int) bool) {
				at := len(open)
				for i, uses := range []func(int) bool{from, to} {
					for d := range 27 {
						x, y, z := rank%c.n+d%3-1, rank/c.n%c.n+d/3%3-1, rank/c.n/c.n+d/9-1
						if d == 13 || !uses(d) || min(x, y, z) < 0 || max(x, y, z) == c.n {
							continue
						}
						bytes := 8
						for _, shift := range []int{d % 3, d / 3 % 3, d / 9} {
							bytes *= 1 + 4*(1-(shift-1)*(shift-1))
						}
						begin([]procedureNumber{procIrecv, procIsend}[i], (z*c.n+y)*c.n+x, tag, bytes)
					}
				}
				for ; at < len(open); at++ {
					wait(at)
				}
			}
			begin(procIsend, (rank+1)%ranks, first, 16)
			begin(procIrecv, (rank+ranks-1)%ranks, first, 16)
			wait(1)
			for range c.steps {
				add(procBarrier, 1)
				exchange(3, func(int) bool { return true }, func(int) bool { return true })
				exchange(4, func(d int) bool { return d < 13 }, func(d int) bool { return d > 13 })
			}
			add(procBarrier, 1)
			exchange(5, func(d int) bool { return d > 13 }, func(d int) bool { return d < 13 })
			wait(0)
			add(procFinalize, 0)
			files, want = append(files, recordingOf(int32(ranks), int32(rank), records)), append(want, list)
		}
		data := mergedOf(t, files)
		if most := 16_000 + 4*ranks; len(data) > most {
			t.Errorf("%d ranks, %d steps: %d bytes, at most %d", ranks, c.steps, len(data), most)
		}
		file := tracetest.Open(t, data)
		for n := range file.Program().NumBlocks() {
			if file.Program().Block(n).Name == "ranks" {
				blocks++
			}
		}
		if blocks > 3 { // before the steps, a step, and behind them
			t.Errorf("%d ranks, %d steps: %d blocks of ranks", ranks, c.steps, blocks)
		}
		for rank, cursor := range must(file.Cursors(nil, trace.CursorOptions{})) {
			var got []string
			open, list := map[int32]string{}, make([]trace.Action, 64)
			for n := must(cursor.Fill(list)); n > 0; n = must(cursor.Fill(list)) {
				for _, a := range list[:n] {
					switch a.Kind {
					case trace.KindIsend, trace.KindIrecv:
						if open[a.Req] != "" {
							t.Fatalf("rank %d of %d: request %d is under way", rank, ranks, a.Req)
						}
						open[a.Req] = fmt.Sprintf("%v %d %d %d", a.Kind, a.Peer, a.Tag, a.X[0])
						got = append(got, open[a.Req])
					case trace.KindWait:
						got = append(got, "wait "+open[a.Req])
						delete(open, a.Req)
					}
				}
			}
			if !slices.Equal(got, want[rank]) {
				t.Fatalf("rank %d of %d, %d steps: its messages are others than those recorded", rank, ranks, c.steps)
			}
		}
	}
}
