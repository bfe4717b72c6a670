package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/netmodel"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/hpcg"
	"reprise/tracegen/hpl"
)

const energyOracle = "../testdata/oracle/energy/cases.zip"

// joules are those that SimGrid prints, with six decimals.
type joules struct {
	Hosts, Links map[string]float64
	All          float64 `json:"energy_j"`
	AllLinks     float64 `json:"link_energy_j"`
}

// agree compares the energy of a result with SimGrid's: to 1e-6 and the rounding of its six decimals.
func (want *joules) agree(t *testing.T, res *replay.Result) {
	t.Helper()
	check := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-6*math.Abs(want)+0.5000001e-6 {
			t.Errorf("%s: %.9g J, want %.9g", what, got, want)
		}
	}
	e := res.Energy
	if e == nil {
		t.Fatal("no energy")
	}
	if e.Joules != nil {
		check("all hosts", *e.Joules, want.All)
		if len(e.HostEnergies) != len(want.Hosts) {
			t.Errorf("%d hosts, want %d", len(e.HostEnergies), len(want.Hosts))
		}
	} else if want.All != 0 {
		t.Errorf("no energy of hosts, want %g J", want.All)
	}
	if e.LinkJoules != nil {
		check("all links", *e.LinkJoules, want.AllLinks)
	} else if want.AllLinks != 0 {
		t.Errorf("no energy of links, want %g J", want.AllLinks)
	}
	for _, h := range e.HostEnergies {
		check(h.Name, h.Joules, want.Hosts[h.Name])
	}
	for _, l := range e.LinkEnergies {
		check(l.Name, l.Joules, want.Links[l.Name])
	}
}

// TestEnergyAgreesWithSimGrid: the joules of each host and link of all recorded cases are those of SimGrid's plugins, by
// both solvers, and do not change in a replay that goes on from a checkpoint.
func TestEnergyAgreesWithSimGrid(t *testing.T) {
	dir := t.TempDir()
	names := unzip(t, energyOracle, dir)
	if len(names) < 25 {
		t.Fatalf("%d cases, want at least 25", len(names))
	}
	points := 4
	if testing.Short() {
		points = 2
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(dir, name)
			want := &joules{}
			noError(t, json.Unmarshal([]byte(readFile(t, filepath.Join(folder, "expected.json"))), want))
			res, _ := dateCase(t, folder)
			want.agree(t, res)
			rerun := rerunCase(t, folder, false)
			checkResumes(t, points, rerun)
			res, err := rerun(func(o *replay.Options) { o.Network.Solver = netmodel.SolverReference })
			noError(t, err)
			want.agree(t, res)
		})
	}
}

// wattsXML is four nodes of two cores of 1 Gf: 100 W idle, 120 W hardly loaded, 200 W with both cores.
const wattsXML = `<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" core="2" bw="125MBps" lat="50us" loopback_bw="5GBps" loopback_lat="1us">
<prop id="wattage_per_state" value="100:120:200"/></cluster></platform>`

// TestEnergyChangesNothing: powers change no time of a run with polls, and without them results say nothing of energy.
func TestEnergyChangesNothing(t *testing.T) {
	open := opener(t, func(w io.Writer) error {
		p := hpl.DefaultParams(300, 2, 4)
		p.NB = 30
		return hpl.Generate(context.Background(), w, p, hpl.Options{})
	})
	run := func(xml string) *replay.Result {
		tr, err := open()
		noError(t, err)
		p, err := platforms.Parse(strings.NewReader(xml), "test.xml")
		noError(t, err)
		set, _, _, err := replay.LoadMachine(replay.MachineSpec{Platform: "default"}, tr)
		noError(t, err)
		hosts, err := replay.FillHosts(p, 8, 2)
		noError(t, err)
		o := replay.DefaultOptions()
		o.Network.IprobeCost, o.Network.GrowInjectedTimes = 1e-6, false
		res, err := replay.Run(t.Context(), tr, replay.Machine{Platform: p, Kernels: set.Kernels, Hosts: hosts}, o)
		noError(t, err)
		return res
	}
	with, without := run(wattsXML), run(strings.Replace(wattsXML, "wattage_per_state", "comment", 1))
	if without.Energy != nil || with.Energy == nil {
		t.Fatalf("energy %+v without powers, %+v with them", without.Energy, with.Energy)
	}
	if d := cmp.Diff(without, with, cmpopts.IgnoreFields(replay.Result{}, "Header", "Energy")); d != "" {
		t.Error(d)
	}
	// Each rank computes and polls on a core of its own, so that joules follow from the times of ranks but for the busy
	// time, which is at least that of the busiest rank and at most that of both.
	cores := 0.0
	for _, k := range with.Kinds {
		if k.Name == "compute" || k.Name == "poll" {
			cores += k.Mean * 8
		}
	}
	least := 400*with.Makespan + 40*cores + 20*cores/2
	if *with.Joules < least*(1-1e-9) || *with.Joules > (least+20*cores/2)*(1+1e-9) {
		t.Errorf("%g J, want %g to %g", *with.Joules, least, least+20*cores/2)
	}
	if p := with.PeakWatts; p < with.MeanWatts || p > 800 {
		t.Errorf("peak %g W, mean %g W", p, with.MeanWatts)
	}
	var text, js bytes.Buffer
	noError(t, replay.NewReport(without, replay.Provenance{}).WriteText(&text))
	noError(t, replay.NewReport(without, replay.Provenance{}).WriteJSON(&js))
	if s := text.String() + js.String(); strings.Contains(s, "energy") || strings.Contains(s, "watts") {
		t.Errorf("results without powers speak of energy:\n%s", s)
	}
}

// TestEnergyTexts: one second with both cores of one of two hosts, 200+100 W, then one second of rest, 2*100 W, and a
// program of 1.2e9 flop: 500 J, 250 W in the mean, 0.6 Gflop/s, 0.0024 Gflops/W.
func TestEnergyTexts(t *testing.T) {
	b := newBench(t, strings.Replace(wattsXML, "0-3", "0-1", 1), 2)
	b.header.Flops = 1.2e9
	b.Hosts = []int32{0, 0}
	second := trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e9)}}
	res := b.run(t, []trace.Action{second, sleep(1)}, []trace.Action{second})
	near(t, "joules", *res.Joules, 500)
	near(t, "mean power", res.MeanWatts, 250)
	near(t, "Gflops/W", res.GflopsPerWatt, 0.0024)
	near(t, "joules of the busy host", res.HostEnergies[0].Joules, 300)
	// The parts are of 2^23 ns: those within the first second have 300 W.
	near(t, "peak power", res.PeakWatts, 300)
	var text bytes.Buffer
	noError(t, replay.NewReport(res, replay.Provenance{}).WriteText(&text))
	for _, want := range []string{"energy 500 J of hosts: mean power 250 W, peak 300 W (mean of 0.0084 s), 0.0024 Gflops/W",
		"a host takes 200 J (n1) to 300 J (n0)"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// TestEnergyOfIdleHosts: a host without speed counts as busy, one that is switched off draws wattage_off, one of another
// pstate counts as of pstate 0 until its rank does something, all as in SimGrid; a node that is slow for good has less
// load. In 2 s: 2*(200+10), 0.5*50+1.5*7, 0.5*30+1.5*20, 2*(20+0.5*100).
func TestEnergyOfIdleHosts(t *testing.T) {
	b := newBench(t, `<platform version="4.1"><zone id="z" routing="Full">
<host id="none" speed="0"><prop id="wattage_per_state" value="100:150:210"/></host>
<host id="off" speed="1Gf"><prop id="wattage_per_state" value="50:90"/><prop id="wattage_off" value="7"/></host>
<host id="state" speed="2Gf,1Gf" pstate="1"><prop id="wattage_per_state" value="30:40,20:35"/></host>
<host id="slow" speed="1Gf"><prop id="wattage_per_state" value="20:120"/></host><host id="bare" speed="1Gf"/>
</zone><trace id="t" periodicity="-1">0.5 0</trace><trace_connect kind="HOST_AVAIL" trace="t" element="off"/>
<trace id="s" periodicity="-1">0 0.5</trace><trace_connect kind="SPEED" trace="s" element="slow"/></platform>`, 2)
	b.Hosts = []int32{2, 3}
	res := b.run(t, []trace.Action{sleep(0.5), sleep(1.5)}, []trace.Action{{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(1e9)}}})
	for i, want := range []float64{2 * 210, 0.5*50 + 1.5*7, 0.5*30 + 1.5*20, 2 * (20 + 0.5*100), 0} {
		near(t, res.HostEnergies[i].Name, res.HostEnergies[i].Joules, want)
	}
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0].String(), `1 of 5 hosts have no wattage_per_state and count as 0 W, the first is "bare"`) {
		t.Errorf("warnings %v", res.Warnings)
	}
}

// TestEnergySampled: the energy of an estimate is that of all steps, within its interval; several runs have a mean.
func TestEnergySampled(t *testing.T) {
	open := opener(t, func(w io.Writer) error {
		return hpcg.Generate(context.Background(), w, hpcg.DefaultParams(12, 24), hpcg.Options{})
	})
	tr, err := open()
	noError(t, err)
	m, o, _, err := replay.LoadMachine(replay.MachineSpec{Platform: "new --nodes 4 --cores 3 --watts 100:120:200"}, tr)
	noError(t, err)
	exact, err := replay.Run(t.Context(), tr, m, o)
	noError(t, err)
	e, err := replay.Sample(t.Context(), open, m, o, replay.SampleOptions{Tolerance: 0.01, Workers: 2})
	noError(t, err)
	if off := math.Abs(*e.Joules - *exact.Joules); off > e.EnergyInterval+0.001**exact.Joules || e.EnergyInterval > 0.1**exact.Joules {
		t.Errorf("%g J within %g, exact %g", *e.Joules, e.EnergyInterval, *exact.Joules)
	}
	runs, err := replay.Runs(t.Context(), o, replay.RunsOptions{Runs: 2, Workers: 2}, func(o replay.Options) (*replay.Result, error) {
		tr, err := open()
		if err != nil {
			return nil, err
		}
		return replay.Run(t.Context(), tr, m, o)
	})
	noError(t, err)
	near(t, "mean of runs", runs.Joules.Mean, *exact.Joules)
}
