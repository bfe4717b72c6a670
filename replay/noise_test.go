package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"reprise/kernels"
	"reprise/kernels/noise"
	"reprise/netmodel"
	"reprise/platforms"
	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// noisyFile has a kernel k of 1 s with a deviation of 0.1 s, and a free one.
const noisyFile = "version: 1\nunit: s\nkernels:\n  k: {terms: {N: 1}, noise: {normal: 0.1}}\n  steady: {terms: {N: 1}}\n"

// noisyBench is a bench with the kernels of noisyFile, 0 and 1.
func noisyBench(t testing.TB, ranks int) *bench {
	t.Helper()
	b := newBench(t, star(ranks), ranks)
	b.setKernels(t, noisyFile, "k", "steady")
	return b
}

func (b *bench) setNetworkNoise(t testing.TB, yaml string) {
	t.Helper()
	n, err := netmodel.ParseNoise(strings.NewReader("version: 1\nunit: s\n"+yaml+"\n"), "noise.yaml")
	noError(t, err)
	b.NetworkNoise = n
}

// calls is n computations of kernel k.
func calls(n int) (list []trace.Action) {
	for range n {
		list = append(list, compute(0, 1))
	}
	return list
}

// TestMeanOverSeeds: a rank that computes 100 times takes 100 s with a deviation of
// 0.1*sqrt(100) = 1 s. The mean of 400 seeds has a deviation of 0.05 s, and is within 0.25 s; their
// deviation has one of 1/sqrt(800) = 0.035 s, and is within 0.18 s. 95 % of intervals of 20 seeds
// hold the theory: of 20 such, whose number has a deviation of sqrt(20*0.05*0.95) = 1, 15 at least.
func TestMeanOverSeeds(t *testing.T) {
	b := noisyBench(t, 1)
	play := func(o replay.Options) (*replay.Result, error) {
		return replay.RunSource(t.Context(), &b.header, replay.NewLists([][]trace.Action{calls(100)}), b.Machine, o)
	}
	const groups, runs = 20, 20
	sum, squares, within := 0.0, 0.0, 0
	for g := range groups {
		o := b.Options
		o.Seed = uint64(1 + g*runs)
		e, err := replay.Runs(t.Context(), o, replay.RunsOptions{Runs: runs, Workers: 1}, play)
		noError(t, err)
		if math.Abs(e.Makespan.Mean-100) <= e.Makespan.Interval {
			within++
		}
		for _, r := range e.Runs {
			sum += r.Makespan
			squares += (r.Makespan - 100) * (r.Makespan - 100)
		}
	}
	if mean := sum / (groups * runs); math.Abs(mean-100) > 0.25 {
		t.Errorf("mean %g s, want 100", mean)
	}
	if sd := math.Sqrt(squares / (groups * runs)); math.Abs(sd-1) > 0.18 {
		t.Errorf("deviation %g s, want 1", sd)
	}
	if within < 15 {
		t.Errorf("%d of %d intervals hold the theory", within, groups)
	}
}

// TestDrawsAreNamed: the third computation of rank 1 in step 7 takes what the draw of
// that name says.
func TestDrawsAreNamed(t *testing.T) {
	b := noisyBench(t, 2)
	b.Seed = 5
	res := b.run(t, nil, append([]trace.Action{compute(0, 3), step(7), compute(0, 1), compute(1, 4), compute(0, 1)}, compute(0, 1)))
	s := noise.NewSource(5)
	want := 3 + 0.1*s.Draw(noise.Computation, 1, math.MaxUint32, 0).Normal() + 4
	for i := range uint32(3) {
		want += 1 + 0.1*s.Draw(noise.Computation, 1, 7, i).Normal()
	}
	near(t, "end of rank 1", res.Ranks[1].End, want)
	if res.Seed == nil || *res.Seed != 5 {
		t.Errorf("seed %v, want 5", res.Seed)
	}
}

// TestRanksAreIndependent: the actions of another rank change nothing in a rank's noise, nor does the cost of another
// kernel; and a step takes as long alone as in the whole.
func TestRanksAreIndependent(t *testing.T) {
	own := append(append(calls(5), step(3)), calls(5)...)
	b := noisyBench(t, 3)
	alone := b.run(t, nil, own, nil)
	both := b.run(t, append(calls(17), step(3), sleep(2), compute(0, 9)), own, calls(1))
	if alone.Ranks[1].End != both.Ranks[1].End {
		t.Errorf("ends at %g s alone and at %g s beside others", alone.Ranks[1].End, both.Ranks[1].End)
	}
	near(t, "step 3", b.run(t, nil, own[5:], nil).Makespan, alone.Makespan-b.run(t, nil, own[:5], nil).Makespan)
	if same := b.run(t, own, own, nil); same.Ranks[0].End == same.Ranks[1].End {
		t.Error("two ranks have the same noise")
	}
	b.Seed = 2
	if other := b.run(t, nil, own, nil); other.Ranks[1].End == alone.Ranks[1].End {
		t.Error("two seeds have the same noise")
	}
}

// TestNoSeedWithoutNoise: a machine without noise has no seed, and any seed gives the
// same.
func TestNoSeedWithoutNoise(t *testing.T) {
	b := newBench(t, star(2), 2)
	b.setKernels(t, "version: 1\nunit: s\nkernels:\n  k: {noise: none, terms: {N: 1}}\n", "k")
	for _, seed := range []uint64{1, 2} {
		b.Seed = seed
		res := b.run(t, calls(2), nil)
		if res.Seed != nil || res.Makespan != 2 {
			t.Errorf("seed %v, %g s, want none and 2", res.Seed, res.Makespan)
		}
		if noisy, err := replay.HasNoise(&b.header, b.Machine, b.Options); noisy || err != nil {
			t.Errorf("noise %v, %v", noisy, err)
		}
	}
}

// Noise of the network. In the star a message takes 1e-4 s and (s+16)/125e6 s.

// TestNetworkMeans: without deviations the times are those of the file where it gives
// some, else those of the platform. Of 984 bytes os is 3e-3 + 984e-6 s, or is 2e-3 s and the latency
// 7e-4 s; ois of the platform 1e-3 s.
func TestNetworkMeans(t *testing.T) {
	const transfer = (984 + envelope) / starBandwidth
	blocking := [][]trace.Action{{send(1, 0, 984)}, {recv(0, 0, 984)}}
	nonblocking := [][]trace.Action{{isend(0, 1, 0, 984), wait(0)}, {irecv(0, 0, 0, 984), wait(0)}}
	for _, c := range []struct {
		name, file  string
		lists       [][]trace.Action
		first, last float64 // ends of the two ranks
	}{
		{"os", "os: [{fixed: 3.0e-3, per_byte: 1.0e-6, noise: none}]", blocking, 3.984e-3, 3.984e-3 + starLatency + transfer + 5e-4},
		{"os up to the threshold", "os: [{above: 984, fixed: 3.0e-3, noise: none}]", blocking, 1e-3, 1e-3 + starLatency + transfer + 5e-4},
		{"os above it", "os: [{fixed: 1, noise: none}, {above: 983, fixed: 2.0e-3, noise: none}]", blocking, 2e-3, 2e-3 + starLatency + transfer + 5e-4},
		{"or", "or: [{fixed: 9.0e-3, noise: none}]", blocking, 1e-3, 1e-3 + starLatency + transfer + 9e-3},
		{"or of the platform, doubled", "or: [{noise: {normal: [{weight: 1, mean: 100%, sd: 0}]}}]", blocking, 1e-3, 1e-3 + starLatency + transfer + 1e-3},
		{"latency", "latency: [{fixed: 7.0e-4, noise: none}]", blocking, 1e-3, 1e-3 + 7e-4 + transfer + 5e-4},
		{"latency, halved", "latency: [{noise: {normal: [{weight: 1, mean: -50%, sd: 0}]}}]", blocking, 1e-3, 1e-3 + starLatency/2 + transfer + 5e-4},
		{"no latency left", "latency: [{noise: {normal: [{weight: 1, mean: -1, sd: 0}]}}]", blocking, 1e-3, 1e-3 + transfer + 5e-4},
		{"ois", "ois: [{fixed: 6.0e-3, noise: none}]", nonblocking, 6e-3, 6e-3 + starLatency + transfer + 5e-4},
		{"ois of the platform", "os: [{fixed: 6.0e-3, noise: none}]", nonblocking, 2e-3, 2e-3 + starLatency + transfer + 5e-4},
	} {
		b := newBench(t, star(2), 2)
		b.set(t, "smpi/os:0:1e-3", "smpi/ois:0:2e-3", "smpi/or:0:5e-4")
		b.setNetworkNoise(t, c.file)
		res := b.run(t, c.lists...)
		near(t, c.name+": sender", res.Ranks[0].End, c.first)
		near(t, c.name+": receiver", res.Ranks[1].End, c.last)
	}
}

// TestNetworkNoiseSpares: what the protocol does not charge has no noise, and messages
// that stay on a host, here over its two links, have no noise in the latency.
func TestNetworkNoiseSpares(t *testing.T) {
	const size = 1 << 20 // a rendezvous
	b := newBench(t, star(2), 2)
	b.setNetworkNoise(t, "os: [{fixed: 1, noise: none}]\nor: [{fixed: 1, noise: none}]")
	res := b.run(t, []trace.Action{send(1, 0, size)}, []trace.Action{recv(0, 0, size)})
	near(t, "rendezvous", res.Makespan, starLatency+(size+envelope)/starBandwidth)

	b = newBench(t, star(2), 2)
	b.Hosts = []int32{0, 0}
	b.setNetworkNoise(t, "latency: [{fixed: 1, noise: none}]")
	res = b.run(t, []trace.Action{send(1, 0, size)}, []trace.Action{recv(0, 0, size)})
	near(t, "on one host", res.Makespan, starLatency+(size+envelope)/starBandwidth)
}

// TestNetworkDrawsAreNamed: overheads and latencies are the draws of the rank that pays
// them or sends, by their number in the step, in whatever order receives are posted; with kernels that
// have noise they are the same.
func TestNetworkDrawsAreNamed(t *testing.T) {
	const file = "os: [{fixed: 1, noise: {normal: 0.1}}]\nor: [{fixed: 1, noise: {normal: 0.1}}]\nlatency: [{fixed: 1, noise: {normal: 0.1}}]"
	b := noisyBench(t, 2)
	b.setNetworkNoise(t, file)
	b.Seed = 9
	res := b.run(t,
		[]trace.Action{step(4), send(1, 1, 0), send(1, 2, 0)},
		[]trace.Action{step(6), compute(0, 10), recv(0, 2, 0), recv(0, 1, 0)})
	s := noise.NewSource(9)
	of := func(use noise.Use, rank, step, index uint32) float64 {
		return 1 + 0.1*s.Draw(use, rank, step, index).Normal()
	}
	near(t, "sender", res.Ranks[0].End, of(noise.SendOverhead, 0, 4, 0)+of(noise.SendOverhead, 0, 4, 1))
	// The second message starts when its receive is posted, and takes a latency and its
	// envelope; then the first one.
	want := 10 + 0.1*s.Draw(noise.Computation, 1, 6, 0).Normal()
	for i := range uint32(2) {
		want += of(noise.Latency, 0, 4, 1-i) + envelope/starBandwidth + of(noise.RecvOverhead, 1, 6, i)
	}
	near(t, "receiver", res.Ranks[1].End, want)
}

// hplNoise makes all times of a run of HPL random.
const hplNoise = "os: [{noise: {half-normal: 10%}}]\nois: [{noise: {half-normal: 10%}}]\nor: [{fixed: 1.0e-6, per_byte: 1.0e-11, noise: {normal: 1.0e-7}}]\n" +
	"latency: [{noise: {half-normal: [{weight: 0.9, sd: 10%}, {weight: 0.1, mean: 100%, sd: 50%}]}}]"

// noisyHPL returns a run of HPL on a machine where all is random, and how to run it.
func noisyHPL(t testing.TB) (*trace.Header, func(change func(*replay.Options)) (*replay.Result, error)) {
	t.Helper()
	var file bytes.Buffer
	p := hpl.DefaultParams(600, 3, 4)
	p.NB = 20
	noError(t, hpl.Generate(t.Context(), &file, p, hpl.Options{}))
	platform, err := platforms.Builtin("dahu", 12)
	noError(t, err)
	text := strings.Replace(readFile(t, "../platforms/machines/dahu/kernels.yaml"), "\nkernels:", "\nnoise: {half-normal: 5%}\nkernels:", 1)
	set, err := kernels.Parse(strings.NewReader(text), "noisy.yaml")
	noError(t, err)
	net, err := netmodel.ParseNoise(strings.NewReader("version: 1\nunit: s\n"+hplNoise), "noise.yaml")
	noError(t, err)
	m := replay.Machine{Platform: platform, Kernels: set, NetworkNoise: net}
	m.Hosts, err = replay.FillHosts(platform, 12, 2)
	noError(t, err)
	o := replay.DefaultOptions()
	noError(t, o.Network.ApplyConfig(platform))
	open := func() *trace.Trace {
		tr, err := trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "hpl")
		if err != nil {
			t.Error(err)
		}
		return tr
	}
	ctx := t.Context() // not to be asked for in a fuzz target
	return open().Header(), func(change func(*replay.Options)) (*replay.Result, error) {
		own := o
		change(&own)
		return replay.Run(ctx, open(), m, own)
	}
}

// TestResumeWithNoise: a replay with noise that goes on from a checkpoint ends with the
// same bits, and a checkpoint of another seed is refused.
func TestResumeWithNoise(t *testing.T) {
	_, run := noisyHPL(t)
	checkResumes(t, 7, run)
	files, _ := saveAt(t, []int{100}, run, nil)
	_, err := run(func(o *replay.Options) { o.Seed, o.Resume = 3, checkpointOf(files[0]) })
	if !errors.Is(err, replay.ErrOtherRun) || !strings.Contains(err.Error(), "seed: 1 in the checkpoint, 3 now") {
		t.Errorf("another seed: %v", err)
	}
}

// TestRunsDoNotDependOnWorkers: an ensemble is the same bits for any number of workers,
// and holds what single replays give.
func TestRunsDoNotDependOnWorkers(t *testing.T) {
	_, run := noisyHPL(t)
	play := func(seed replay.Options) (*replay.Result, error) {
		return run(func(o *replay.Options) { o.Seed = seed.Seed })
	}
	var want *replay.Ensemble
	for _, workers := range []int{1, 2, 5} {
		last := 0
		e, err := replay.Runs(t.Context(), seeded(11), replay.RunsOptions{Runs: 6, Workers: workers, Progress: func(n int) { last = n }}, play)
		if err == nil && last != 6 {
			t.Errorf("%d workers: progress ends with %d runs", workers, last)
		}
		noError(t, err)
		if want == nil {
			want = e
		}
		if diff := cmp.Diff(want, e, cmpopts.IgnoreFields(replay.Ensemble{}, "Header")); diff != "" {
			t.Errorf("%d workers (-one +several):\n%s", workers, diff)
		}
	}
	seen := map[float64]bool{}
	for i, r := range want.Runs {
		res, err := play(seeded(11 + uint64(i)))
		noError(t, err)
		if r.Seed != 11+uint64(i) || r.Makespan != res.Makespan || r.Gflops != res.Gflops {
			t.Errorf("%+v, alone %g s", r, res.Makespan)
		}
		for _, s := range res.Kinds {
			if k := slices.Index(want.Names.Kinds, s.Name); k < 0 || r.Times.Kinds[k] != s.Mean {
				t.Errorf("seed %d: %+v of %v, alone %s %g s", r.Seed, r.Times, want.Names, s.Name, s.Mean)
			}
		}
		seen[r.Makespan] = true
	}
	if len(seen) != len(want.Runs) {
		t.Errorf("%d different makespans of %d seeds", len(seen), len(want.Runs))
	}
}

// seeded returns options that begin with a seed.
func seeded(seed uint64) replay.Options {
	o := replay.DefaultOptions()
	o.Seed = seed
	return o
}

// TestSpread: of 1, 2, 3, 6 the mean is 3, the deviation sqrt(14/3), the interval
// 3.1824 of it over 2 (Student's 97.5 % quantile, 3 degrees of freedom).
func TestSpread(t *testing.T) {
	values := []float64{1, 6, 2, 3}
	e, err := replay.Runs(t.Context(), seeded(1), replay.RunsOptions{Runs: 4, Workers: 2}, func(o replay.Options) (*replay.Result, error) {
		return &replay.Result{Makespan: values[o.Seed-1]}, nil
	})
	noError(t, err)
	s := e.Makespan
	near(t, "mean", s.Mean, 3)
	near(t, "deviation", s.SD, math.Sqrt(14./3))
	near(t, "smallest", s.Min, 1)
	near(t, "largest", s.Max, 6)
	if want := 3.1824 * math.Sqrt(14./3) / 2; math.Abs(s.Interval-want) > 1e-4*want {
		t.Errorf("interval %g, want %g", s.Interval, want)
	}
}

func TestRunsErrors(t *testing.T) {
	fail := errors.New("it fails")
	play := func(o replay.Options) (*replay.Result, error) {
		if o.Seed >= 3 {
			return nil, fail
		}
		return &replay.Result{}, nil
	}
	if _, err := replay.Runs(t.Context(), seeded(1), replay.RunsOptions{Runs: 9}, play); !errors.Is(err, fail) || err.Error() != "seed 3: it fails" {
		t.Errorf("got %v", err)
	}
	if _, err := replay.Runs(t.Context(), seeded(1), replay.RunsOptions{Runs: 1}, play); err == nil {
		t.Error("one run is accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if e, err := replay.Runs(ctx, seeded(0), replay.RunsOptions{Runs: 2}, play); e != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", e, err)
	}
}

// TestRunsStopped: of runs that are stopped, those that had ended are left, from the first on.
func TestRunsStopped(t *testing.T) {
	for _, at := range []int{1, 2, 5} {
		ctx, cancel := context.WithCancel(t.Context())
		e, err := replay.Runs(ctx, seeded(7), replay.RunsOptions{Runs: 9}, func(o replay.Options) (*replay.Result, error) {
			if o.Seed == 7+uint64(at) {
				cancel()
				return nil, ctx.Err()
			}
			return &replay.Result{}, nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("stopped in run %d: %v", at, err)
		}
		switch {
		case at < 2 && e != nil:
			t.Errorf("stopped in run %d: an ensemble of %d", at, len(e.Runs))
		case at >= 2 && (e == nil || len(e.Runs) != at || e.Runs[at-1].Seed != 6+uint64(at)):
			t.Errorf("stopped in run %d: %+v", at, e)
		}
	}
}

// uncertain draws a rank that calls kernel k, of terms {N: 1}, 100 times with N = 1.
func uncertain(t *testing.T, kernels string, o replay.Options, uo replay.UncertaintyOptions) (*replay.Uncertainty, error) {
	t.Helper()
	b := newBench(t, star(1), 1)
	b.setKernels(t, kernels, "k")
	return replay.Uncertain(t.Context(), &b.header, b.Machine, o, uo, func(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Played, error) {
		r, err := replay.RunSource(ctx, &b.header, replay.NewLists([][]trace.Action{calls(100)}), m, o)
		if err != nil {
			return nil, err
		}
		return replay.PlayedExactly(r), nil
	})
}

// TestUncertainty: 100 calls of 1 s, whose coefficient has a deviation of 2 %, on a host that
// is off by 3 %, with noise of 10 % of each call: 2, 3 and 1 s, and the root of the sum of the
// squares, sqrt(14), of all. Deviations of n draws have one of 1/sqrt(2n), and six of them are
// allowed. By Student's distribution, as good as normal here, 90 % are within 1.645 deviations.
func TestUncertainty(t *testing.T) {
	const n = 2000
	file := "version: 1\nunit: s\nhost_scatter: 3%\nkernels:\n  k: {terms: {N: 1}, covariance: [[4e-4]], noise: {normal: 0.1}}\n"
	u, err := uncertain(t, file, replay.DefaultOptions(), replay.UncertaintyOptions{Draws: n, Workers: 2, Causes: true})
	noError(t, err)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got/want-1) > 6/math.Sqrt(2*n) {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	near("mean", u.Makespan.Mean, 100)
	near("sd", u.Makespan.SD, math.Sqrt(14))
	near("interval", u.Makespan.High-u.Makespan.Low, 2*1.645*math.Sqrt(14))
	var names []string
	for i, p := range u.Parts {
		names = append(names, p.Name)
		near(p.Name, p.SD, float64([]int{2, 3, 1}[i]))
	}
	if diff := cmp.Diff([]string{"calibration", "hosts", "noise"}, names); diff != "" {
		t.Error(diff)
	}
	again, err := uncertain(t, file, replay.DefaultOptions(), replay.UncertaintyOptions{Draws: n, Workers: 1})
	noError(t, err)
	if diff := cmp.Diff(u.Draws, again.Draws); diff != "" {
		t.Error("with another number of workers:", diff)
	}
}

// TestUncertaintyRecorded: a host that is off by 3 % is so for computations without a kernel, too: 1e11 flop at 1 Gflop/s.
func TestUncertaintyRecorded(t *testing.T) {
	const n = 1000
	b := newBench(t, star(1), 1)
	b.setKernels(t, "version: 1\nunit: s\nhost_scatter: 3%\nkernels:\n  k: {terms: {N: 1}}\n", "k")
	u, err := replay.Uncertain(t.Context(), &b.header, b.Machine, replay.DefaultOptions(), replay.UncertaintyOptions{Draws: n, Workers: 2}, func(ctx context.Context, m replay.Machine, o replay.Options) (*replay.Played, error) {
		r, err := replay.RunSource(ctx, &b.header, replay.NewLists([][]trace.Action{{flops(1e11)}}), m, o)
		if err != nil {
			return nil, err
		}
		return replay.PlayedExactly(r), nil
	})
	noError(t, err)
	if sd := u.Makespan.SD / u.Makespan.Mean; math.Abs(sd/0.03-1) > 6/math.Sqrt(2*n) {
		t.Errorf("a deviation of %g, want 0.03", sd)
	}
}

// TestUncertaintyCovers: of 400 kernel files whose coefficient is off by a normal deviate of
// 2 %, which they say, the intervals of 20 draws hold the truth, 100 s, in 90 % of cases: a
// binomial number with a deviation of 6, of which four are allowed.
func TestUncertaintyCovers(t *testing.T) {
	const files = 400
	held := 0
	for i := range files {
		d := noise.NewSource(99).Draw(noise.Computation, 0, 0, uint32(i))
		file := fmt.Sprintf("version: 1\nunit: s\nkernels:\n  k: {terms: {N: %.17g}, covariance: [[4e-4]]}\n", 1+0.02*d.Normal())
		o := replay.DefaultOptions()
		o.Seed = uint64(1000 * i)
		u, err := uncertain(t, file, o, replay.UncertaintyOptions{Draws: 20, Workers: 1})
		noError(t, err)
		if u.Makespan.Low <= 100 && 100 <= u.Makespan.High {
			held++
		}
	}
	if math.Abs(float64(held)-0.9*files) > 24 {
		t.Errorf("%d of %d intervals hold the truth, want 360 within 24", held, files)
	}
}

// TestUncertaintyOfEstimates: draws that are estimated with a standard error of 3 s, and do not scatter.
func TestUncertaintyOfEstimates(t *testing.T) {
	b := newBench(t, star(1), 1)
	b.setKernels(t, "version: 1\nunit: s\nkernels:\n  k: {terms: {N: 1}, covariance: [[1]]}\n", "k")
	u, err := replay.Uncertain(t.Context(), &b.header, b.Machine, replay.DefaultOptions(), replay.UncertaintyOptions{Draws: 4}, func(_ context.Context, _ replay.Machine, o replay.Options) (*replay.Played, error) {
		return &replay.Played{Header: &b.header, Sampling: 3, SeedResult: replay.SeedResult{Makespan: 100}}, nil
	})
	noError(t, err)
	want := []replay.UncertaintyPart{{Name: "calibration", SD: 0}, {Name: "sampling", SD: 3}}
	// By Student's t of three degrees of freedom, 2.353363 for 90 %, and 3 % of 100 s in logarithms.
	low := 100 * math.Exp(-2.353363*0.03*math.Sqrt(1+1./4))
	if diff := cmp.Diff(want, u.Parts); diff != "" || u.Makespan.SD != 3 || math.Abs(u.Makespan.Low/low-1) > 1e-6 || math.Abs(u.Makespan.High*low/1e4-1) > 1e-6 {
		t.Error(diff, u.Makespan)
	}
}

// TestUncertaintyStopped: what ended before a signal has an interval if there are three draws: the mean of 1, 2, 3 and 4 s
// is 2.5 s.
func TestUncertaintyStopped(t *testing.T) {
	b := newBench(t, star(1), 1)
	b.setKernels(t, "version: 1\nunit: s\nkernels:\n  k: {terms: {N: 1}, covariance: [[1]]}\n", "k")
	signal := errors.New("signal")
	for _, most := range []int{2, 4} {
		ctx, stop := context.WithCancelCause(t.Context())
		n, begun := 0, false
		progress := func(ended, all int) { begun = begun || ended == 0 && all == 20 && n == 0 }
		u, err := replay.Uncertain(ctx, &b.header, b.Machine, replay.DefaultOptions(), replay.UncertaintyOptions{Draws: 20, Workers: 1, Progress: progress}, func(ctx context.Context, _ replay.Machine, _ replay.Options) (*replay.Played, error) {
			if n++; n > most {
				stop(signal)
				return nil, ctx.Err()
			}
			return &replay.Played{Header: &b.header, SeedResult: replay.SeedResult{Makespan: float64(n)}}, nil
		})
		if !begun {
			t.Error("the first draw begins before the progress is told")
		}
		if !errors.Is(err, signal) || (u != nil) != (most == 4) || u != nil && (len(u.Draws) != 4 || u.Makespan.Mean != 2.5) {
			t.Errorf("after %d: %+v, %v", most, u, err)
		}
	}
}

// TestUncertaintyErrors are drawings that cannot be, or that fail.
func TestUncertaintyErrors(t *testing.T) {
	certain := "version: 1\nunit: s\nkernels:\n  k: {terms: {N: 1}}\n"
	if _, err := uncertain(t, certain, replay.DefaultOptions(), replay.UncertaintyOptions{Draws: 20}); !errors.Is(err, replay.ErrCertain) {
		t.Errorf("a certain machine: %v", err)
	}
	if _, err := uncertain(t, noisyFile, replay.DefaultOptions(), replay.UncertaintyOptions{Draws: 2}); err == nil {
		t.Error("two draws are enough")
	}
	b := noisyBench(t, 1)
	failed := errors.New("failed")
	_, err := replay.Uncertain(t.Context(), &b.header, b.Machine, replay.DefaultOptions(), replay.UncertaintyOptions{Draws: 20, Workers: 3}, func(context.Context, replay.Machine, replay.Options) (*replay.Played, error) {
		return nil, failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("%v, want that of the replay", err)
	}
}
