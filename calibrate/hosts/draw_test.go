package hosts

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/portable"
	"reprise/kernels"
)

func builtinModel(t *testing.T, name string) *Model {
	t.Helper()
	m, err := Find(name)
	must(t, err)
	return m
}

func drawn(t *testing.T, m *Model, o DrawOptions) *Machine {
	t.Helper()
	machine, err := m.Draw(o)
	must(t, err)
	return machine
}

// TestBuiltin: the published models stand in their files, with the figures of the
// source's text: a mean of 7.382e-11 s per product of the dimensions, 3.4 % between CPUs, 0.8 %
// between days, 3.8 % of noise; of whole nodes, 3.4 % of noise.
func TestBuiltin(t *testing.T) {
	for _, name := range BuiltinNames() {
		builtinModel(t, name)
	}
	c := builtinModel(t, "dahu-cpu").Classes[0]
	n := builtinModel(t, "dahu-node").Classes[0]
	for _, f := range []struct {
		what      string
		got, want float64
		digits    float64
	}{
		{"mean", c.Mean[0], 7.382e-11, 1e-14}, {"between CPUs", deviation(c.Spatial, 0) / c.Mean[0], 0.034, 5e-4},
		{"between days", deviation(c.Temporal, 0) / c.Mean[0], 0.008, 5e-4}, {"noise", c.Mean[2] / c.Mean[0], 0.038, 5e-4},
		{"noise of nodes", n.Mean[2] / n.Mean[0], 0.034, 5e-4},
	} {
		if math.Abs(f.got-f.want) > f.digits {
			t.Errorf("%s: %g, published: %g", f.what, f.got, f.want)
		}
	}
	if _, err := Find("elsewhere"); err == nil || !strings.Contains(err.Error(), "dahu-cpu") {
		t.Errorf("got %v, want the names", err)
	}
}

// TestDrawnMoments compares draws from the published models with their moments. Of n normal
// values the mean scatters by sd/sqrt(n), a covariance c of x and y by sqrt((var(x)·var(y)+c²)/(n-1));
// six of that are allowed. On one day the covariance is spatial + temporal; the difference of two days has twice the
// temporal one.
func TestDrawnMoments(t *testing.T) {
	for _, name := range []string{"dahu-cpu", "dahu-node"} {
		m := builtinModel(t, name)
		c := m.Classes[0]
		first := drawn(t, m, DrawOptions{Hosts: 4096, Seed: 7, Day: 1})
		second := drawn(t, m, DrawOptions{Hosts: 4096, Seed: 7, Day: 2})
		var onDay, between [][]float64
		for i, u := range first.Processors {
			onDay, between = append(onDay, u.Values), append(between, slices.Clone(u.Values))
			for j := range between[i] {
				between[i][j] -= second.Processors[i].Values[j]
			}
		}
		checkMoments(t, name, onDay, c.Mean, combined(1, c.Spatial, 1, c.Temporal))
		checkMoments(t, name+", two days", between, make([]float64, 3), combined(2, c.Temporal, 0, c.Temporal))
	}
}

// combined returns a·x + b·y.
func combined(a float64, x [][]float64, b float64, y [][]float64) [][]float64 {
	m := portable.Square(len(x))
	for i := range m {
		for j := range m {
			m[i][j] = a*x[i][j] + b*y[i][j]
		}
	}
	return m
}

func checkMoments(t *testing.T, what string, x [][]float64, mean []float64, covariance [][]float64) {
	t.Helper()
	n := float64(len(x))
	for i := range mean {
		for j := range mean {
			got, gotCov := 0.0, 0.0
			for _, v := range x {
				got += v[i] / n
				gotCov += (v[i] - mean[i]) * (v[j] - mean[j]) / n
			}
			if e := 6 * deviation(covariance, i) / math.Sqrt(n); math.Abs(got-mean[i]) > e {
				t.Errorf("%s: mean of variable %d: %g, want %g within %g", what, i, got, mean[i], e)
			}
			want := covariance[i][j]
			if e := 6 * math.Sqrt((covariance[i][i]*covariance[j][j]+want*want)/(n-1)); math.Abs(gotCov-want) > e {
				t.Errorf("%s: covariance of variables %d and %d: %g, want %g within %g", what, i, j, gotCov, want, e)
			}
		}
	}
}

// TestDrawnClasses: the number of CPUs of the slow class is binomial.
func TestDrawnClasses(t *testing.T) {
	m := builtinModel(t, "dahu-cooling")
	machine := drawn(t, m, DrawOptions{Hosts: 4096, Seed: 3, Day: 1})
	s := machine.Summary()
	n, p := 2*4096., 1./9
	if got := float64(s.Classes[1].Units); math.Abs(got-n*p) > 6*math.Sqrt(n*p*(1-p)) {
		t.Errorf("%g slow CPUs of %g, want %g", got, n, n*p)
	}
	slow, want := s.Classes[1].Range[0].Mean, m.Classes[1].Mean[0]
	sd := math.Sqrt((m.Classes[1].Spatial[0][0] + m.Classes[1].Temporal[0][0]) / float64(s.Classes[1].Units))
	if math.Abs(slow-want) > 6*sd {
		t.Errorf("slow CPUs take %g s on average, want %g within %g", slow, want, 6*sd)
	}
}

// TestIndependence: a host is the same however many are drawn; on average it is
// the same on all days; each seed has other hosts.
func TestIndependence(t *testing.T) {
	m := builtinModel(t, "dahu-cooling")
	few, many := drawn(t, m, DrawOptions{Hosts: 8, Seed: 7, Day: 3}), drawn(t, m, DrawOptions{Hosts: 64, Seed: 7, Day: 3})
	if diff := cmp.Diff(few.Processors, many.Processors[:16]); diff != "" {
		t.Error(diff)
	}
	average := drawn(t, m, DrawOptions{Hosts: 8, Seed: 7})
	seen := map[float64]bool{}
	for i, u := range average.Processors {
		c := m.Classes[u.Class]
		if d := math.Abs(u.Values[0] - few.Processors[i].Values[0]); d == 0 || d > 6*deviation(c.Temporal, 0) || u.Class != few.Processors[i].Class {
			t.Errorf("unit %d: %g on day 3 and %g on average", i, few.Processors[i].Values[0], u.Values[0])
		}
		seen[u.Values[0]] = true
	}
	for _, u := range drawn(t, m, DrawOptions{Hosts: 8, Seed: 8}).Processors {
		seen[u.Values[0]] = true
	}
	if len(seen) != 32 {
		t.Errorf("%d different CPUs of 32", len(seen))
	}
}

// TestRange: a law whose deviation is as large as its mean has no times below zero,
// and one that has nothing else is an error.
func TestRange(t *testing.T) {
	machine := drawn(t, normalModel(1, 1, 0), DrawOptions{Hosts: 1000, Seed: 1, Day: 1})
	for _, u := range machine.Processors {
		if u.Values[0] <= 0 {
			t.Fatalf("a time of %g s", u.Values[0])
		}
	}
	// Of a standard normal law a part of Phi(-1) = 0.1587 is more than 1 below the mean, so
	// that each value needs 0.1587/(1-0.1587) = 0.1886 more draws, 188.6 +- 15 for 1,000.
	if got := machine.Summary().Redrawn; got < 99 || got > 278 {
		t.Errorf("%d redrawn, want 189", got)
	}
	m := &Model{CPUsPerHost: 1, Shape: Normal}
	c := Class{Name: "all", Weight: 1, Spatial: portable.Square(40), Temporal: portable.Square(40)}
	for i := range 40 { // all above zero: once in 2^40
		m.Variables = append(m.Variables, Variable{Kernel: fmt.Sprintf("k%d", i), Term: "N"})
		c.Mean = append(c.Mean, 1e-9)
		c.Spatial[i][i] = 1
	}
	m.Classes = []Class{c}
	if _, err := m.Draw(DrawOptions{Hosts: 1}); err == nil || !strings.Contains(err.Error(), "too large for its mean") {
		t.Errorf("got %v", err)
	}
	for _, o := range []DrawOptions{{}, {Hosts: 1 << 30}, {Hosts: 1, Day: -1}} {
		if _, err := m.Draw(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// TestKernelFileWithoutNoise: hosts that are drawn have none, whatever noise the base has.
func TestKernelFileWithoutNoise(t *testing.T) {
	m := normalModel(100, 1e-24, 0)
	var b bytes.Buffer
	must(t, drawn(t, m, DrawOptions{Hosts: 2, Seed: 7, Day: 1}).WriteYAML(&b, FileOptions{HostName: "{}", Base: []byte("version: 1\nunit: s\nnoise: {normal: 3%}\nkernels:\n  daxpy: {terms: {N: 2}}\n")}))
	set, err := kernels.Parse(&b, "drawn.yaml")
	must(t, err)
	for name, want := range map[string]bool{"daxpy": true, "dgemm": false} {
		dims := map[string][]string{"daxpy": {"N"}, "dgemm": {"M", "N", "K"}}[name]
		model, err := set.Bind(kernels.Host{Name: "1", Speed: 1e9}, kernels.Signature{Name: name, Dims: dims})
		must(t, err)
		if model.Noisy() != want {
			t.Errorf("%s: noise %v, want %v", name, !want, want)
		}
	}
}

// TestKernelFile: the file has the coefficients of each host and CPU, and, with a
// base, the base's kernels.
func TestKernelFile(t *testing.T) {
	m := builtinModel(t, "dahu-cpu")
	machine := drawn(t, m, DrawOptions{Hosts: 3, Seed: 7, Day: 1})
	gemmOf := kernels.Signature{Name: "dgemm", Dims: []string{"M", "N", "K"}}
	for _, base := range []string{"", "version: 1\nunit: flop\nkernels:\n  daxpy: {terms: {N: 2}}\n  dgemm: {terms: {M*N*K: 2}}\n"} {
		var b bytes.Buffer
		must(t, machine.WriteYAML(&b, FileOptions{Description: "drawn", Source: "here", HostName: "node-{}", Empty: "charged", Base: []byte(base)}))
		set, err := kernels.Parse(&b, "drawn.yaml")
		must(t, err)
		for i, u := range machine.Processors {
			model, err := set.Bind(kernels.Host{Name: fmt.Sprintf("node-%d", i/2), Slot: i % 2, Speed: 1e9}, gemmOf)
			must(t, err)
			if got, want := model.Seconds(&[4]int64{100, 200, 300}), u.Values[0]*6e6+u.Values[1]; !near(got, want, 1e-14) {
				t.Errorf("unit %d: %g s, want %g", i, got, want)
			}
		}
		model, err := set.Bind(kernels.Host{Name: "other", Speed: 1e9}, gemmOf)
		must(t, err)
		want := m.Classes[0].Mean[0]*6e6 + m.Classes[0].Mean[1]
		if base != "" {
			want = 12e6 / 1e9
		}
		if got := model.Seconds(&[4]int64{100, 200, 300}); !near(got, want, 1e-14) {
			t.Errorf("other host: %g s, want %g", got, want)
		}
	}
	var b bytes.Buffer
	for _, o := range []FileOptions{{HostName: "x"}, {HostName: "{}", Empty: "x"}, {HostName: "{}", Base: []byte("hosts: []\n")}, {HostName: "{}", Base: []byte("{version: 1}")}} {
		if err := machine.WriteYAML(&b, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
