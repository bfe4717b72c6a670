package record

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/internal/tracetest"
	"reprise/replay"
	"reprise/trace"
)

// posted is a message of a random program.
type posted struct {
	src, dst int32
	bytes    int64
}

// program is what ranks do at random: they compute, sleep, pass messages on around a ring,
// enter and leave phases, step by step.
type program struct {
	*rand.Rand
	lists    [][]trace.Action
	messages []posted
}

func newProgram(seed uint64, ranks, steps int) *program {
	p := &program{Rand: rand.New(rand.NewPCG(seed, 1)), lists: make([][]trace.Action, ranks)}
	for s := range steps {
		for r := range p.lists {
			p.add(r, step(int64(s)))
		}
		for range p.IntN(4) {
			p.round(1 + p.IntN(ranks))
		}
	}
	return p
}

func (p *program) add(rank int, actions ...trace.Action) {
	p.lists[rank] = append(p.lists[rank], actions...)
}

// round has each rank send to the one that is so far away.
func (p *program) round(distance int) {
	n := len(p.lists)
	sizes := make([]int64, n)
	for r := range sizes {
		sizes[r] = []int64{0, 1, 1000, 100000, 1000000}[p.IntN(5)]
	}
	for r := range p.lists {
		for range p.IntN(4) {
			p.some(r)
		}
		to, from := (r+distance)%n, (r+n-distance%n)%n
		p.messages = append(p.messages, posted{int32(r), int32(to), sizes[r]})
		p.add(r, irecv(0, int32(from), 0, sizes[from]), send(int32(to), 0, sizes[r]), wait(0))
	}
}

func (p *program) some(rank int) {
	switch p.IntN(3) {
	case 0:
		p.add(rank, flops(p.Float64()*1e-3))
	case 1:
		p.add(rank, sleep(p.Float64()*1e-3))
	default:
		p.add(rank, phase(uint16(p.IntN(3)), p.IntN(2) == 0))
	}
}

// TestRandom: sums, matrices, traffic and links of random programs, by steps and by time.
func TestRandom(t *testing.T) {
	for seed := range uint64(40) {
		ranks, perHost := 2+int(seed%5), 1+int(seed%2)
		p := newProgram(seed, ranks, 6)
		b := newBench(t, cluster(ranks), ranks, perHost, "smpi/os:0:1e-6:1e-10", "smpi/or:0:1e-6:0", "smpi/async-small-thresh:5000")
		b.Header.Phases, b.Header.Steps = []string{"a", "b", "c"}, 6
		b.lists(p.lists...)
		if seed%3 == 0 {
			b.Header.Steps = 0
		}
		d := newDiary()
		res, r, data := b.record(t, d.observer())
		checkSums(t, r, data, res)
		checkTraffic(t, data, all(res))
		checkMatrix(t, data, d)
		checkMessages(t, b, r, p.messages)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// checkMessages compares who has sent to whom, and what links have carried, with messages.
func checkMessages(t *testing.T, b *bench, r *Recorder, messages []posted) {
	t.Helper()
	counts, carried := map[[2]int32]sent{}, map[int32]float64{}
	for _, m := range messages {
		c := counts[[2]int32{m.src, m.dst}]
		counts[[2]int32{m.src, m.dst}] = sent{c.messages + 1, c.bytes + m.bytes}
		route, err := b.Machine.Platform.AppendRoute(nil, int(b.Machine.Hosts[m.src]), int(b.Machine.Hosts[m.dst]))
		noError(t, err)
		for _, l := range route {
			carried[l] += float64(m.bytes + envelope)
		}
	}
	for pair, got := range r.traffic[0].sent {
		of := [2]int32{int32(pair / len(r.ranks)), int32(pair % len(r.ranks))}
		if want := counts[of]; got != want {
			t.Errorf("rank %d to %d: %+v, want %+v", of[0], of[1], got, want)
		}
	}
	for i := range r.links.rows {
		row := &r.links.rows[i]
		if want := carried[row.number]; math.Abs(row.bytes-want) > 1e-6*want+float64(len(messages)) {
			t.Errorf("link %d: %v bytes, want %v", row.number, row.bytes, want)
		}
		delete(carried, row.number)
	}
	if len(carried) > 0 {
		t.Errorf("nothing of links %v", carried)
	}
}

// TestWild: of traces that do what bytes say, which end soon or are stopped.
func TestWild(t *testing.T) {
	random, played, wild := rand.New(rand.NewPCG(1, 2)), 0, []string{"smpi/iprobe:1e-5", "smpi/test:1e-5", "smpi/os:0:1e-6:0"}
	for i := range 1000 {
		data := make([]byte, 20+random.IntN(200))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		file, err := tracetest.Wild(data, 5)
		if err != nil {
			continue
		}
		b := newBench(t, cluster(tracetest.WildRanks), tracetest.WildRanks, 1+i%2, wild...).file(t, file)
		b.kernels(t, `"*": {terms: {N: 1e-5}}`)
		r, arrived, pauses := b.recorder(), newArrivals(), 0
		o := b.Replay
		o.Observers = []replay.Observer{r.Observer(), arrived.observer()}
		o.Checkpoints = &replay.Checkpoints{Write: func(*replay.Pause) error {
			if pauses++; pauses > 1000 {
				return errStop
			}
			return nil
		}}
		res, err := b.play(t, o)
		if err != nil && !errors.Is(err, errStop) {
			continue
		}
		played++
		d := dataOf(t, r)
		checkSums(t, r, d, res)
		checkTraffic(t, d, arrived)
		if t.Failed() {
			t.Fatalf("of %v", data)
		}
	}
	if played < 20 {
		t.Errorf("%d traces played", played)
	}
}
