package smpi

import (
	"strings"
	"testing"

	"reprise/netmodel"
	"reprise/platforms"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestOldNames: the names that versions 3.5 to 3.31 of SimGrid declare for options of 3.32,
// and those of 4, mean the same; of older ones a note says what they are called today.
func TestOldNames(t *testing.T) {
	const factors, overheads = "65472:0.94;15424:0.7;0:0.8", "0:1e-6:1e-9;1024:2e-6:1e-9"
	for _, c := range []struct{ old, value, now, note string }{
		{"network/TCP_gamma", "5e6", "network/TCP-gamma", "option network/TCP_gamma is called network/TCP-gamma today"},
		{"network/latency_factor", "2", "network/latency-factor", "option network/latency_factor is called network/latency-factor today"},
		{"network/bandwidth_factor", "0.5", "network/bandwidth-factor", "option network/bandwidth_factor is called network/bandwidth-factor today"},
		{"network/weight_S", "7", "network/weight-S", "option network/weight_S is called network/weight-S today"},
		{"network_model", "CM02", "network/model", "option network_model is called network/model today"},
		{"workstation/model", "default", "host/model", "option workstation/model is called host/model today"},
		{"workstation_model", "default", "host/model", "option workstation_model is called host/model today"},
		{"smpi/bw_factor", factors, "smpi/bw-factor", "option smpi/bw_factor is called smpi/bw-factor today"},
		{"smpi/lat_factor", factors, "smpi/lat-factor", "option smpi/lat_factor is called smpi/lat-factor today"},
		{"smpi/async_small_thres", "100", "smpi/async-small-thresh", "option smpi/async_small_thres is called smpi/async-small-thresh today"},
		{"smpi/async_small_thresh", "100", "smpi/async-small-thresh", "option smpi/async_small_thresh is called smpi/async-small-thresh today"},
		{"smpi/send_is_detached_thres", "100", "smpi/send-is-detached-thresh", "option smpi/send_is_detached_thres is called smpi/send-is-detached-thresh today"},
		{"smpi/send_is_detached_thresh", "100", "smpi/send-is-detached-thresh", "option smpi/send_is_detached_thresh is called smpi/send-is-detached-thresh today"},
		{"smpi/coll_selector", "mpich", "smpi/coll-selector", "option smpi/coll_selector is called smpi/coll-selector today"},
		{"smpi/reduce-scatter", "ompi", "smpi/reduce_scatter", "option smpi/reduce-scatter is called smpi/reduce_scatter today"},
		{"smpi/simulate_computation", "no", "smpi/simulate-computation", "option smpi/simulate_computation is called smpi/simulate-computation today"},
		{"smpi/running_power", "1Gf", "smpi/host-speed", "option smpi/running_power is called smpi/host-speed today, which has no effect on a replay"},
		{"smpi/running-power", "1Gf", "smpi/host-speed", "option smpi/running-power is called smpi/host-speed today, which has no effect on a replay"},
		{"smpi/cpu_threshold", "1", "smpi/cpu-threshold", "option smpi/cpu_threshold is called smpi/cpu-threshold today, which has no effect on a replay"},
		{"smpi/display_timing", "1", "smpi/display-timing", "option smpi/display_timing is called smpi/display-timing today, which has no effect on a replay"},
		{"smpi/use_shared_malloc", "1", "smpi/shared-malloc", "option smpi/use_shared_malloc is called smpi/shared-malloc today, which has no effect on a replay"},
		{"smpi/privatize_global_variables", "1", "smpi/privatization", "option smpi/privatize_global_variables is called smpi/privatization today, which has no effect on a replay"},
		{"smpi/IB_penalty_factors", "1;2;3", "smpi/IB-penalty-factors", "option smpi/IB_penalty_factors is called smpi/IB-penalty-factors today, which has no effect on a replay"},
		{"cpu/maxmin_selective_update", "1", "cpu/maxmin-selective-update", "option cpu/maxmin_selective_update is called cpu/maxmin-selective-update today, which has no effect on a replay"},
		{"maxmin/concurrency_limit", "-1", "maxmin/concurrency-limit", "option maxmin/concurrency_limit is called maxmin/concurrency-limit today"},
		{"surf/nthreads", "2", "tracing", "option surf/nthreads of older versions of SimGrid has no effect on a replay"},
		{"clean_atexit", "2", "tracing", "option clean_atexit of older versions of SimGrid has no effect on a replay"},
		{"gtnets/jitter", "2", "tracing", "option gtnets/jitter of older versions of SimGrid has no effect on a replay"},
		{"contexts/stack_size", "2", "tracing", ""},
		{"model-check/ksm", "2", "tracing", ""},
		{"smpi/os", overheads, "smpi/os", ""},
		{"precision/timing", "1e-7", "surf/precision", ""},
		{"precision/work-amount", "1e-4", "maxmin/precision", ""},
		{"smpi/barrier-finalization", "yes", "smpi/finalization-barrier", ""},
		{"smpi/barrier-collectives", "no", "tracing", ""},
		{"network/latency-factor", factors, "smpi/lat-factor", ""},
		{"network/bandwidth-factor", factors, "smpi/bw-factor", ""},
	} {
		got, want := DefaultOptions(), DefaultOptions()
		if err := got.Set(c.old, c.value); err != nil {
			t.Error(err)
			continue
		}
		if err := want.Set(c.now, c.value); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(netmodel.Options{})); diff != "" {
			t.Errorf("%s is not %s (-+):\n%s", c.old, c.now, diff)
		}
		if note := Obsolete(c.old); note != c.note {
			t.Errorf("%s: note %q, want %q", c.old, note, c.note)
		}
	}
	for _, name := range optionTable.Names() {
		if note := Obsolete(name); note != "" {
			t.Errorf("%s: note %q", name, note)
		}
	}
	if note := Obsolete("smpi/iprob"); note != "" {
		t.Errorf("a name that never was: note %q", note)
	}
}

// TestObsoleteOptions: the warnings of a file have its lines, and of two names of one
// option the first counts.
func TestObsoleteOptions(t *testing.T) {
	p, err := platforms.Parse(strings.NewReader(`<platform version="3"><config>
		<prop id="smpi/iprobe" value="1e-6"/>
		<prop id="network/TCP_gamma" value="1"/>
		<prop id="network/TCP-gamma" value="2"/></config>
		<cluster id="c" prefix="c" suffix="" radical="0-1" power="1" bw="1" lat="1"/></platform>`), "old.xml")
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	if err := o.ApplyConfig(p); err != nil || o.TCPGamma != 1 {
		t.Errorf("TCP-gamma %g, error %v", o.TCPGamma, err)
	}
	list := ObsoleteOptions(p)
	if len(list) != 1 || list[0].String() != "old.xml:3: option network/TCP_gamma is called network/TCP-gamma today" {
		t.Errorf("warnings %v", list)
	}
}
