package pop

import (
	"context"
	"errors"
	"fmt"

	"reprise/internal/bounds"
	"reprise/netmodel"
	"reprise/replay"
)

// Play replays once more what the ranks of a run do, on a machine and with options.
type Play func(context.Context, replay.Machine, replay.Options) (*replay.Result, error)

// ErrIdle is the error of a run that has no efficiency.
var ErrIdle = errors.New("no rank computes anything, so there is no efficiency to tell")

// Of returns the efficiencies of a run that has ended, of which r is the result on m with o.
// It plays the run twice more, or once where there is no contention anyway.
func Of(ctx context.Context, r *replay.Result, m replay.Machine, o replay.Options, play Play) (*Data, error) {
	if r.StoppedAt != nil {
		return nil, fmt.Errorf("the run was stopped at %.9g s: only one that has ended has efficiencies", *r.StoppedAt)
	}
	if _, most := useful(r); !(most > 0) {
		return nil, ErrIdle
	}
	o.Observer, o.Checkpoints, o.Resume = nil, nil, nil
	uncontended := r
	if o.Network.Contention {
		var err error
		if uncontended, err = play(ctx, m, Uncontended(o)); err != nil {
			return nil, fmt.Errorf("replay without contention: %w", err)
		}
	}
	m, o = Ideal(m, o)
	ideal, err := play(ctx, m, o)
	if err != nil {
		return nil, fmt.Errorf("replay on a network that takes no time: %w", err)
	}
	return newData(r, uncontended.Makespan, ideal.Makespan), nil
}

// Uncontended returns o for a network on which no message slows another.
func Uncontended(o replay.Options) replay.Options {
	o.Network.Contention = false
	return o
}

// Ideal returns a machine and options like m and o, but for a network that takes no time.
func Ideal(m replay.Machine, o replay.Options) (replay.Machine, replay.Options) {
	m.NetworkNoise = nil
	n := &o.Network
	n.Contention = false
	n.LatencyFactor, n.LatencyFactors, n.LoopbackLatencyFactors = 0, netmodel.Factors{{}}, nil
	// No link is infinitely quick, but a thousand million times as quick as it is.
	quick := bounds.Factor.High
	n.FactorRule = netmodel.FactorProgress
	n.BandwidthFactor, n.LoopbackBandwidthFactors = quick, nil
	n.BandwidthFactors = netmodel.Factors{{Value: quick}}
	n.TCPGamma = 0
	n.SendOverhead, n.IsendOverhead, n.RecvOverhead = nil, nil, nil
	n.IprobeCost, n.TestCost, n.GrowInjectedTimes = 0, 0, false
	return m, o
}

// useful returns the seconds that ranks compute, on average and at most.
func useful(r *replay.Result) (mean, most float64) {
	for _, k := range r.Kinds {
		if k.Name == replay.TimeCompute.String() {
			return k.Mean, k.Max
		}
	}
	return 0, 0
}

// newData returns the efficiencies of a run by its runtimes on other networks, in seconds.
func newData(r *replay.Result, uncontended, ideal float64) *Data {
	d := &Data{Runtime: r.Makespan, Uncontended: uncontended, Ideal: ideal}
	d.MeanUseful, d.MostUseful = useful(r)
	d.LoadBalance = d.MeanUseful / d.MostUseful
	d.Serialisation = d.MostUseful / d.Ideal
	d.Wire = d.Ideal / d.Uncontended
	d.Contention = d.Uncontended / d.Runtime
	d.Transfer = d.Wire * d.Contention
	d.Communication = d.Serialisation * d.Transfer
	d.Parallel = d.LoadBalance * d.Communication
	d.Notes = d.notes(r)
	return d
}
