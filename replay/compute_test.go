package replay_test

import (
	"cmp"
	"math"
	"strings"
	"testing"

	"reprise/kernels/noise"
	"reprise/replay"
	"reprise/trace"
)

// TestComputeNoise: amounts with a spread are drawn by the name of their place, the rank, the
// step, and their number in it, and scaled; others, and all without the option, are as they are.
// The host has a core of 1 Gf.
func TestComputeNoise(t *testing.T) {
	flops := func(mean, spread float64) trace.Action {
		return trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(mean), trace.FloatArg(spread)}}
	}
	step := func(n int64) trace.Action { return trace.Action{Kind: trace.KindStep, X: [4]int64{n}} }
	list := []trace.Action{step(0), flops(2e9, 1e9), flops(3e9, 0), step(1), flops(1e9, 3e9), flops(1e9, 0.5e9)}
	source := noise.NewSource(7)
	drawn := func(rank uint32) float64 {
		return noise.Skewed(2, 1, source.Draw(noise.Computation, rank, 0, 0)) + 3 +
			noise.Skewed(1, 3, source.Draw(noise.Computation, rank, 1, 0)) + noise.Skewed(1, 0.5, source.Draw(noise.Computation, rank, 1, 1))
	}
	for _, c := range []struct {
		name  string
		noise bool
		ranks int
		want  float64
	}{
		{"means", false, 1, 7},
		{"drawn", true, 1, drawn(0)},
		{"drawn on a shared core", true, 2, drawn(0) + drawn(1)},
	} {
		b := newBench(t, star(1), 1)
		b.Hosts, b.header.Ranks, b.Seed, b.ComputeNoise, b.ComputeScale = make([]int32, c.ranks), c.ranks, 7, c.noise, 2
		lists := make([][]trace.Action, c.ranks)
		for r := range lists {
			lists[r] = list
		}
		res := b.run(t, lists...)
		near(t, c.name, res.Makespan, 2*c.want) // of who shares the core: it works all the time
		if (res.Seed != nil) != c.noise {
			t.Errorf("%s: seed %v", c.name, res.Seed)
		}
	}
}

// TestSpeedZero: a host of speed 0 sends and receives as any other (SimGrid 3.32: 1,000
// bytes over the link below take 5.07 us from or to it), and is named if it computes.
func TestSpeedZero(t *testing.T) {
	const zero = `<platform version="4.1"><zone id="w" routing="Full">
		<host id="a" speed="0f"/><host id="b" speed="1Gf"/><link id="ab" bandwidth="1GBps" latency="1us"/>
		<route src="a" dst="b"><link_ctn id="ab"/></route></zone></platform>`
	for _, c := range []struct {
		name  string
		hosts []int32
		first []trace.Action
		want  string
	}{
		{"messages", []int32{0, 1}, []trace.Action{send(1, 5, 1000)}, ""},
		{"nothing to compute", []int32{0, 1}, []trace.Action{flops(0), send(1, 5, 1000)}, ""},
		{"more ranks than cores", []int32{0, 0}, []trace.Action{send(1, 5, 1000)}, ""},
		{"a computation", []int32{0, 1}, []trace.Action{send(1, 5, 1000), flops(1)}, `rank 0 computes on host "a", whose speed is 0`},
		{"a shared computation", []int32{0, 0}, []trace.Action{send(1, 5, 1000), flops(1)}, `rank 0 computes on host "a", whose speed is 0`},
	} {
		b := newBench(t, zero, 2)
		b.Machine.Hosts = c.hosts
		_, err := replay.RunSource(t.Context(), &b.header, replay.NewLists([][]trace.Action{c.first, {recv(0, 5, 1000)}}), b.Machine, b.Options)
		if err == nil && c.want != "" || err != nil && err.Error() != c.want {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// TestFactors: what computes takes 1/factor of its time, flop and kernels of both units and
// their noise; what does not, as long as ever. The host has 1 Gf and a factor of 0.8. Amounts of flop take besides so
// many times as long as their scale, shared cores or not; kernels and sleeps do not.
func TestFactors(t *testing.T) {
	flops := trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(2e9)}}
	for _, c := range []struct {
		name    string
		xml     string
		actions []trace.Action // of each rank
		ranks   int
		want    float64
		scale   float64 // 0: 1
	}{
		{"flop", star(2), []trace.Action{flops}, 1, 2 / 0.8, 0},
		{"flop, scaled", star(2), []trace.Action{flops}, 1, 1.5 * 2 / 0.8, 1.5},
		{"flop, shared and scaled", star(1), []trace.Action{flops}, 2, 2 * 1.5 * 2 / 0.8, 1.5},
		{"kernel, not scaled", star(2), []trace.Action{compute(0, 3)}, 1, 3 * 0.5 / 0.8, 1.5},
		{"sleep, not scaled", star(2), []trace.Action{sleep(2)}, 1, 2, 1.5},
		{"kernel in seconds", star(2), []trace.Action{compute(0, 3)}, 1, 3 * 0.5 / 0.8, 0},
		{"kernel in flop", star(2), []trace.Action{compute(1, 3)}, 1, 3 * 0.25 / 0.8, 0},
		{"sleep", star(2), []trace.Action{sleep(2)}, 1, 2, 0},
		// Two ranks share a core: each has half of it, and kernels in seconds do not mind.
		{"flop, shared", star(1), []trace.Action{flops}, 2, 2 * 2 / 0.8, 0},
		{"kernel in flop, shared", star(1), []trace.Action{compute(1, 3)}, 2, 2 * 3 * 0.25 / 0.8, 0},
		{"kernel in seconds, shared", star(1), []trace.Action{compute(0, 3)}, 2, 3 * 0.5 / 0.8, 0},
		// From 1 s on at half the speed: 0.8e9 flop are done by then, and the rest goes at 0.4 Gf.
		{"flop, changing", changing, []trace.Action{flops}, 1, 1 + (2-0.8)/0.4, 0},
		{"kernel in flop, changing", changing, []trace.Action{compute(1, 8)}, 1, 1 + (8*0.25-0.8)/0.4, 0},
		{"kernel in seconds, changing", changing, []trace.Action{compute(0, 3)}, 1, 3 * 0.5 / 0.8, 0},
	} {
		b := newBench(t, c.xml, 1)
		b.setKernels(t, "version: 1\nunit: s\nkernels: {a: {terms: {N: 0.5}}, b: {unit: flop, terms: {N: 2.5e8}}}\n", "a", "b")
		b.Hosts, b.header.Ranks, b.ComputeScale = make([]int32, c.ranks), c.ranks, cmp.Or(c.scale, 1)
		b.Factors = make([]float64, b.Platform.NumHosts())
		for h := range b.Factors {
			b.Factors[h] = 0.8
		}
		lists := make([][]trace.Action, c.ranks)
		for r := range lists {
			lists[r] = c.actions
		}
		near(t, c.name, b.run(t, lists...).Makespan, c.want)
	}
	b := newBench(t, star(1), 1)
	b.ComputeScale = 0
	if err := b.fail(t, nil); err.Error() != "scale of computations 0, want 1e-09 to 1e+09" {
		t.Errorf("scale 0: %v", err)
	}
}

const changing = `<platform version="4.1"><zone id="z" routing="Full"><host id="h0" speed="1Gf"/></zone>
<trace id="t" periodicity="-1">1 0.5</trace><trace_connect kind="SPEED" trace="t" element="h0"/></platform>`

// TestFactorsScaleNoise: a draw is as much longer as the mean.
func TestFactorsScaleNoise(t *testing.T) {
	ends := map[float64]float64{}
	for _, factor := range []float64{1, 0.5} {
		b := newBench(t, star(1), 1)
		b.setKernels(t, "version: 1\nunit: s\nkernels: {a: {terms: {N: 0.5}, noise: {normal: 0.01}}}\n", "a")
		b.Factors = []float64{factor}
		ends[factor] = b.run(t, []trace.Action{compute(0, 1)}).Makespan
	}
	if ends[1] == 0.5 {
		t.Error("no noise")
	}
	near(t, "half the speed", ends[0.5], 2*ends[1])
}

// TestHostSpeeds: which hosts a pattern is for; the last of several counts.
func TestHostSpeeds(t *testing.T) {
	tr, _ := smallHPL(t)
	load := func(list ...replay.HostSpeed) (replay.Machine, error) {
		m, _, _, err := replay.LoadMachine(replay.MachineSpec{Machine: "dahu", HostSpeeds: list}, tr)
		return m, err
	}
	m, err := load(replay.HostSpeed{Pattern: "dahu-*", Factor: 0.9}, replay.HostSpeed{Pattern: "dahu-[3,17-18]", Factor: 0.5})
	noError(t, err)
	for h, got := range m.Factors {
		want := 0.9
		if h == 3 || h == 17 || h == 18 {
			want = 0.5
		}
		if got != want {
			t.Errorf("host %d: factor %v, want %v", h, got, want)
		}
	}
	for _, c := range []struct {
		speed replay.HostSpeed
		want  string
	}{
		{replay.HostSpeed{Pattern: "node-*", Factor: 0.9}, `speed of hosts "node-*=0.9": dahu has no such host; its first is "dahu-0"`},
		{replay.HostSpeed{Pattern: "dahu-[3", Factor: 0.9}, `pattern "dahu-[3": [ without ]`},
		{replay.HostSpeed{Pattern: "*", Factor: 0}, "factor 0, want 1e-09 to 1e+09"},
		{replay.HostSpeed{Pattern: "*", Factor: math.NaN()}, "factor is not a number"},
	} {
		if _, err := load(c.speed); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.speed, err, c.want)
		}
	}
	m.Factors = m.Factors[1:]
	if _, err := replay.Run(t.Context(), tr, m, replay.DefaultOptions()); err == nil || !strings.Contains(err.Error(), "factors of 31 hosts, but the platform has 32") {
		t.Errorf("fewer factors than hosts: %v", err)
	}
}

func TestParseHostSpeed(t *testing.T) {
	if s, err := replay.ParseHostSpeed("a=b-[1,3]=0.9"); err != nil || s != (replay.HostSpeed{Pattern: "a=b-[1,3]", Factor: 0.9}) || s.String() != "a=b-[1,3]=0.9" {
		t.Error(s, err)
	}
	for text, want := range map[string]string{
		"node-1":    `"node-1", want PATTERN=FACTOR`,
		"=2":        `"=2": empty pattern`,
		"node-1=":   `"node-1=": factor "" is not a number`,
		"node-1=x":  `"node-1=x": factor "x" is not a number`,
		"node-1=0":  `"node-1=0": factor 0, want 1e-09 to 1e+09`,
		"node-1=-1": `"node-1=-1": factor -1, want 1e-09 to 1e+09`,
		"a[1=2":     `"a[1=2": pattern "a[1": [ without ]`,
	} {
		if _, err := replay.ParseHostSpeed(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
