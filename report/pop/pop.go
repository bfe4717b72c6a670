package pop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

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

// Data is POP's efficiencies of a run: shares of 1. Times are in seconds.
type Data struct {
	LoadBalance   float64 `json:"load_balance"`  // mean / greatest useful computation of a rank
	Serialisation float64 `json:"serialisation"` // greatest useful computation / Ideal
	Transfer      float64 `json:"transfer"`      // Ideal / Runtime = Wire * Contention
	Wire          float64 `json:"wire"`          // Ideal / Uncontended
	Contention    float64 `json:"contention"`    // Uncontended / Runtime
	Communication float64 `json:"communication"` // Serialisation * Transfer
	Parallel      float64 `json:"parallel"`      // LoadBalance * Communication

	Runtime     float64 `json:"runtime_s"`
	Uncontended float64 `json:"uncontended_s"` // runtime where no message slows another
	Ideal       float64 `json:"ideal_s"`       // runtime on a network that takes no time
	MeanUseful  float64 `json:"mean_useful_s"` // computation of a rank
	MostUseful  float64 `json:"most_useful_s"`

	Notes []string `json:"notes"` // what limits it, in sentences
}

// notes say what limits the efficiencies of a run.
func (d *Data) notes(r *replay.Result) []string {
	notes := []string{}
	if r.Polls > 0 {
		notes = append(notes, "Ranks poll: what they do depends on when messages come, so the further replays take courses of their own, and all but the load balance may be some percent off.")
	}
	if r.Seed != nil {
		notes = append(notes, fmt.Sprintf("Times are random: all replays have the noise of seed %d.", *r.Seed))
	}
	if !r.Complete {
		notes = append(notes, "They are of "+replay.PartLabel(r.Header, r.First, r.Last)+".")
	}
	for _, e := range []struct {
		name  string
		value float64
	}{{"serialisation", d.Serialisation}, {"wire", d.Wire}, {"contention", d.Contention}} {
		if e.value > 1+rounding {
			notes = append(notes, fmt.Sprintf("The efficiency of %s is over 100 %%: a quicker network made the ranks do things in a worse order.", e.name))
		}
	}
	return notes
}

// rounding is how far over 1 an efficiency is 1.
const rounding = 1e-9

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
	_, err := io.WriteString(w, b.String())
	return err
}
