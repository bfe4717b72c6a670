// Package smpi has all the options of a run under SimGrid's SMPI that a replay depends on,
// by SimGrid's names: those of the network and of the protocol of messages (package
// netmodel), and what MPI's calls cost and do.
//
//	o := smpi.DefaultOptions()
//	err := o.Set("network/model", "LV08") // as in --cfg=network/model:LV08
//
// Names of SimGrid 3.5 to 4 are understood, see [Obsolete].
//
// # Units
//
// Times are in seconds, sizes in bytes, bandwidths in byte/s, speeds in flop/s, whatever
// the units of the texts.
//
// # Errors
//
// An error names the option, and one that is spelt alike.
//
// # Source
//
// The names and defaults are those of SimGrid 3.32, its documentation and its sources.
package smpi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"reprise/internal/bounds"
	"reprise/internal/textutil"
	"reprise/netmodel"
	"reprise/platforms"
)

// ProbeVisibility says what a poll (probe) of a receiver sees.
type ProbeVisibility uint8

const (
	// PollPosted sees a message as soon as its sender has posted it: SMPI's rule.
	PollPosted ProbeVisibility = iota
	// PollArrived sees a message when its envelope has arrived, as a real MPI.
	PollArrived
)

// CollAlgorithm is the algorithm, by SimGrid's name, of a collective operation
// such as "bcast" or "reduce_scatter".
type CollAlgorithm struct{ Operation, Algorithm string }

// Options holds every option of a simulation that affects its times: those of the network
// and of the protocol, and those of MPI's calls. Field comments name the option that
// [Options.Set] maps to the field; those that begin with "reprise/" exist here only. Times
// are in seconds.
//
// Use [DefaultOptions], not the zero value.
type Options struct {
	netmodel.Options

	TestCost            float64 // smpi/test: sleep of one MPI_Test
	IprobeCost          float64 // smpi/iprobe: duration of one MPI_Iprobe
	IprobeCPUUsage      float64 // smpi/iprobe-cpu-usage: share of a core that it uses
	GrowInjectedTimes   bool    // smpi/grow-injected-times: failed polls cost more and more
	SimulateComputation bool    // smpi/simulate-computation: no = compute takes no time
	InitTime            float64 // smpi/init: sleep of every rank before its first action
	FinalizationBarrier bool    // smpi/finalization-barrier: barrier after the last action
	// smpi/coll-selector: default, ompi or mpich; others are for replays without collective operations
	CollSelector   string
	CollAlgorithms []CollAlgorithm // smpi/bcast and so on; the last for an operation counts
	Poll           ProbeVisibility // reprise/poll: posted or arrived
	LatePolls      bool            // reprise/poll-late: a poll sees what came up to the one before
}

// DefaultOptions returns the defaults of smpirun: those of the network, 0.1 ms for a probe
// or a test, which costs more with each miss, and SimGrid's own collective algorithms.
func DefaultOptions() Options {
	return Options{
		Options:             netmodel.DefaultOptions(),
		TestCost:            1e-4,
		IprobeCost:          1e-4,
		IprobeCPUUsage:      1,
		GrowInjectedTimes:   true,
		SimulateComputation: true,
		CollSelector:        "default",
	}
}

// ApplyConfig sets the options that the platform's own file asks for; of several names of
// one option the first counts. Call it before setting those of the command line, which win.
func (o *Options) ApplyConfig(p *platforms.Platform) error {
	done := map[string]bool{}
	for _, prop := range p.Config() {
		name := OptionName(prop.Name)
		if done[name] {
			continue
		}
		done[name] = true
		if err := o.Set(prop.Name, prop.Value); err != nil {
			return fmt.Errorf("%s:%d: %w", p.Name(), prop.Line, textutil.Brief(err))
		}
	}
	return nil
}

// Set sets one option by SimGrid's name and spelling of values, as in
// --cfg=NAME:VALUE. Names of older and newer versions than SimGrid 3.32 stand for its own;
// see [Obsolete]. Options of SimGrid that cannot change the times of a replay
// (such as smpi/host-speed, network/optim, or all that begin with contexts, debug,
// exception, path or tracing) are accepted and have no effect. An unknown name is an
// error that names the nearest known one, if it is near. Setting
// network/model, host/model or reprise/bw-factor also sets the defaults of
// network/weight-S, network/bandwidth-factor and network/latency-factor that go with it,
// unless these were set by name, before or after.
func (o *Options) Set(name, value string) error {
	name = OptionName(name)
	if opt := optionTable.Find(name); opt != nil {
		return opt.Apply(o, value)
	}
	return unknown(name)
}

// unknown is the error of a name that is not in the table, nil if it has no effect.
func unknown(name string) error {
	if family, _, _ := strings.Cut(name, "/"); slices.Contains(asideFamilies, family) || retired(name) {
		return nil
	}
	if near := textutil.Nearest(name, optionTable.Names()); near != "" {
		return fmt.Errorf("unknown option %q; did you mean %s?", name, near)
	}
	return fmt.Errorf("unknown option %q; those of docs/network-model.md are known", name)
}

// Settings returns all options that have an effect, by name, with their values in a form in
// which equal values have equal texts.
func (o *Options) Settings() []platforms.Prop {
	var list []platforms.Prop
	for i := range optionTable {
		if opt := &optionTable[i]; opt.Get != nil {
			list = append(list, platforms.Prop{Name: opt.Name, Value: opt.Get(o)})
		}
	}
	return list
}

// Validate reports all the fields whose values make no sense, joined.
func (o *Options) Validate() error {
	return errors.Join(o.Options.Validate(), ownOptions.Validate(o))
}

// minProbeCost is the smallest cost of a probe, in seconds, that is not zero. A rank that
// waits for a second by probes that grow costlier takes sqrt(2/cost) of them, 1.4 million here.
const minProbeCost = 1e-12

func checkProbeCost(c float64) error {
	if c > 0 && c < minProbeCost {
		return fmt.Errorf("%v, want 0 or at least %v s: a rank that waits would probe without end", c, minProbeCost)
	}
	return bounds.Seconds.Check("value", c)
}
