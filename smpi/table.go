package smpi

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"reprise/internal/bounds"
	"reprise/netmodel"
	"reprise/smpi/option"
)

// optionTable lists the options that Set understands, sorted by name.
var optionTable = option.Table[Options](slices.SortedFunc(slices.Values(slices.Concat(
	option.Of(netmodel.OptionTable(), func(o *Options) *netmodel.Options { return &o.Options }),
	ownOptions, collectives(), fixedOptions, idleOptions(),
)), func(a, b option.Option[Options]) int { return cmp.Compare(a.Name, b.Name) }))

// ownOptions are the options of MPI's calls.
var ownOptions = option.Table[Options]{
	option.Choice("reprise/poll", "a poll sees messages that were posted (as in SMPI), or that have arrived",
		[]string{"posted", "arrived"}, func(o *Options) *ProbeVisibility { return &o.Poll }),
	option.YesNo("reprise/poll-late",
		"yes: a poll outside of a busy wait sees only what could be seen at the rank's previous poll or the end of its last wait ([polls](replay.md#polls))",
		func(o *Options) *bool { return &o.LatePolls }),
	collSelector(),
	option.YesNo("smpi/finalization-barrier", "barrier after the last action",
		func(o *Options) *bool { return &o.FinalizationBarrier }),
	option.YesNo("smpi/grow-injected-times", "failed polls cost more each time",
		func(o *Options) *bool { return &o.GrowInjectedTimes }),
	seconds("smpi/init", "sleep of each rank before its first action, seconds",
		func(o *Options) *float64 { return &o.InitTime }),
	option.Number("smpi/iprobe", "cost of one MPI_Iprobe in seconds: 0, or at least 1e-12", checkProbeCost,
		func(o *Options) *float64 { return &o.IprobeCost }),
	option.Number("smpi/iprobe-cpu-usage", "share of a core that a probe uses",
		func(v float64) error { return bounds.Factor.Check("value", v) },
		func(o *Options) *float64 { return &o.IprobeCPUUsage }),
	option.YesNo("smpi/simulate-computation",
		"no: amounts of flop (SimGrid's *compute*) take no time. Kernels keep the times of their models: `--kernels` with `\"*\": free` makes them free",
		func(o *Options) *bool { return &o.SimulateComputation }),
	seconds("smpi/test", "cost of one MPI_Test, seconds", func(o *Options) *float64 { return &o.TestCost }),
}

// fixedOptions may only say what is done anyway.
var fixedOptions = option.Table[Options]{
	option.Only[Options]("cpu/model", "only Cas01", "Cas01"),
	option.Only[Options]("cpu/solver", "only maxmin", "maxmin"),
	option.Only[Options]("maxmin/concurrency-limit", "only -1: no limit", "-1"),
	option.Only[Options]("network/solver", "only maxmin", "maxmin"),
	option.Only[Options]("smpi/barrier-collectives", "only no", "no", "false", "off", "0"),
}

func seconds(name, doc string, field func(*Options) *float64) option.Option[Options] {
	return option.Number(name, doc, func(v float64) error { return bounds.Seconds.Check("value", v) }, field)
}

// collSelector takes any name: package replay's collectives know the selections, and a replay without collective
// operations needs none.
func collSelector() option.Option[Options] {
	errNone := errors.New("want the name of a selection, such as default, ompi or mpich")
	opt := option.Parsed("smpi/coll-selector",
		"selection of [algorithms](replay.md#collective-operations): default, ompi or mpich; other names only for replays without collective operations",
		func(value string) (string, error) {
			name := strings.TrimSpace(value)
			if name == "" {
				return "", errNone
			}
			return name, nil
		}, func(o *Options) *string { return &o.CollSelector })
	opt.Check = func(o *Options) error {
		if o.CollSelector == "" {
			return errNone
		}
		return nil
	}
	return opt
}

// collectives are the options that name the algorithm of a collective operation. Names are not checked here.
func collectives() (list option.Table[Options]) {
	for _, operation := range []string{"allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "bcast",
		"gather", "reduce", "reduce_scatter", "scatter"} {
		list = append(list, option.Option[Options]{Name: "smpi/" + operation, Doc: "the algorithm of this operation, by name",
			Set: func(o *Options, value string) error {
				if value = strings.TrimSpace(value); value == "" {
					return errors.New("want the name of an algorithm")
				}
				o.CollAlgorithms = append(slices.Clone(o.CollAlgorithms), CollAlgorithm{operation, value})
				return nil
			},
			Get: func(o *Options) string { return o.algorithm(operation) }})
	}
	return list
}

// algorithm returns the name of the algorithm that was chosen for an operation, "" if none
// was.
func (o *Options) algorithm(operation string) (name string) {
	for _, c := range o.CollAlgorithms {
		if c.Operation == operation {
			name = c.Algorithm
		}
	}
	return name
}

// idleOptions are the options of SimGrid that cannot change the times of a replay, beside
// whole families of them (asideFamilies).
func idleOptions() (list option.Table[Options]) {
	for _, name := range []string{
		"cpu/maxmin-selective-update", "cpu/optim", "host/solver", "network/maxmin-selective-update", "network/optim",
		"smpi/IB-penalty-factors", "smpi/auto-shared-malloc-thresh", "smpi/buffering", "smpi/comp-adjustment-file", "smpi/cpu-threshold",
		"smpi/display-allocs", "smpi/display-timing", "smpi/errors-are-fatal", "smpi/host-speed", "smpi/hostfile", "smpi/keep-temps",
		"smpi/list-leaks", "smpi/map", "smpi/np", "smpi/papi-events", "smpi/pedantic", "smpi/privatization", "smpi/privatize-libs",
		"smpi/replay", "smpi/shared-malloc", "smpi/shared-malloc-blocksize", "smpi/shared-malloc-hugepage", "smpi/tmpdir",
		"smpi/trace-call-location", "smpi/trace-call-use-absolute-path", "smpi/wtime",
	} {
		list = append(list, option.Idle[Options](name))
	}
	return list
}
