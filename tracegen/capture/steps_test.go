package capture

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/trace"
)

// script makes steps of words: S3 sends to rank 3, R3 receives from it, I32 and W2 are a receive
// that is begun, with request 2, and its end, B is a barrier of all, C and D are computations. S308 has 8 bytes.
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
			step.args[argPeer] = trace.FloatArg(1000 * float64(word[0]))
		case trace.KindSend, trace.KindRecv, trace.KindIrecv:
			step.args[argPeer], step.request, step.args[argBytes] = digit(1), int32(digit(2)), digit(3)
		}
		f.add(s.table.number(step))
	}
	s.ranks = append(s.ranks, f.items)
}

// times repeats words.
func times(n int, words ...string) []string { return slices.Repeat(words, n) }

func newScript() *script {
	t := newTable()
	return &script{table: t, loops: newLoops(t)}
}

func (s *script) find() ([]outline, int, error) {
	st := &stepper{table: s.table, loops: s.loops, ranks: s.ranks}
	return st.find(onWorld(s.table, len(s.ranks)))
}

// onWorld matches the steps of ranks that know one communicator, of all.
func onWorld(t *table, ranks int) matching {
	return newMatching(t, []trace.CommFamily{{Groups: []trace.Group{{Stride: 1, Count: int32(ranks)}}}}, ranks)
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
		a := newAbreast(onWorld(s.table, len(ranks)), len(ranks))
		for rank, o := range ranks {
			all := slices.Concat(s.loops.steps(o.before), slices.Repeat(s.loops.steps(o.step), steps),
				s.loops.steps(slices.Concat(o.marked...)), s.loops.steps(o.after))
			if want := s.loops.steps(s.ranks[rank]); !slices.Equal(all, want) {
				t.Errorf("%s: rank %d: steps %v, want %v", c.name, rank, all, want)
			}
			for _, n := range slices.Concat(s.loops.steps(o.before), s.loops.steps(o.step)) {
				a.step(rank, &s.table.steps[n])
			}
		}
		for rank := range ranks {
			if steps > 0 && a.behind(rank) {
				t.Errorf("%s: something is under way behind the first step", c.name)
			}
		}
	}
}

// TestDifferentSteps: n turns of a loop give n-1 steps, though sizes differ, every twentieth turn has three more messages,
// every tenth a barrier, and rank 0 does something else before the loop. No message is under way where a step ends. Turns
// that compute up to 13 times as long as others are no steps.
func TestDifferentSteps(t *testing.T) {
	for _, c := range []struct {
		name         string
		turns, steps int
		forms, sizes bool
		longest      int // computations of a turn, 1 or a square modulo this number
	}{
		{"forms and sizes", 300, 299, true, true, 1},
		{"few", 100, 99, true, true, 1},
		{"loops in a loop", 100, 99, true, false, 1},
		{"sizes", 100, 99, false, true, 1},
		{"any times", 300, 0, false, true, 13},
	} {
		s, random := newScript(), rand.New(rand.NewPCG(1, 2))
		var words [2][]string
		add := func(times int, list ...string) {
			for rank := range words {
				words[rank] = append(words[rank], slices.Repeat(strings.Fields(list[rank]), times)...)
			}
		}
		add(1, "B D R1 R1 B", "B S0 S0 B")
		for turn := range c.turns {
			n := "0"
			if c.sizes {
				n = string(rune('0' + random.IntN(10)))
			}
			if c.forms && turn%20 == 19 {
				add(3, "R1", "S00"+n)
			}
			add(1, "S10"+n, "R0")
			add(max(1, turn*turn%c.longest), "C", "C")
			add(1, "R1", "S00"+n)
			if c.forms && turn%10 == 9 {
				add(1, "B", "B")
			}
		}
		s.rank(words[0]...)
		s.rank(words[1]...)
		ranks, steps, err := s.find()
		if steps != c.steps || (err == nil) != (c.steps > 0) {
			t.Errorf("%s: %d steps, %v, want %d", c.name, steps, err, c.steps)
			continue
		}
		a := newAbreast(onWorld(s.table, 2), 2)
		for n := range steps {
			for rank, o := range ranks {
				part := o.marked[n]
				if n == 0 {
					part = slices.Concat(o.before, part)
				}
				for _, step := range s.loops.steps(part) {
					a.step(rank, &s.table.steps[step])
				}
			}
			if a.behind(0) || a.behind(1) {
				t.Fatalf("%s: something is under way behind step %d", c.name, n)
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

// folded folds steps of a table.
func folded(t *table, steps ...int32) *folder {
	f := newFolder(newLoops(t))
	for _, s := range steps {
		f.add(s)
	}
	return f
}

// TestFold: loops in loops take as many items whatever their turns, and say what was added.
func TestFold(t *testing.T) {
	for _, turns := range []int{3, 10, 300} {
		var steps []int32
		for range turns {
			steps = append(steps, 1)
			for range 5 {
				steps = append(steps, 2, 3, 2, 4)
			}
			steps = append(steps, 5)
		}
		steps = append(steps, 6)
		f := folded(numbered(10), steps...)
		if len(f.items) != 2 || f.items[0].turns != int32(turns) || len(f.loops.bodies[f.items[0].what].items) != 3 {
			t.Errorf("%d turns: %v of %v", turns, f.items, f.loops.bodies)
		}
		if err := f.check(outline{before: f.items}, 0); err != nil {
			t.Error(err)
		}
	}
}

// numbered returns a table of so many different steps.
func numbered(n int64) *table {
	t := newTable()
	for i := range n {
		t.number(step{args: [numArgs]int64{i}})
	}
	return t
}

// TestFoldLimits: three times a sequence is a loop, whose turns may be thousands of different steps, up to the longest,
// with so many different lists of counts. A body that is too large for a block of the trace stays steps.
func TestFoldLimits(t *testing.T) {
	large := newTable()
	slots := large.list(make([]int64, mostBytes/500/5))
	for i := range int64(500) {
		large.number(step{form: form{slots: slots}, args: [numArgs]int64{i}})
	}
	counted := func(lists int) *table {
		t := newTable()
		for i := range lists {
			t.number(step{lists: [2]int32{0, int32(1 + i)}})
		}
		return t
	}
	for _, c := range []struct {
		name  string
		table *table // of the steps of a turn
		loop  bool
	}{
		{"long", numbered(3000), true},
		{"longest", numbered(mostPeriod), true},
		{"too long", numbered(mostPeriod + 1), false},
		{"large", large, false},
		{"lists", counted(mostLists), true},
		{"too many lists", counted(mostLists + 1), false},
	} {
		var steps []int32
		for n := range c.table.steps {
			steps = append(steps, int32(n))
		}
		f := folded(c.table, slices.Repeat(steps, 3)...)
		items, bodies := 3*len(steps), 0
		if c.loop {
			items, bodies = 1, 1
		}
		if len(f.items) != items || len(f.loops.bodies) != bodies {
			t.Errorf("%s: %d items, want %d; %d bodies, want %d", c.name, len(f.items), items, len(f.loops.bodies), bodies)
		}
	}
}

// TestFoldRandom: of any sequence, expanding yields what was added, and two parts of it are what they were, wherever
// it is split.
func TestFoldRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		f := newFolder(newLoops(numbered(10)))
		kinds, most := 1+random.Int32N(4), 2000
		if i < 200 {
			most = 100
		}
		for range random.IntN(most) {
			f.add(random.Int32N(kinds))
		}
		if err := f.check(outline{before: f.items}, 0); err != nil {
			t.Fatal(err)
		}
		all := f.loops.steps(f.items)
		if n := f.loops.length(f.items); n != int64(len(all)) {
			t.Fatalf("length %d of %d steps", n, len(all))
		}
		for at := 0; at <= len(all) && most == 100; at++ {
			head, tail := f.loops.split(f.items, int64(at))
			if !slices.Equal(f.loops.steps(head), all[:at]) || !slices.Equal(f.loops.steps(tail), all[at:]) {
				t.Fatalf("%v at %d: %v and %v", f.items, at, head, tail)
			}
		}
	}
}

// TestShareRandom: whatever is shared, expanding yields what it was; a part of its own is not
// parted again, so that blocks end.
func TestShareRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		f := newFolder(newLoops(numbered(40)))
		phrases := make([][]int32, 3)
		for i := range phrases {
			for range 1 + random.IntN(300) {
				phrases[i] = append(phrases[i], random.Int32N(40))
			}
		}
		for range 1 + random.IntN(10) {
			for _, step := range phrases[random.IntN(len(phrases))] {
				f.add(step)
			}
			f.add(random.Int32N(40))
		}
		s := newSharing(f.loops)
		s.count(f.items)
		shared := s.share(f.items)
		if got, want := f.loops.steps(shared), f.loops.steps(f.items); !slices.Equal(got, want) {
			t.Fatalf("%v is %v", want, got)
		}
		for _, it := range shared {
			if it.turns == 1 && !slices.Equal(s.share(f.loops.bodies[it.what].items), f.loops.bodies[it.what].items) {
				t.Fatalf("the part %v is parted again", f.loops.bodies[it.what].items)
			}
		}
	}
}

// TestShareApart: what comes twice with something else between is said once, but for its ends.
func TestShareApart(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	f := newFolder(newLoops(numbered(1000)))
	phrase := random.Perm(900)
	for range 2 {
		for _, step := range phrase {
			f.add(int32(step))
		}
		f.add(950)
		f.add(int32(951 + f.steps%7))
	}
	s := newSharing(f.loops)
	s.count(f.items)
	if n := len(s.share(f.items)); n > len(f.items)/partLeast {
		t.Errorf("%d items are %d", len(f.items), n)
	}
}

// TestPlay: what two ranks did comes to an end in its order, or not. Fences wait for both ranks, starts for
// posts, waits for completes, and long sends for their receives.
func TestPlay(t *testing.T) {
	sync := func(kind trace.SyncKind, peer, window int64) step {
		s := step{form: form{kind: trace.KindSync, sync: kind}}
		s.args[argPeer], s.args[argTag] = peer, window
		return s
	}
	message := func(kind trace.Kind, peer, bytes int64) step {
		s := step{form: form{kind: kind}}
		s.args[argPeer], s.args[argBytes] = peer, bytes
		return s
	}
	const fence, post, start, complete, wait = trace.SyncFence, trace.SyncPost, trace.SyncStart, trace.SyncComplete, trace.SyncWait
	for _, c := range []struct {
		name  string
		ranks [2][]step
		ends  bool
	}{
		{"fences in one order", [2][]step{{sync(fence, 0, 0), sync(fence, 0, 1)}, {sync(fence, 0, 0), sync(fence, 0, 1)}}, true},
		{"fences in two orders", [2][]step{{sync(fence, 0, 0), sync(fence, 0, 1)}, {sync(fence, 0, 1), sync(fence, 0, 0)}}, false},
		{"rank 0 exposes", [2][]step{{sync(post, 1, 0), sync(wait, 1, 0)}, {sync(start, 0, 0), sync(complete, 0, 0)}}, true},
		{"rank 1 exposes", [2][]step{{sync(start, 1, 0), sync(complete, 1, 0)}, {sync(post, 0, 0), sync(wait, 0, 0)}}, true},
		{"nobody exposes", [2][]step{{sync(start, 1, 0), sync(complete, 1, 0)}, {}}, false},
		{"nobody completes", [2][]step{{sync(post, 1, 0), sync(wait, 1, 0)}, {sync(start, 0, 0)}}, false},
		{"short sends", [2][]step{{message(trace.KindSend, 1, 8), message(trace.KindRecv, 1, 8)},
			{message(trace.KindSend, 0, 8), message(trace.KindRecv, 0, 8)}}, true},
		{"long sends", [2][]step{{message(trace.KindSend, 1, rendezvous), message(trace.KindRecv, 1, rendezvous)},
			{message(trace.KindSend, 0, rendezvous), message(trace.KindRecv, 0, rendezvous)}}, false},
	} {
		table := newTable()
		ranks := make([][]int32, 2)
		for rank, steps := range c.ranks {
			for _, s := range steps {
				ranks[rank] = append(ranks[rank], table.number(s))
			}
		}
		err := newPlay(onWorld(table, 2), ranks).run()
		if (err == nil) != c.ends {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestContinues: a wait goes on with a drain of which two of three are left if it is for two of
// those, not if it is for two others, of which one is in slot 4.
func TestContinues(t *testing.T) {
	d := drain{slots: []int64{1, 3, 5}, left: 2}
	for _, c := range []struct {
		pending []int64
		want    bool
	}{{[]int64{1, 5}, true}, {[]int64{3, 5}, true}, {[]int64{4, 5}, false}, {[]int64{5}, false}, {[]int64{1, 3, 5}, false}} {
		if got := d.continues(c.pending); got != c.want {
			t.Errorf("%v of %v: %v", c.pending, d.slots, got)
		}
	}
}

// TestStepMark: steps begin at each barrier, though they have two forms; what comes before the first is step 0. Ranks
// that come to a mark another number of times, or with a message under way, are refused.
func TestStepMark(t *testing.T) {
	mark := func(s *script) ([]outline, int, error) {
		st := &stepper{table: s.table, loops: s.loops, ranks: s.ranks}
		return st.marked(onWorld(s.table, len(s.ranks)), "barrier", func(s *step) bool { return s.kind == trace.KindCollective })
	}
	s := newScript()
	s.rank("C", "B", "S1", "B", "S1", "D", "B", "S1")
	s.rank("B", "R0", "B", "R0", "B", "R0")
	ranks, steps, err := mark(s)
	if err != nil || steps != 3 {
		t.Fatalf("%d steps, %v, want 3", steps, err)
	}
	for rank, want := range [][]int64{{1, 2, 3, 2}, {0, 2, 2, 2}} {
		got := []int64{s.loops.length(ranks[rank].before)}
		for _, part := range ranks[rank].marked {
			got = append(got, s.loops.length(part))
		}
		if !slices.Equal(got, want) {
			t.Errorf("rank %d: parts of %d actions, want %d", rank, got, want)
		}
	}
	for want, words := range map[string][]string{
		"rank 0 comes to it 2 times, rank 1 1 times": {"B", "C"},
		"rank 1 has messages":                        {"B", "B", "R0"},
	} {
		s := newScript()
		s.rank("B", "S1", "B")
		s.rank(words...)
		if _, _, err := mark(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
