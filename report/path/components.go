package path

import "reprise/replay"

// Kinds of parts, as Part.Kind names them.
const (
	KindKernel     = "kernel"     // calls of one
	KindFlop       = "flop"       // computation that is given in flop
	KindSleep      = "sleep"      //
	KindOverhead   = "overhead"   // that sends and receives cost a rank
	KindPoll       = "poll"       // probes, and the time to the probe that sees a message
	KindLatency    = "latency"    // of messages
	KindWire       = "wire"       // messages carried at the rate that they would have alone
	KindContention = "contention" // time that they lose as they share links
	KindWait       = "wait"       // for what had not come when the replay was stopped
)

// component is one thing that paths spend time on.
type component struct {
	kind   string
	kernel int32 // number in the header, of KindKernel
	phase  int32 // innermost, -1: none
	level  int32 // of links, -1: none
}

// components numbers components as they appear, so that vectors have no more than it takes.
type components struct {
	list    []component
	inPhase []int32 // by phase+1, then kernel or kernels+kind: number+1; 0: it has none yet
	stride  int     // kernels and kinds
	kernels int32
	onLevel []int32 // by level+1, then wire or contention: the same
	latency int32   // the same
}

func newComponents(kernels, phases, levels int) components {
	stride := kernels + len(rankKinds)
	return components{
		inPhase: make([]int32, (phases+1)*stride), stride: stride, kernels: int32(kernels),
		onLevel: make([]int32, 2*(levels+1)),
	}
}

// rankKinds are the kinds of parts by what a rank's time is spent on.
var rankKinds = [...]string{
	replay.TimeCompute: KindFlop, replay.TimeSleep: KindSleep, replay.TimePoll: KindPoll, replay.TimeOverhead: KindOverhead,
}

// row returns where the components of a phase begin, -1 for none.
func (c *components) row(phase int32) int32 { return (phase + 1) * int32(c.stride) }

// ofRank returns the number of what a rank spends time on in the phase of a row.
func (c *components) ofRank(k replay.TimeKind, kernel, row int32) int32 {
	place := row + kernel
	if kernel < 0 {
		place = row + c.kernels + int32(k)
	}
	if n := c.inPhase[place]; n != 0 {
		return n - 1
	}
	return c.addOfRank(k, kernel, place)
}

// addOfRank numbers what a rank spends time on for the first time.
func (c *components) addOfRank(k replay.TimeKind, kernel, place int32) int32 {
	kind := KindKernel
	if kernel < 0 {
		kind = rankKinds[k]
	}
	c.inPhase[place] = c.next(component{kind: kind, kernel: kernel, phase: place/int32(c.stride) - 1, level: -1})
	return c.inPhase[place] - 1
}

// ofLinks returns the number of what messages spend time on, on links of a level.
func (c *components) ofLinks(level int32, contention bool) int32 {
	kind, place := KindWire, 2*(level+1)
	if contention {
		kind, place = KindContention, place+1
	}
	n := &c.onLevel[place]
	if *n == 0 {
		*n = c.next(component{kind: kind, kernel: -1, phase: -1, level: level})
	}
	return *n - 1
}

// ofLatency returns the number of latencies.
func (c *components) ofLatency() int32 {
	if c.latency == 0 {
		c.latency = c.next(component{kind: KindLatency, kernel: -1, phase: -1, level: -1})
	}
	return c.latency - 1
}

// next numbers a component, and returns the number + 1.
func (c *components) next(new component) int32 {
	c.list = append(c.list, new)
	return int32(len(c.list))
}
