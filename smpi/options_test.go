package smpi

import (
	"slices"
	"strings"
	"testing"

	"reprise/netmodel"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func with(o Options, pairs ...string) Options {
	for i := 0; i < len(pairs); i += 2 {
		if err := o.Set(pairs[i], pairs[i+1]); err != nil {
			panic(err)
		}
	}
	return o
}

// TestDefaults compares the defaults with the strings of SimGrid's documentation.
func TestDefaults(t *testing.T) {
	o := with(DefaultOptions(),
		"smpi/bw-factor", "65472:0.940694;15424:0.697866;9376:0.58729;5776:1.08739;3484:0.77493;1426:0.608902;732:0.341987;257:0.338112;0:0.812084",
		"smpi/lat-factor", "65472:11.6436;15424:3.48845;9376:2.59299;5776:2.18796;3484:1.88101;1426:1.61075;732:1.9503;257:1.95341;0:2.01467",
		"network/model", "SMPI", "network/crosstraffic", "yes", "network/TCP-gamma", "4194304",
		"network/loopback-bw", "10e9", "network/loopback-lat", "0",
		"surf/precision", "1e-9", "maxmin/precision", "1e-5",
		"smpi/async-small-thresh", "0", "smpi/send-is-detached-thresh", "65536",
		"smpi/test", "1e-4", "smpi/iprobe", "1e-4", "smpi/grow-injected-times", "yes", "smpi/iprobe-cpu-usage", "1",
		"smpi/wtime", "1e-8", "smpi/simulate-computation", "yes", "smpi/init", "0", "smpi/finalization-barrier", "no",
		"smpi/coll-selector", "default", "network/optim", "Lazy", "cpu/optim", "Lazy", "smpi/host-speed", "1Gf", "tracing", "yes", "contexts/stack-size", "16", "maxmin/concurrency-limit", "-1",
		"reprise/solver", "local", "reprise/contention", "yes", "reprise/poll", "posted", "reprise/bw-factor", "progress",
	)
	if diff := cmp.Diff(DefaultOptions(), o, cmpopts.IgnoreUnexported(netmodel.Options{})); diff != "" {
		t.Errorf("default, set (-+):\n%s", diff)
	}
	if o.WeightS != 8775 {
		t.Errorf("weight-S %v, want 8775", o.WeightS)
	}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}

// TestModelDefaults: the model brings its own defaults, which an explicit setting
// beats in either order.
func TestModelDefaults(t *testing.T) {
	for _, c := range []struct {
		set             []string
		weight, bw, lat float64
	}{
		{[]string{"network/model", "LV08"}, 20537, 0.97, 13.01},
		{[]string{"network/model", "CM02"}, 0, 1, 1},
		{[]string{"network/model", "LV08", "network/model", "SMPI"}, 8775, 1, 1},
		{[]string{"network/weight-S", "5", "network/model", "LV08"}, 5, 0.97, 13.01},
		{[]string{"network/model", "LV08", "network/weight-S", "5"}, 5, 0.97, 13.01},
		{[]string{"reprise/bw-factor", "bound"}, 8775, 0.97, 1},
		{[]string{"reprise/bw-factor", "bound", "reprise/bw-factor", "progress"}, 8775, 1, 1},
		{[]string{"reprise/bw-factor", "bound", "network/model", "CM02"}, 0, 1, 1},
		{[]string{"network/bandwidth-factor", "1", "reprise/bw-factor", "bound"}, 8775, 1, 1},
		{[]string{"reprise/bw-factor", "bound", "network/bandwidth-factor", "1"}, 8775, 1, 1},
		{[]string{"network/latency-factor", "2", "network/bandwidth-factor", "0.5", "network/model", "CM02"}, 0, 0.5, 2},
		// A table is that of the model SMPI: it says nothing of the others.
		{[]string{"network/latency-factor", "0:2;100:3", "network/bandwidth-factor", "0:0.5;100:0.6", "network/model", "LV08"}, 20537, 0.97, 13.01},
		{[]string{"network/bandwidth-factor", "0:0.5;100:0.6", "reprise/bw-factor", "bound"}, 8775, 0.97, 1},
	} {
		o := with(DefaultOptions(), c.set...)
		if o.WeightS != c.weight || o.BandwidthFactor != c.bw || o.LatencyFactor != c.lat {
			t.Errorf("%v: S %v, factors %v and %v, want %v, %v, %v",
				c.set, o.WeightS, o.BandwidthFactor, o.LatencyFactor, c.weight, c.bw, c.lat)
		}
	}
}

// TestHostModel: times of smpirun 3.32 on two hosts tell which model it takes: 2.332 ms with
// LV08, 1.100 with CM02, 2.227 with SMPI.
func TestHostModel(t *testing.T) {
	for _, c := range []struct {
		set  []string
		want netmodel.Model
	}{
		{[]string{"host/model", "default"}, netmodel.ModelLV08},
		{[]string{"host/model", "default", "network/model", "CM02"}, netmodel.ModelLV08},
		{[]string{"network/model", "CM02", "host/model", "default"}, netmodel.ModelLV08},
		{[]string{"host/model", "default", "host/model", "compound"}, netmodel.ModelSMPI},
		{[]string{"host/model", "default", "network/model", "CM02", "host/model", "compound"}, netmodel.ModelCM02},
		{[]string{"host/model", "default", "host/model", "default", "host/model", "compound"}, netmodel.ModelSMPI},
		{[]string{"host/model", "compound", "network/model", "CM02"}, netmodel.ModelCM02},
	} {
		o := with(DefaultOptions(), c.set...)
		weight := map[netmodel.Model]float64{netmodel.ModelSMPI: 8775, netmodel.ModelLV08: 20537, netmodel.ModelCM02: 0}[c.want]
		latency := map[netmodel.Model]float64{netmodel.ModelSMPI: 1, netmodel.ModelLV08: 13.01, netmodel.ModelCM02: 1}[c.want]
		if o.Model != c.want || o.WeightS != weight || o.LatencyFactor != latency {
			t.Errorf("%v: model %v, S %v, latency factor %v, want %v, %v, %v", c.set, o.Model, o.WeightS, o.LatencyFactor, c.want, weight, latency)
		}
	}
}

func TestSetErrors(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"smpi/bw-factors", "0:1", `unknown option "smpi/bw-factors"; did you mean smpi/bw-factor?`},
		{"network/tcp-gamma", "1", "did you mean network/TCP-gamma?"},
		{"", "", "unknown option"},
		{"smpi/os", "0:1:2;x:1:1", `option smpi/os: entry 2 "x:1:1": "x" is not a number >= 0`},
		{"smpi/os", ";", "no entries"},
		{"smpi/or", "0:1:2:3", "value 3 after fixed and per-byte costs has no meaning"},
		{"smpi/bw-factor", "0:1;0:2", "threshold 0 appears twice"},
		{"host/model", "ptask_L07", `"ptask_L07", want compound, or default, which means network/model:LV08: no other is modelled`},
		{"maxmin/concurrency-limit", "100", `"100", want -1`},
		{"smpi/bw-factor", "0:1;1e6:2", `entry 2 "1e6:2": threshold 1e6, want its digits`},
		{"smpi/lat-factor", "0:1:1", `entry 1 "0:1:1": 3 values, want 2`},
		{"smpi/test", "-1", `"-1" is not a number >= 0`},
		{"smpi/iprobe", "NaN", `"NaN" is not a number >= 0`},
		{"smpi/async-small-thresh", "1.5", `"1.5" is not a number of bytes`},
		{"network/crosstraffic", "maybe", `"maybe" is neither yes nor no`},
		{"network/model", "IB", `"IB", want SMPI, LV08 or CM02`},
		{"smpi/coll-selector", " ", "want the name of a selection"},
		{"smpi/barrier-collectives", "yes", `"yes", want no`},
		{"network/loopback-lat", "1e300", "option network/loopback-lat: value 1e+300 s, want 0 to 1e+09 s"},
		{"network/loopback-bw", "1e-320", "option network/loopback-bw: value 1e-320 byte/s, want 1e-06 to 1e+60 byte/s"},
		{"smpi/or", "0:1e300:0", "option smpi/or: sizes above 0 bytes: overhead 1e+300 s, want 0 to 1e+09 s"},
		{"smpi/or", "0:0:1e300", "option smpi/or: sizes above 0 bytes: overhead 1e+300 s/byte, want 0 to 1e+06 s/byte"},
		{"smpi/lat-factor", "0:1;9:1e300", "option smpi/lat-factor: sizes above 9 bytes: factor 1e+300, want 0 to 1e+09"},
		{"reprise/solver", "fast", "want local, reference or clocks"},
		{"reprise/poll", "seen", "want posted or arrived"},
		{"reprise/bw-factor", "1", "want progress or bound"},
	} {
		o := DefaultOptions()
		err := o.Set(c.name, c.value)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Set(%q, %q): %v, want %q", c.name, c.value, err, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		mutate func(*Options)
		want   string
	}{
		{func(o *Options) { o.EagerBelow = 70000 }, "smpi/async-small-thresh: 70000, want 0 to smpi/send-is-detached-thresh, which is 65536"},
		{func(o *Options) { o.TCPGamma = -1e19 }, "network/TCP-gamma: value -1e+19 byte, want -1e+18 to 1e+18 byte"},
		{func(o *Options) { o.TestCost = -1 }, "smpi/test: value -1 s, want 0 to 1e+09 s"},
		{func(o *Options) { o.IprobeCost = 1e-13 }, "smpi/iprobe: 1e-13, want 0 or at least 1e-12 s"},
		{func(o *Options) { o.BandwidthFactors = netmodel.Factors{{Above: 0, Value: 0}} }, "smpi/bw-factor: sizes above 0 bytes: factor 0, want 1e-09 to 1e+09"},
		{func(o *Options) { o.BandwidthFactors = netmodel.Factors{{Above: -1, Value: 0}} }, "smpi/bw-factor: all sizes: factor 0, want 1e-09 to 1e+09"},
		{func(o *Options) { o.LatencyFactors = netmodel.Factors{{Above: 5, Value: 1}, {Above: 5, Value: 1}} }, "smpi/lat-factor: threshold 5 after 5"},
		{func(o *Options) { o.SendOverhead = netmodel.Overheads{{Fixed: -1}} }, "smpi/os: sizes above 0 bytes: overhead -1 s"},
		{func(o *Options) { o.Model = 9 }, "network/model: unknown choice 9, want 0 to 2"},
		{func(o *Options) { o.CollSelector = "" }, "smpi/coll-selector: want the name"},
	} {
		o := DefaultOptions()
		c.mutate(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestOptionTable: sorted, without repetition, and each one settable.
func TestOptionTable(t *testing.T) {
	names := optionTable.Names()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("not sorted or not unique: %v", names)
	}
	for _, name := range names {
		o := DefaultOptions()
		if err := o.Set(name, "\x00"); err != nil && strings.Contains(err.Error(), "unknown option") {
			t.Error(err)
		}
	}
}

// FuzzSet: no option and no value may panic or be accepted and then be invalid,
// other than by its relation to another option.
func FuzzSet(f *testing.F) {
	for _, name := range optionTable.Names() {
		f.Add(name, "0:1:2;5:1e-3")
		f.Add(name, "1")
		f.Add(name, "no")
		f.Add(name, "0:102;5:1e63")
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		o := DefaultOptions()
		if o.Set(name, value) != nil {
			return
		}
		if err := o.Validate(); err != nil && !mayBeInvalid(name) {
			t.Errorf("Set(%q, %q) accepted: %v", name, value, err)
		}
	})
}

// mayBeInvalid lists the options of which Set accepts values that Validate refuses:
// thresholds in conflict.
func mayBeInvalid(name string) bool {
	return slices.Contains([]string{"smpi/async-small-thresh", "smpi/send-is-detached-thresh"}, OptionName(name))
}
