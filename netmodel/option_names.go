package netmodel

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reprise/internal/words"
)

// option is one name that Options.Set understands.
type option struct {
	name string
	set  func(o *Options, value string) error
}

// optionTable lists the options that Set understands, sorted by name.
var optionTable = []option{
	{"cpu/maxmin-selective-update", ignored},
	{"cpu/model", only("Cas01")},
	{"cpu/optim", ignored},
	{"cpu/solver", only("maxmin")},
	{"host/model", setHostModel},
	{"maxmin/concurrency-limit", only("-1")},
	{"maxmin/precision", number(func(o *Options) *float64 { return &o.SharePrecision })},
	{"network/TCP-gamma", number(func(o *Options) *float64 { return &o.TCPGamma })},
	{"network/bandwidth-factor", tracked(explicitBandwidthFactor, func(o *Options) *float64 { return &o.BandwidthFactor })},
	{"network/crosstraffic", yesNo(func(o *Options) *bool { return &o.CrossTraffic })},
	{"network/latency-factor", tracked(explicitLatencyFactor, func(o *Options) *float64 { return &o.LatencyFactor })},
	{"network/loopback-bw", number(func(o *Options) *float64 { return &o.LoopbackBandwidth })},
	{"network/loopback-lat", number(func(o *Options) *float64 { return &o.LoopbackLatency })},
	{"network/maxmin-selective-update", ignored},
	{"network/model", setModel},
	{"network/optim", ignored},
	{"network/solver", only("maxmin")},
	{"network/weight-S", tracked(explicitWeightS, func(o *Options) *float64 { return &o.WeightS })},
	{"reprise/bw-factor", setFactorRule},
	{"reprise/contention", yesNo(func(o *Options) *bool { return &o.Contention })},
	{"reprise/loopback-bw-factor", factors(func(o *Options) *Factors { return &o.LoopbackBandwidthFactors })},
	{"reprise/loopback-lat-factor", factors(func(o *Options) *Factors { return &o.LoopbackLatencyFactors })},
	{"reprise/poll", setPoll},
	{"reprise/solver", setSolver},
	{"smpi/allgather", algorithm("allgather")},
	{"smpi/allgatherv", algorithm("allgatherv")},
	{"smpi/allreduce", algorithm("allreduce")},
	{"smpi/alltoall", algorithm("alltoall")},
	{"smpi/alltoallv", algorithm("alltoallv")},
	{"smpi/async-small-thresh", bytes(func(o *Options) *int64 { return &o.EagerBelow })},
	{"smpi/auto-shared-malloc-thresh", ignored},
	{"smpi/barrier", algorithm("barrier")},
	{"smpi/bcast", algorithm("bcast")},
	{"smpi/bw-factor", factors(func(o *Options) *Factors { return &o.BandwidthFactors })},
	{"smpi/coll-selector", setCollSelector},
	{"smpi/cpu-threshold", ignored},
	{"smpi/display-allocs", ignored},
	{"smpi/display-timing", ignored},
	{"smpi/errors-are-fatal", ignored},
	{"smpi/finalization-barrier", yesNo(func(o *Options) *bool { return &o.FinalizationBarrier })},
	{"smpi/gather", algorithm("gather")},
	{"smpi/grow-injected-times", yesNo(func(o *Options) *bool { return &o.GrowInjectedTimes })},
	{"smpi/host-speed", ignored},
	{"smpi/init", number(func(o *Options) *float64 { return &o.InitTime })},
	{"smpi/iprobe", number(func(o *Options) *float64 { return &o.IprobeCost })},
	{"smpi/iprobe-cpu-usage", number(func(o *Options) *float64 { return &o.IprobeCPUUsage })},
	{"smpi/keep-temps", ignored},
	{"smpi/lat-factor", factors(func(o *Options) *Factors { return &o.LatencyFactors })},
	{"smpi/list-leaks", ignored},
	{"smpi/ois", overheads(func(o *Options) *Overheads { return &o.IsendOverhead })},
	{"smpi/or", overheads(func(o *Options) *Overheads { return &o.RecvOverhead })},
	{"smpi/os", overheads(func(o *Options) *Overheads { return &o.SendOverhead })},
	{"smpi/pedantic", ignored},
	{"smpi/privatization", ignored},
	{"smpi/privatize-libs", ignored},
	{"smpi/reduce", algorithm("reduce")},
	{"smpi/reduce_scatter", algorithm("reduce_scatter")},
	{"smpi/scatter", algorithm("scatter")},
	{"smpi/send-is-detached-thresh", bytes(func(o *Options) *int64 { return &o.DetachedBelow })},
	{"smpi/shared-malloc", ignored},
	{"smpi/shared-malloc-blocksize", ignored},
	{"smpi/shared-malloc-hugepage", ignored},
	{"smpi/simulate-computation", yesNo(func(o *Options) *bool { return &o.SimulateComputation })},
	{"smpi/test", number(func(o *Options) *float64 { return &o.TestCost })},
	{"smpi/tmpdir", ignored},
	{"smpi/trace-call-location", ignored},
	{"smpi/trace-call-use-absolute-path", ignored},
	{"smpi/wtime", ignored},
	{"surf/precision", number(func(o *Options) *float64 { return &o.TimePrecision })},
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
// --cfg=NAME:VALUE. Options of SimGrid that cannot change the dates of a replay
// (such as smpi/host-speed, network/optim, or all that begin with contexts, debug,
// exception, path or tracing) are accepted and have no effect. An unknown name is an
// error that names the nearest known one, if it is near. Setting
// network/model, host/model or reprise/bw-factor also sets the defaults of
// network/weight-S, network/bandwidth-factor and network/latency-factor that go with it,
// unless these were set by name, before or after.
func (o *Options) Set(name, value string) error {
	for i := range optionTable {
		if optionTable[i].name == name {
			if err := optionTable[i].set(o, value); err != nil {
				return fmt.Errorf("option %s: %w", name, err)
			}
			return nil
		}
	}
	if aside(name) {
		return nil
	}
	if near := words.Nearest(name, OptionNames()); near != "" {
		return fmt.Errorf("unknown option %q; did you mean %s?", name, near)
	}
	return fmt.Errorf("unknown option %q; those of docs/network-model.md are known", name)
}

// ignored accepts any value: the option has no effect on the dates of a replay.
func ignored(*Options, string) error { return nil }

// aside reports whether an option belongs to one of the families of SimGrid that have no
// effect on the dates of a replay.
func aside(name string) bool {
	family, _, _ := strings.Cut(name, "/")
	return slices.Contains([]string{"contexts", "debug", "exception", "path", "tracing"}, family)
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

func number(field func(*Options) *float64) func(*Options, string) error {
	return func(o *Options, value string) (err error) {
		v, err := parseNumber(value)
		if err == nil {
			*field(o) = v
		}
		return err
	}
}

// tracked is number, and remembers that the field was set by name.
func tracked(bit uint8, field func(*Options) *float64) func(*Options, string) error {
	set := number(field)
	return func(o *Options, value string) error {
		err := set(o, value)
		if err == nil {
			o.explicit |= bit
		}
		return err
	}
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

func factors(field func(*Options) *Factors) func(*Options, string) error {
	return func(o *Options, value string) error {
		t, err := ParseFactors(value)
		if err == nil {
			*field(o) = t
		}
		return err
	}
}

func overheads(field func(*Options) *Overheads) func(*Options, string) error {
	return func(o *Options, value string) error {
		t, err := ParseOverheads(value)
		if err == nil {
			*field(o) = t
		}
		return err
	}
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

func setCollSelector(o *Options, value string) error {
	switch value {
	case "default", "ompi", "mpich":
		o.CollSelector = value
		return nil
	}
	return fmt.Errorf("%q is not supported, want default, ompi or mpich", value)
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
