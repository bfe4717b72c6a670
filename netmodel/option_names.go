package netmodel

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/bounds"
	"reprise/internal/words"
)

// option is one name that Options.Set understands.
type option struct {
	name  string
	set   func(o *Options, value string) error
	check func(o *Options) error // of what is set, by itself; nil: whatever set takes is good
	idle  bool                   // it has no effect on the dates of a replay
}

// optionTable lists the options that Set understands, sorted by name.
var optionTable = []option{
	idle("cpu/maxmin-selective-update"),
	{name: "cpu/model", set: only("Cas01")},
	idle("cpu/optim"),
	{name: "cpu/solver", set: only("maxmin")},
	{name: "host/model", set: setHostModel},
	idle("host/solver"),
	{name: "maxmin/concurrency-limit", set: only("-1")},
	number("maxmin/precision", bounds.Range{High: 1e9, Unit: "byte/s"}, func(o *Options) *float64 { return &o.SharePrecision }),
	number("network/TCP-gamma", bounds.Bytes, func(o *Options) *float64 { return &o.TCPGamma }),
	tracked(explicitBandwidthFactor, orTable(func(o *Options) *Factors { return &o.BandwidthFactors }, number("network/bandwidth-factor", bounds.Factor, func(o *Options) *float64 { return &o.BandwidthFactor }))),
	{name: "network/crosstraffic", set: yesNo(func(o *Options) *bool { return &o.CrossTraffic })},
	tracked(explicitLatencyFactor, orTable(func(o *Options) *Factors { return &o.LatencyFactors }, number("network/latency-factor", bounds.Factor.OrZero(), func(o *Options) *float64 { return &o.LatencyFactor }))),
	number("network/loopback-bw", bounds.Bandwidth, func(o *Options) *float64 { return &o.LoopbackBandwidth }),
	number("network/loopback-lat", bounds.Latency, func(o *Options) *float64 { return &o.LoopbackLatency }),
	idle("network/maxmin-selective-update"),
	{name: "network/model", set: setModel},
	idle("network/optim"),
	{name: "network/solver", set: only("maxmin")},
	tracked(explicitWeightS, number("network/weight-S", bounds.Bytes, func(o *Options) *float64 { return &o.WeightS })),
	{name: "reprise/bw-factor", set: setFactorRule},
	{name: "reprise/contention", set: yesNo(func(o *Options) *bool { return &o.Contention })},
	factors("reprise/loopback-bw-factor", bounds.Factor, func(o *Options) *Factors { return &o.LoopbackBandwidthFactors }),
	factors("reprise/loopback-lat-factor", bounds.Factor.OrZero(), func(o *Options) *Factors { return &o.LoopbackLatencyFactors }),
	{name: "reprise/poll", set: setPoll},
	{name: "reprise/solver", set: setSolver},
	idle("smpi/IB-penalty-factors"),
	{name: "smpi/allgather", set: algorithm("allgather")},
	{name: "smpi/allgatherv", set: algorithm("allgatherv")},
	{name: "smpi/allreduce", set: algorithm("allreduce")},
	{name: "smpi/alltoall", set: algorithm("alltoall")},
	{name: "smpi/alltoallv", set: algorithm("alltoallv")},
	{name: "smpi/async-small-thresh", set: bytes(func(o *Options) *int64 { return &o.EagerBelow })},
	idle("smpi/auto-shared-malloc-thresh"),
	{name: "smpi/barrier", set: algorithm("barrier")},
	{name: "smpi/barrier-collectives", set: only("no", "false", "off", "0")},
	{name: "smpi/bcast", set: algorithm("bcast")},
	idle("smpi/buffering"),
	factors("smpi/bw-factor", bounds.Factor, func(o *Options) *Factors { return &o.BandwidthFactors }),
	{name: "smpi/coll-selector", set: setCollSelector},
	idle("smpi/comp-adjustment-file"),
	idle("smpi/cpu-threshold"),
	idle("smpi/display-allocs"),
	idle("smpi/display-timing"),
	idle("smpi/errors-are-fatal"),
	{name: "smpi/finalization-barrier", set: yesNo(func(o *Options) *bool { return &o.FinalizationBarrier })},
	{name: "smpi/gather", set: algorithm("gather")},
	{name: "smpi/grow-injected-times", set: yesNo(func(o *Options) *bool { return &o.GrowInjectedTimes })},
	idle("smpi/host-speed"),
	idle("smpi/hostfile"),
	number("smpi/init", bounds.Seconds, func(o *Options) *float64 { return &o.InitTime }),
	probeCost(func(o *Options) *float64 { return &o.IprobeCost }),
	number("smpi/iprobe-cpu-usage", bounds.Factor, func(o *Options) *float64 { return &o.IprobeCPUUsage }),
	idle("smpi/keep-temps"),
	factors("smpi/lat-factor", bounds.Factor.OrZero(), func(o *Options) *Factors { return &o.LatencyFactors }),
	idle("smpi/list-leaks"),
	idle("smpi/map"),
	idle("smpi/np"),
	overheads("smpi/ois", func(o *Options) *Overheads { return &o.IsendOverhead }),
	overheads("smpi/or", func(o *Options) *Overheads { return &o.RecvOverhead }),
	overheads("smpi/os", func(o *Options) *Overheads { return &o.SendOverhead }),
	idle("smpi/papi-events"),
	idle("smpi/pedantic"),
	idle("smpi/privatization"),
	idle("smpi/privatize-libs"),
	{name: "smpi/reduce", set: algorithm("reduce")},
	{name: "smpi/reduce_scatter", set: algorithm("reduce_scatter")},
	idle("smpi/replay"),
	{name: "smpi/scatter", set: algorithm("scatter")},
	{name: "smpi/send-is-detached-thresh", set: bytes(func(o *Options) *int64 { return &o.DetachedBelow })},
	idle("smpi/shared-malloc"),
	idle("smpi/shared-malloc-blocksize"),
	idle("smpi/shared-malloc-hugepage"),
	{name: "smpi/simulate-computation", set: yesNo(func(o *Options) *bool { return &o.SimulateComputation })},
	number("smpi/test", bounds.Seconds, func(o *Options) *float64 { return &o.TestCost }),
	idle("smpi/tmpdir"),
	idle("smpi/trace-call-location"),
	idle("smpi/trace-call-use-absolute-path"),
	idle("smpi/wtime"),
	number("surf/precision", bounds.Seconds, func(o *Options) *float64 { return &o.TimePrecision }),
}

// OptionNames returns the names that [Options.Set] understands, sorted.
func OptionNames() []string {
	names := make([]string, len(optionTable))
	for i, opt := range optionTable {
		names[i] = opt.name
	}
	return names
}

// Set sets one option by SimGrid's name and spelling of values, as in
// --cfg=NAME:VALUE. Names of older and newer versions than SimGrid 3.32 stand for its own;
// see Obsolete. Options of SimGrid that cannot change the dates of a replay
// (such as smpi/host-speed, network/optim, or all that begin with contexts, debug,
// exception, path or tracing) are accepted and have no effect. An unknown name is an
// error that names the nearest known one, if it is near. Setting
// network/model, host/model or reprise/bw-factor also sets the defaults of
// network/weight-S, network/bandwidth-factor and network/latency-factor that go with it,
// unless these were set by name, before or after.
func (o *Options) Set(name, value string) error {
	name = OptionName(name)
	opt := optionNamed(name)
	if opt == nil {
		return unknown(name)
	}
	err := opt.set(o, value)
	if err == nil && opt.check != nil {
		err = opt.check(o)
	}
	if err != nil {
		return fmt.Errorf("option %s: %w", name, err)
	}
	return nil
}

// optionNamed returns the option of a name, nil if there is none.
func optionNamed(name string) *option {
	for i := range optionTable {
		if optionTable[i].name == name {
			return &optionTable[i]
		}
	}
	return nil
}

// unknown is the error of a name that is not in the table, nil if it has no effect.
func unknown(name string) error {
	if aside(name) || retired(name) {
		return nil
	}
	if near := words.Nearest(name, OptionNames()); near != "" {
		return fmt.Errorf("unknown option %q; did you mean %s?", name, near)
	}
	return fmt.Errorf("unknown option %q; those of docs/network-model.md are known", name)
}

// idle is an option that takes any value and has no effect on the dates of a replay.
func idle(name string) option {
	return option{name: name, set: func(*Options, string) error { return nil }, idle: true}
}

// only accepts the values that say what is done anyway.
func only(values ...string) func(*Options, string) error {
	return func(_ *Options, value string) error {
		if !slices.Contains(values, strings.TrimSpace(value)) {
			return fmt.Errorf("%q, want %s: no other is modelled", value, strings.Join(values, " or "))
		}
		return nil
	}
}

// setHostModel: SimGrid's default model of hosts brings LV08, whatever network/model says,
// and compound the network model that is chosen by itself.
func setHostModel(o *Options, value string) error {
	if o.hostDefault {
		o.Model, o.hostDefault = o.chosenModel, false
	}
	switch strings.TrimSpace(value) {
	case "compound":
	case "default":
		o.chosenModel, o.Model, o.hostDefault = o.Model, ModelLV08, true
	default:
		return fmt.Errorf("%q, want compound, or default, which means network/model:LV08: no other is modelled", value)
	}
	o.setModelDefaults()
	return nil
}

// number is an option that is a number of a range.
func number(name string, allowed bounds.Range, field func(*Options) *float64) option {
	set := func(o *Options, value string) error {
		v, err := parseNumber(value)
		if err == nil {
			*field(o) = v
		}
		return err
	}
	return option{name: name, set: set, check: func(o *Options) error { return allowed.Check("value", *field(o)) }}
}

// probeCost is the option of what a probe costs.
func probeCost(field func(*Options) *float64) option {
	opt := number("smpi/iprobe", bounds.Seconds, field)
	opt.check = checkProbeCost
	return opt
}

// orTable is a factor that is also, as in SimGrid 4, a table by sizes of messages: that of
// the model SMPI.
func orTable(table func(*Options) *Factors, opt option) option {
	set := opt.set
	opt.set = func(o *Options, value string) error {
		if !strings.Contains(value, ":") {
			return set(o, value)
		}
		t, err := ParseFactors(value)
		if err == nil {
			*table(o) = t
		}
		return err
	}
	return opt
}

// tracked is an option that is remembered as set by name.
func tracked(bit uint8, opt option) option {
	set := opt.set
	opt.set = func(o *Options, value string) error {
		err := set(o, value)
		if err == nil {
			o.explicit |= bit
		}
		return err
	}
	return opt
}

func bytes(field func(*Options) *int64) func(*Options, string) error {
	return func(o *Options, value string) error {
		v, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil || v < 0 {
			return fmt.Errorf("%q is not a number of bytes", value)
		}
		*field(o) = v
		return nil
	}
}

func yesNo(field func(*Options) *bool) func(*Options, string) error {
	return func(o *Options, value string) error {
		switch strings.ToLower(strings.TrimSpace(value)) {
		case "yes", "on", "true", "1":
			*field(o) = true
		case "no", "off", "false", "0":
			*field(o) = false
		default:
			return fmt.Errorf("%q is neither yes nor no", value)
		}
		return nil
	}
}

func factors(name string, allowed bounds.Range, field func(*Options) *Factors) option {
	set := func(o *Options, value string) error {
		t, err := ParseFactors(value)
		if err == nil {
			*field(o) = t
		}
		return err
	}
	return option{name: name, set: set, check: func(o *Options) error { return field(o).validate(allowed) }}
}

func overheads(name string, field func(*Options) *Overheads) option {
	set := func(o *Options, value string) error {
		t, err := ParseOverheads(value)
		if err == nil {
			*field(o) = t
		}
		return err
	}
	return option{name: name, set: set, check: func(o *Options) error { return field(o).validate() }}
}

func setModel(o *Options, value string) error {
	model := &o.Model
	if o.hostDefault {
		model = &o.chosenModel
	}
	switch value {
	case "SMPI":
		*model = ModelSMPI
	case "LV08":
		*model = ModelLV08
	case "CM02":
		*model = ModelCM02
	default:
		return fmt.Errorf("%q is not supported, want SMPI, LV08 or CM02", value)
	}
	o.setModelDefaults()
	return nil
}

func setSolver(o *Options, value string) error {
	switch value {
	case "local":
		o.Solver = SolverLocal
	case "reference":
		o.Solver = SolverReference
	default:
		return fmt.Errorf("%q, want local or reference", value)
	}
	return nil
}

func setPoll(o *Options, value string) error {
	switch value {
	case "posted":
		o.Poll = PollPosted
	case "arrived":
		o.Poll = PollArrived
	default:
		return fmt.Errorf("%q, want posted or arrived", value)
	}
	return nil
}

func setFactorRule(o *Options, value string) error {
	switch value {
	case "progress":
		o.FactorRule = FactorProgress
	case "bound":
		o.FactorRule = FactorBound
	default:
		return fmt.Errorf("%q, want progress or bound", value)
	}
	o.setModelDefaults()
	return nil
}

// setCollSelector takes the name of any selection: who carries out collective operations
// knows which there are, and needs none where there is no operation.
func setCollSelector(o *Options, value string) error {
	if o.CollSelector = strings.TrimSpace(value); o.CollSelector == "" {
		return errors.New("want the name of a selection, such as default, ompi or mpich")
	}
	return nil
}

// algorithm remembers the algorithm of a collective operation by name; who carries
// out collective operations knows the names.
func algorithm(operation string) func(*Options, string) error {
	return func(o *Options, value string) error {
		if value == "" {
			return errors.New("want the name of an algorithm")
		}
		o.CollAlgorithms = append(slices.Clone(o.CollAlgorithms), CollAlgorithm{operation, value})
		return nil
	}
}
