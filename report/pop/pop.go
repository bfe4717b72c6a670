// Package pop tells the parallel efficiency of a replay apart, as the POP project does: how much
// is lost because ranks have unequal work, because they wait for each other, and because
// messages take time; of the last, how much the wires take, and how much is contention.
//
//	parallel = load balance * serialisation * transfer
//	transfer = wire * contention
//
// It takes two further replays ([Of]): one in which no message slows another ([Uncontended]),
// which no tool that measures can make, and one on a network that takes no time ([Ideal]).
//
//	result, err := replay.Run(ctx, t, machine, options)
//	play := func(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Result, error) {
//		return replay.Run(ctx, again, m, o) // the same trace, opened again
//	}
//	efficiencies, err := pop.Of(ctx, result, machine, options, play)
//	efficiencies.WriteText(os.Stdout)
//
// # The ideal network
//
// On it messages have no latency and as good as no size, and calls cost nothing: overheads, probes and tests take no
// time, and neither noise nor contention can make them longer. What is kept is what the program does and who waits for
// whom: computations with their noise, sleeps, smpi/init, the algorithms of collective operations, the sizes from which
// a sender waits for its receiver, the rule by which polls see messages, and profiles of hosts and links. A link that
// has no bandwidth at times still holds its messages until it has.
//
// Useful is computation, of kernels and flop. Sleeps are not.
//
// # Units
//
// Efficiencies are shares of 1, times are in seconds.
//
// # Errors
//
// [ErrIdle] says that no rank computes, so that there is nothing to divide by. Others are those of
// the replays.
//
// # Source
//
// The multiplicative model of the POP Centre of Excellence, https://co-design.pop-coe.eu/metrics;
// what splits its transfer efficiency is our own.
package pop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"reprise/internal/bounds"
	"reprise/internal/textutil"
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
	mean, most := 0.0, 0.0 // seconds that ranks compute
	for _, k := range r.Kinds {
		if k.Name == replay.TimeCompute.String() {
			mean, most = k.Mean, k.Max
		}
	}
	if !(most > 0) {
		return nil, ErrIdle
	}
	// The further replays are from the beginning, and nobody watches them.
	o.Observers, o.Checkpoints, o.Resume = nil, nil, nil
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
	d := &Data{Runtime: r.Makespan, Uncontended: uncontended.Makespan, Ideal: ideal.Makespan, MeanUseful: mean,
		MostUseful: most, Notes: []string{}}
	// Each factor is the ratio of two runtimes, or of computation and a runtime, so that the product telescopes to
	// mean computation / runtime.
	d.LoadBalance = d.MeanUseful / d.MostUseful
	d.Serialisation = d.MostUseful / d.Ideal
	d.Wire = d.Ideal / d.Uncontended
	d.Contention = d.Uncontended / d.Runtime
	d.Transfer = d.Wire * d.Contention
	d.Communication = d.Serialisation * d.Transfer
	d.Parallel = d.LoadBalance * d.Communication

	// The limits of these numbers, each in a sentence of its own.
	if r.Polls > 0 {
		d.Notes = append(d.Notes, "Ranks poll: what they do depends on when messages come, so the further replays take "+
			"courses of their own, and all but the load balance may be some percent off.")
	}
	if r.Seed != nil {
		d.Notes = append(d.Notes, fmt.Sprintf("Times are random: all replays have the noise of seed %d.", *r.Seed))
	}
	if !r.Complete {
		d.Notes = append(d.Notes, "They are of "+replay.PartLabel(r.Header, r.First, r.Last)+".")
	}
	for _, e := range []struct {
		name  string
		value float64
	}{{"serialisation", d.Serialisation}, {"wire", d.Wire}, {"contention", d.Contention}} {
		if e.value > 1+rounding {
			d.Notes = append(d.Notes, fmt.Sprintf("The efficiency of %s is over 100 %%: a quicker network made the ranks do "+
				"things in a worse order.", e.name))
		}
	}
	return d, nil
}

// rounding is how far an efficiency of 1 may come out above 1.
const rounding = 1e-9

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

// Data is POP's efficiencies of a run: shares of 1. Times are in seconds.
type Data struct {
	LoadBalance   float64 `json:"load_balance"`  // mean / greatest useful computation of a rank
	Serialisation float64 `json:"serialisation"` // greatest useful computation / Ideal
	Transfer      float64 `json:"transfer"`      // Ideal / Runtime = Wire * Contention
	Wire          float64 `json:"wire"`          // Ideal / Uncontended
	Contention    float64 `json:"contention"`    // Uncontended / Runtime
	Communication float64 `json:"communication"` // Serialisation * Transfer
	Parallel      float64 `json:"parallel"`      // LoadBalance * Communication

	Runtime     float64 `json:"runtime_s"`     // the makespan
	Uncontended float64 `json:"uncontended_s"` // runtime where no message slows another
	Ideal       float64 `json:"ideal_s"`       // runtime on a network that takes no time
	MeanUseful  float64 `json:"mean_useful_s"` // computation of a rank
	MostUseful  float64 `json:"most_useful_s"` // that of the rank that computes longest

	Notes []string `json:"notes"` // what limits it, in sentences
}

// WriteText writes the efficiencies, what each of them is a part of, and the notes.
func (d *Data) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-17s %9s\n", "POP efficiency", "share")
	for _, l := range []struct {
		name  string
		share float64
		what  string
	}{
		{"parallel", d.Parallel, fmt.Sprintf("a rank computes %.6g s of %.6g s", d.MeanUseful, d.Runtime)},
		{"  load balance", d.LoadBalance, fmt.Sprintf("the busiest rank computes %.6g s", d.MostUseful)},
		{"  serialisation", d.Serialisation, fmt.Sprintf("of %.6g s on a network that takes no time", d.Ideal)},
		{"  transfer", d.Transfer, ""},
		{"    wire", d.Wire, fmt.Sprintf("of %.6g s where no message slows another", d.Uncontended)},
		{"    contention", d.Contention, fmt.Sprintf("of %.6g s", d.Runtime)},
	} {
		line := fmt.Sprintf("%-17s %8.2f%%  %s", l.name, 100*l.share, l.what)
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return textutil.Write(w, b.String())
}
