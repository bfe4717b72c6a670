package eventlog

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/trace"
)

// model tells a log what ranks do at random, with many messages under way whose numbers are used
// again, and keeps a copy of each path.
type model struct {
	*testing.T
	log     *Log
	random  *rand.Rand
	ranks   []modelRank
	live    []modelMessage
	numbers []int32 // of messages, that may be used again
	next    int32
}

type modelRank struct {
	modelPath
	end    float64
	phases []uint16 // open ones
}

// modelPath is what a path consists of, and where it came to steps.
type modelPath struct {
	spent path
	hops  []Hop
}

func (p modelPath) copied() modelPath { return modelPath{maps.Clone(p.spent), slices.Clone(p.hops)} }

type modelMessage struct {
	modelPath
	number, src, dst int32
	at               float64
	ended            bool
}

const modelProbing = 2 // account

func newModel(t *testing.T, ranks, room int, seed uint64) *model {
	m := &model{
		T: t, log: New(&trace.Header{Ranks: ranks, Phases: make([]string, 3)}, 3, modelProbing, byLink{}),
		random: rand.New(rand.NewPCG(seed, 9)), ranks: make([]modelRank, ranks),
	}
	m.log.records = m.log.records[:room]
	m.log.transfers = make([]Transfer, 0, max(1, room/transferShare))
	for r := range m.ranks {
		m.ranks[r].spent = path{}
	}
	return m
}

// number returns one for a message.
func (m *model) number() int32 {
	if n := len(m.numbers); n > 0 {
		number := m.numbers[n-1]
		m.numbers = m.numbers[:n-1]
		return number
	}
	m.next++
	return m.next - 1
}

func (m *model) oneIn(n int) bool { return m.random.IntN(n) == 0 }

func (m *model) anyRank() int32 { return int32(m.random.IntN(len(m.ranks))) }

// act has a rank do something, and now and then send up to so many messages at once.
func (m *model) act(most int) {
	r := m.anyRank()
	switch k := m.random.IntN(18); {
	case k < 6:
		m.spend(r)
	case k == 6:
		m.log.Step(r, m.ranks[r].end)
		m.ranks[r].hops = append(m.ranks[r].hops, Hop{Rank: r, At: m.ranks[r].end})
	case k == 7:
		m.changePhase(r)
	case k < 11:
		m.post(r)
	case k == 11:
		for range m.random.IntN(most) {
			m.post(r)
		}
	case len(m.live) > 0:
		m.end(m.random.IntN(len(m.live)))
	}
}

// spend has a rank spend some time, perhaps none.
func (m *model) spend(r int32) {
	rk := &m.ranks[r]
	account, seconds := int32(m.random.IntN(3)), float64(m.random.IntN(8))/8
	m.log.Spend(r, account, rk.end, rk.end+seconds)
	if seconds > 0 {
		rk.spent.add(Component{Account: account, Phase: rk.innermost()}, seconds, 1)
	}
	rk.end += seconds
}

func (m *model) changePhase(r int32) {
	phase, end := uint16(m.random.IntN(3)), m.oneIn(2)
	m.log.Phase(r, phase, end)
	rk := &m.ranks[r]
	if end {
		rk.phases = slices.DeleteFunc(rk.phases, func(p uint16) bool { return p == phase })
	} else if !slices.Contains(rk.phases, phase) {
		rk.phases = append(rk.phases, phase)
	}
}

func (rk *modelRank) innermost() int32 {
	if len(rk.phases) == 0 {
		return -1
	}
	return int32(rk.phases[len(rk.phases)-1])
}

// post posts a message of a rank, whose receive is posted later perhaps, as another message perhaps.
func (m *model) post(r int32) {
	x := modelMessage{modelPath: m.ranks[r].copied(), number: m.number(), src: r, dst: m.anyRank(), at: m.ranks[r].end}
	m.log.Post(x.number, r)
	if later := &m.ranks[x.dst]; later.end > x.at && m.oneIn(2) {
		if started := m.oneIn(3); started || m.oneIn(2) {
			receive := m.number()
			m.log.Post(receive, x.dst)
			m.log.Merge(x.number, receive, started)
			m.numbers = append(m.numbers, receive)
			if !started {
				x.modelPath, x.at = later.copied(), later.end
			}
		} else {
			m.log.Post(x.number, x.dst)
			x.modelPath, x.at = later.copied(), later.end
		}
	}
	m.live = append(m.live, x)
}

// end ends live message i, if it has not, and has some of those who wait for it go on.
func (m *model) end(i int) {
	x := &m.live[i]
	if !x.ended {
		m.transfer(x)
	}
	for _, r := range []int32{x.src, x.dst} {
		rk := &m.ranks[r]
		switch late := float64(m.random.IntN(2)) / 2; {
		case m.oneIn(2):
		case rk.end <= x.at+late:
			m.log.Release(r, x.number, rk.end, x.at+late)
			rk.end = x.at + late
			m.follow(r, x)
		default:
			m.log.See(r, x.number)
			m.follow(r, x)
		}
	}
	if m.oneIn(2) {
		m.numbers = append(m.numbers, x.number)
		m.live = slices.Delete(m.live, i, i+1)
	}
}

func (m *model) transfer(x *modelMessage) {
	latency, link := float64(m.random.IntN(3))/8, int32(m.random.IntN(5))-1
	end := x.at + latency + 1
	t := m.log.End(x.number, x.at+latency, end)
	t.Set(x.src, x.dst, link, 1e6, 4e6) // a quarter of a second alone
	x.spent.add(Component{Kind: InLatency}, latency, 1)
	x.spent.add(Component{Kind: OnWire, Level: link + 1}, 0.25, 1e6)
	x.spent.add(Component{Kind: InContention, Level: link + 1}, 0.75, 0)
	x.at, x.ended = end, true
}

// follow has a rank go on with the path to a message.
func (m *model) follow(r int32, x *modelMessage) {
	rk := &m.ranks[r]
	rk.modelPath = x.copied()
	if rk.end > x.at {
		rk.spent.add(Component{Account: modelProbing, Phase: rk.innermost()}, rk.end-x.at, 1)
	}
}

// check compares the path of a rank with its copy.
func (m *model) check(r int) {
	parts, hop := m.log.Path(r)
	compare(m.T, r, parts, m.ranks[r].spent, m.ranks[r].end)
	for _, want := range slices.Backward(m.ranks[r].hops) {
		if hop == nil || hop.Rank != want.Rank || hop.At != want.At {
			m.Fatalf("rank %d: at a step: %+v, want %+v", r, hop, want)
		}
		hop = hop.Before
	}
	if hop != nil {
		m.Fatalf("rank %d: at a step before the first: %+v", r, hop)
	}
}

// TestAgainstModel compares paths with the model's, in the middle and in the end, where the log is
// settled every so many records, and counts vectors.
func TestAgainstModel(t *testing.T) {
	for _, ranks := range []int{1, 2, 7, 60} {
		for _, room := range []int{1, 2, 3, 63, 64, 65, 300, 5000} {
			for seed := range uint64(8) {
				t.Run(fmt.Sprintf("%d ranks, %d records, seed %d", ranks, room, seed), func(t *testing.T) {
					m := newModel(t, ranks, room, seed)
					for i := range 1500 {
						if m.act(8); i%300 == 0 {
							m.check(int(m.anyRank()))
						}
					}
					for r := range m.ranks {
						m.check(r)
					}
					if m.log.Gaps() != 0 {
						t.Errorf("%d gaps", m.log.Gaps())
					}
					if n := len(m.log.vectors.last); n > ranks+int(m.next)+1 {
						t.Errorf("%d vectors of %d ranks and %d messages", n, ranks, m.next)
					}
				})
			}
		}
	}
}
