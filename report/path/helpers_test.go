package path_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/kernels"
	"reprise/platforms"
	"reprise/replay"
	"reprise/report/path"
	"reprise/report/typedarray"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// models are kernel models whose matrix product is so quick that messages are most of a run.
const models = `version: 1
unit: s
kernels:
  dgemm: {terms: {M*N*K: 1e-10, M*N: 2e-10}}
  dtrsm: {terms: {M*N*N: 1e-10}}
  dlaswp04T: {terms: {M1*N: 2e-9}}
  dlaswp*: {terms: {M*N: 2e-9}}
  "*": {terms: {1: 1e-7}}
`

// tree is a fat tree of 16 hosts whose uplinks four hosts share.
const tree = `<platform version="4.1"><cluster id="c" prefix="c-" suffix="" radical="0-15" speed="1Gf" bw="1GBps" lat="1us"
	topology="FAT_TREE" topo_parameters="2;4,4;1,1;1,1"/></platform>`

// flat is a cluster with a switch.
const flat = `<platform version="4.1"><cluster id="c" prefix="c-" suffix="" radical="0-15" speed="1Gf" bw="1GBps" lat="1us"/></platform>`

// slower returns a machine whose matrix product takes ten times as long: as much of a run of
// some thousand columns as it is of a large one.
func slower(m replay.Machine) replay.Machine {
	m.Kernels = m.Kernels.Quicker("dgemm", 0.1)
	return m
}

// machine is a machine for so many ranks, one on each host.
func machine(t testing.TB, xml string, ranks int, settings ...string) (replay.Machine, replay.Options) {
	t.Helper()
	p, err := platforms.Parse(strings.NewReader(xml), "test.xml")
	noError(t, err)
	k, err := kernels.Parse(strings.NewReader(models), "test.yaml")
	noError(t, err)
	m := replay.Machine{Platform: p, Kernels: k}
	m.Hosts, err = replay.FillHosts(p, ranks, 1)
	noError(t, err)
	o := replay.DefaultOptions()
	for _, s := range settings {
		name, value, _ := strings.Cut(s, ":")
		noError(t, o.Network.Set(name, value))
	}
	return m, o
}

// player replays the same on any machine.
type player func(m replay.Machine, o replay.Options) (*replay.Result, error)

// run replays and returns the critical path, which fits the result.
func (play player) run(t testing.TB, h *trace.Header, m replay.Machine, o replay.Options) (*replay.Result, *path.Data) {
	t.Helper()
	p := path.New(h, m, o)
	o.Observers = []replay.Observer{p.Observer()}
	res, err := play(m, o)
	noError(t, err)
	d := p.Data()
	if n := p.Observer().Log.Gaps(); n != 0 {
		t.Errorf("%d stretches do not meet", n)
	}
	if d.Seconds != res.Makespan || res.Ranks[d.Rank].End != res.Makespan {
		t.Errorf("a path of %v s to rank %d, want the makespan, %v s", d.Seconds, d.Rank, res.Makespan)
	}
	sum, seen := 0.0, map[path.Part]bool{}
	for _, part := range d.Parts {
		if sum += part.Seconds; part.Seconds < 0 {
			t.Errorf("less than nothing: %+v", part)
		}
		what := path.Part{Name: part.Name, Kind: part.Kind, Phase: part.Phase, Level: part.Level, Queue: part.Queue}
		if seen[what] {
			t.Errorf("there twice: %+v", what)
		}
		seen[what] = true
	}
	if math.Abs(sum-d.Seconds) > 1e-9*d.Seconds {
		t.Errorf("parts add up to %v s of %v s", sum, d.Seconds)
	}
	checkHops(t, d)
	return res, d
}

// checkHops checks that hops ascend, up to the end.
func checkHops(t testing.TB, d *path.Data) {
	t.Helper()
	times, err := typedarray.Values[float64](d.Hops.Times)
	noError(t, err)
	for i, at := range times {
		if i > 0 && at < times[i-1] || at > d.Seconds {
			t.Errorf("hop %d at %v s, after one at %v s, of a path of %v s", i, at, times[max(0, i-1)], d.Seconds)
		}
	}
}

// randomHPL draws a configuration of HPL for 16 ranks.
func randomHPL(rng *rand.Rand) hpl.Params {
	p := hpl.DefaultParams(200+rng.IntN(600), 4, 4)
	if rng.IntN(3) == 0 {
		p.P, p.Q = 2, 8
	}
	p.NB, p.Depth = 16+rng.IntN(48), rng.IntN(3)
	p.Bcast = hpl.Bcast(rng.IntN(6))
	return p
}

// hplPlayer replays a configuration of HPL.
func hplPlayer(t testing.TB, p hpl.Params) (*trace.Header, player) {
	t.Helper()
	var file bytes.Buffer
	noError(t, hpl.Generate(t.Context(), &file, p, hpl.Options{}))
	open := func() (*trace.Trace, error) { return trace.NewReader(bytes.NewReader(file.Bytes()), "hpl") }
	first, err := open()
	noError(t, err)
	return first.Header(), func(m replay.Machine, o replay.Options) (*replay.Result, error) {
		tr, err := open()
		if err != nil {
			return nil, err
		}
		return replay.Run(t.Context(), tr, m, o)
	}
}

// text describes a configuration.
func text(p hpl.Params) string {
	return fmt.Sprintf("N=%d NB=%d %dx%d depth %d bcast %v", p.N, p.NB, p.P, p.Q, p.Depth, p.Bcast)
}
