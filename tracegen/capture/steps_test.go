package capture

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/trace"
)

// script makes steps of words: S3 sends to rank 3, R3 receives from it, I32 and W2 are a receive
// that is begun, with request 2, and its end, B is a barrier of all, C and D are computations.
type script struct {
	table *table
	loops *loops
	ranks [][]item
}

func (s *script) rank(words ...string) {
	f := newFolder(s.loops)
	for _, word := range words {
		step := step{form: form{kind: map[byte]trace.Kind{'S': trace.KindSend, 'R': trace.KindRecv, 'I': trace.KindIrecv, 'W': trace.KindWait,
			'B': trace.KindCollective, 'C': trace.KindFlops, 'D': trace.KindFlops}[word[0]]}}
		digit := func(i int) int64 {
			if i < len(word) {
				return int64(word[i] - '0')
			}
			return 0
		}
		switch step.kind {
		case trace.KindWait:
			step.request = int32(digit(1))
		case trace.KindFlops:
			step.args[argPeer] = int64(word[0])
		case trace.KindSend, trace.KindRecv, trace.KindIrecv:
			step.args[argPeer], step.request = digit(1), int32(digit(2))
		}
		f.add(s.table.number(step))
	}
	s.ranks = append(s.ranks, f.items)
}

// times repeats words.
func times(n int, words ...string) (list []string) {
	for range n {
		list = append(list, words...)
	}
	return list
}

func newScript() *script {
	t := newTable()
	return &script{table: t, loops: newLoops(t)}
}

func (s *script) find() ([]outline, int, error) {
	everybody := trace.CommFamily{Groups: []trace.Group{{Stride: 1, Count: int32(len(s.ranks))}}}
	st := &stepper{table: s.table, loops: s.loops, ranks: s.ranks}
	return st.find(newMatching(s.table, []trace.CommFamily{everybody}, len(s.ranks)))
}

// steps returns the steps of items.
func (l *loops) steps(items []item) (list []int32) {
	w := l.walk(items, 1)
	for n, ok := w.next(); ok; n, ok = w.next() {
		list = append(list, n)
	}
	return list
}

// TestSteps: steps of the run are as many as all ranks begin together, whatever is before and
// behind them and wherever the loop of a rank was found to begin.
func TestSteps(t *testing.T) {
	for _, c := range []struct {
		name   string
		ranks  [][]string
		steps  int
		reason string
	}{
		{"barriers", [][]string{times(9, "C", "B"), times(9, "B")}, 9, ""},
		// In the first turn rank 1 computes something else, so that its loop is found to begin
		// behind that, with its send: the first cut is there, behind the first send of rank 0.
		{"messages", [][]string{times(10, "S1", "R1"), append([]string{"R0", "D", "S0"}, times(9, "R0", "C", "S0")...)}, 9, ""},
		// The first turns of rank 1 are others, so that its loop begins behind them.
		{"late", [][]string{times(20, "S1", "R1"), append(times(6, "R0", "D", "S0"), times(14, "R0", "C", "S0")...)}, 14, ""},
		// A ring in which rank 0 sends first, without any operation.
		{"ring", [][]string{append([]string{"C"}, times(8, "S1", "R2")...), times(8, "R0", "S2"), append(times(8, "R1", "S0"), "C")}, 8, ""},
		// Requests are open from one turn to the next: the cut is where there are none.
		{"requests", [][]string{append(times(8, "I1", "C", "W"), "B"), append(times(8, "S0"), "B")}, 8, ""},
		{"requests open always", [][]string{append(append([]string{"I11"}, times(8, "I1", "W")...), "W1", "B"), append(times(9, "S0"), "B")}, 0, "requests of rank 0 are open wherever its outermost loop begins anew"},
		// Two turns of rank 1 are one of rank 0, which is found to begin with the computation.
		{"two turns", [][]string{times(10, "S1", "C", "S1"), times(20, "R0")}, 9, ""},
		{"few", [][]string{times(3, "B"), times(3, "B")}, 0, "all ranks begin 3 turns of the outermost loop together, fewer than 4"},
		{"no loop", [][]string{times(9, "B"), {"C", "S1", "D", "R1", "B", "W", "C", "B", "S1", "B", "R1", "C"}}, 0, "rank 1 has no loop that holds a tenth of what it does"},
		{"not together", [][]string{times(9, "B", "S1"), times(9, "B")}, 0, "the ranks do not go through their outermost loops together"},
	} {
		s := newScript()
		for _, words := range c.ranks {
			s.rank(words...)
		}
		ranks, steps, err := s.find()
		if steps != c.steps || (err == nil) != (c.reason == "") || err != nil && !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %d steps, %v, want %d, %s", c.name, steps, err, c.steps, c.reason)
			continue
		}
		a := newAbreast(newMatching(s.table, []trace.CommFamily{{Groups: []trace.Group{{Stride: 1, Count: int32(len(ranks))}}}}, len(ranks)), len(ranks))
		for rank, o := range ranks {
			all := slices.Concat(s.loops.steps(o.before), slices.Repeat(s.loops.steps(o.step), steps), s.loops.steps(o.after))
			if want := s.loops.steps(s.ranks[rank]); !slices.Equal(all, want) {
				t.Errorf("%s: rank %d: steps %v, want %v", c.name, rank, all, want)
			}
			for _, n := range slices.Concat(s.loops.steps(o.before), s.loops.steps(o.step)) {
				a.step(rank, &s.table.steps[n])
			}
		}
		if steps > 0 && !a.even() {
			t.Errorf("%s: something is under way behind the first step", c.name)
		}
	}
}

// TestSplit: two parts of items are what they were, wherever they are split.
func TestSplit(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		f := newFolder(newLoops(numbered(10)))
		kinds := 1 + random.Int32N(4)
		for range random.IntN(100) {
			f.add(random.Int32N(kinds))
		}
		all := f.loops.steps(f.items)
		if n := f.loops.length(f.items); n != int64(len(all)) {
			t.Fatalf("length %d of %d steps", n, len(all))
		}
		for at := range len(all) + 1 {
			head, tail := f.loops.split(f.items, int64(at))
			if !slices.Equal(f.loops.steps(head), all[:at]) || !slices.Equal(f.loops.steps(tail), all[at:]) {
				t.Fatalf("%v at %d: %v and %v", f.items, at, head, tail)
			}
		}
	}
}

// TestMarkedSteps: of 20 barriers with computations of 100 to 119 ns before them the outermost loop
// has 19 turns, a barrier and the computation behind it: with the mean of these, or, if each is
// asked for, with its own. The first computation is before the loop, the last barrier behind it.
func TestMarkedSteps(t *testing.T) {
	var records []byte
	for i := range 20 {
		records = call(records, procBarrier, uint64(100+i))
	}
	for _, each := range []bool{false, true} {
		barriers, amounts := map[int64]int{}, map[int64]float64{}
		step := int64(-1)
		for _, a := range mergeRecords(t, Options{Rate: 1e9, EachGap: each}, records, records) {
			switch a.Kind {
			case trace.KindStep:
				step = a.X[0]
			case trace.KindCollective:
				barriers[step]++
			case trace.KindFlops:
				amounts[step] += a.Flops()
			}
		}
		for s := range int64(21) {
			want := 110.0 // the mean of 101 to 119
			switch {
			case s == 20:
				want = 0
			case each || s == 0:
				want = float64(100 + s)
			}
			if barriers[s] != int(min(s, 1)) || amounts[s] != want {
				t.Errorf("each %t, step %d: %d barriers and %g flop, want %g", each, s, barriers[s], amounts[s], want)
			}
		}
		if step != 20 || len(barriers) != 20 {
			t.Errorf("each %t: %d steps, the last is %d", each, len(barriers), step)
		}
	}
}
