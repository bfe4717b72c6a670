package replay_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
)

// TestFactors: what computes takes 1/factor of its time, flop and kernels of both units and
// their noise; what does not, as long as ever. The host has 1 Gf and a factor of 0.8.
func TestFactors(t *testing.T) {
	flops := trace.Action{Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(2e9)}}
	for _, c := range []struct {
		name    string
		xml     string
		actions []trace.Action // of each rank
		ranks   int
		want    float64
	}{
		{"flop", star(2), []trace.Action{flops}, 1, 2 / 0.8},
		{"kernel in seconds", star(2), []trace.Action{compute(0, 3)}, 1, 3 * 0.5 / 0.8},
		{"kernel in flop", star(2), []trace.Action{compute(1, 3)}, 1, 3 * 0.25 / 0.8},
		{"sleep", star(2), []trace.Action{sleep(2)}, 1, 2},
		// Two ranks share a core: each has half of it, and kernels in seconds do not mind.
		{"flop, shared", star(1), []trace.Action{flops}, 2, 2 * 2 / 0.8},
		{"kernel in flop, shared", star(1), []trace.Action{compute(1, 3)}, 2, 2 * 3 * 0.25 / 0.8},
		{"kernel in seconds, shared", star(1), []trace.Action{compute(0, 3)}, 2, 3 * 0.5 / 0.8},
		// From 1 s on at half the speed: 0.8e9 flop are done by then, and the rest goes at 0.4 Gf.
		{"flop, changing", changing, []trace.Action{flops}, 1, 1 + (2-0.8)/0.4},
		{"kernel in flop, changing", changing, []trace.Action{compute(1, 8)}, 1, 1 + (8*0.25-0.8)/0.4},
		{"kernel in seconds, changing", changing, []trace.Action{compute(0, 3)}, 1, 3 * 0.5 / 0.8},
	} {
		b := newBench(t, c.xml, 1)
		b.setKernels(t, "version: 1\nunit: s\nkernels: {a: {terms: {N: 0.5}}, b: {unit: flop, terms: {N: 2.5e8}}}\n", "a", "b")
		b.Hosts, b.header.Ranks = make([]int32, c.ranks), c.ranks
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

// TestFactorsAreSpeeds: with models in flop a factor of 2 is twice the speed in the platform, to
// the last bit.
func TestFactorsAreSpeeds(t *testing.T) {
	tr, _ := smallHPL(t)
	got := makespan(t, replay.MachineSpec{Platform: "default", HostSpeeds: []replay.HostSpeed{{Pattern: "*", Factor: 2}}})
	m, o, _, err := replay.LoadMachine(replay.MachineSpec{}, tr)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(strings.Replace(readFile(t, "../platforms/machines/default/platform.xml"), "32Gf", "64Gf", 1), "0-23", "0-3", 1)
	if m.Platform, err = platforms.Parse(strings.NewReader(strings.Replace(text, "1;24;1;1", "1;4;1;1", 1)), "quick.xml"); err != nil {
		t.Fatal(err)
	}
	want, err := replay.Run(t.Context(), tr, m, o)
	if err != nil {
		t.Fatal(err)
	}
	if got != want.Makespan {
		t.Errorf("makespan %v, with the speed in the platform %v", got, want.Makespan)
	}
}

// TestHostSpeeds: which hosts a pattern is for; the last of several counts.
func TestHostSpeeds(t *testing.T) {
	tr, _ := smallHPL(t)
	load := func(list ...replay.HostSpeed) (replay.Machine, error) {
		m, _, _, err := replay.LoadMachine(replay.MachineSpec{Machine: "dahu", HostSpeeds: list}, tr)
		return m, err
	}
	m, err := load(replay.HostSpeed{Pattern: "dahu-*", Factor: 0.9}, replay.HostSpeed{Pattern: "dahu-[3,17-18]", Factor: 0.5})
	if err != nil {
		t.Fatal(err)
	}
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

// TestFactorsInCheckpoints: a checkpoint belongs to the speeds, whoever sets them.
func TestFactorsInCheckpoints(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.Factors = []float64{1, 0.5}
	var saved bytes.Buffer
	b.Checkpoints = &replay.Checkpoints{Write: func(p *replay.Pause) error {
		saved.Reset()
		return p.Save(&saved, 0)
	}}
	lists := [][]trace.Action{{sleep(1)}, {sleep(2)}}
	b.run(t, lists...)
	b.Checkpoints, b.Factors = nil, []float64{0.5, 1}
	b.Resume = &replay.Checkpoint{File: bytes.NewReader(saved.Bytes()), Size: int64(saved.Len()), Name: "state"}
	_, err := replay.RunSource(t.Context(), &b.header, replay.NewLists(lists), b.Machine, b.Options)
	if err == nil || !strings.Contains(err.Error(), "speeds of hosts: ") {
		t.Errorf("other speeds: %v", err)
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
