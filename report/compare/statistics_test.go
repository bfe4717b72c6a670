package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestStudent: critical values as tables print them, such as that of the NIST/SEMATECH e-Handbook
// of Statistical Methods, 1.3.6.7.2.
func TestStudent(t *testing.T) {
	for _, row := range []struct{ freedom, t05, t025, t005 float64 }{
		{1, 6.314, 12.706, 63.657}, {2, 2.920, 4.303, 9.925}, {3, 2.353, 3.182, 5.841}, {5, 2.015, 2.571, 4.032}, {10, 1.812, 2.228, 3.169},
		{18, 1.734, 2.101, 2.878}, {30, 1.697, 2.042, 2.750}, {60, 1.671, 2.000, 2.660}, {100, 1.660, 1.984, 2.626}, {math.Inf(1), 1.645, 1.960, 2.576},
	} {
		for tail, want := range map[float64]float64{0.05: row.t05, 0.025: row.t025, 0.005: row.t005} {
			got := quantile(tail, row.freedom)
			near(t, "quantile", got, want, 0.0005001)
			near(t, "tail of the quantile", upperTail(got, row.freedom), tail, 1e-9)
			near(t, "other tail", upperTail(-got, row.freedom), 1-tail, 1e-9)
		}
	}
}

// The soporific drugs of Student (Biometrika 6, 1908): hours of sleep gained by ten patients,
// R's data set sleep.
var (
	drug1 = []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	drug2 = []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
)

// TestWelch: what R prints for t.test(extra ~ group, data = sleep): t = -1.8608, df = 17.776,
// p-value = 0.07939, and the interval of group 1 minus group 2, -3.3654832 to 0.2054832; and with
// paired = TRUE t = -4.0621, df = 9, p-value = 0.002833, and -2.4598858 to -0.7001142.
func TestWelch(t *testing.T) {
	for paired, want := range map[bool][5]float64{
		false: {1.8608, 17.776, 0.07939, -0.2054832, 3.3654832}, true: {4.0621, 9, 0.002833, 0.7001142, 2.4598858},
	} {
		p := newPair(MeanFigure(drug1), MeanFigure(drug2), paired)
		near(t, "t", (p.b.mean-p.a.mean)/math.Sqrt(p.variance), want[0], 5e-5)
		near(t, "degrees of freedom", p.freedom, want[1], 5e-4)
		near(t, "p", p.pValue(), want[2], 5e-6)
		i, _ := p.difference(0.025)
		near(t, "low", i.Low, want[3], 5e-8)
		near(t, "high", i.High, want[4], 5e-8)
	}
}

// TestSamePairs: values compared with themselves, seed by seed, differ by nothing at all, whatever they
// are; and one that is 1 more in all differs by 1 without doubt.
func TestSamePairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 2; n < 40; n++ {
		values, more := make([]float64, n), make([]float64, n)
		for i := range values {
			values[i] = 1 + r.Float64()/4 // 1 more is exact
			more[i] = values[i] + 1
		}
		for _, c := range []struct {
			figure func([]float64) Figure
			b      []float64
			equal  bool
		}{{MeanFigure, values, true}, {MeanFigure, more, false}, {func(v []float64) Figure { return nextOf(v, 0) }, values, true}} {
			if p := newPair(c.figure(values), c.figure(c.b), true); !p.exact() || p.equal() != c.equal {
				t.Errorf("%d values: a variance of %g, difference %g", n, p.variance, p.b.mean-p.a.mean)
			}
		}
	}
	// Of a model's errors that the values do not show, 0.5 each with a factor of 1 + 1/2, nothing cancels.
	if p := newPair(nextOf([]float64{1, 2}, 0.5), nextOf([]float64{1, 2}, 0.5), true); p.variance != 1.5 {
		t.Errorf("a variance of %g, want 2 * 0.5 * 1.5", p.variance)
	}
}

// TestRatio: at a limit k of the ratio, B - kA is as many standard deviations from 0 as the
// quantile says; that is how the limits are defined.
func TestRatio(t *testing.T) {
	a, b := []float64{10, 11, 12, 13}, []float64{12, 13, 15, 14}
	for _, paired := range []bool{false, true} {
		p := newPair(MeanFigure(a), MeanFigure(b), paired)
		for _, tail := range []float64{0.05, 0.025, 0.001} {
			limits, ok := p.ratio(tail)
			if !ok {
				t.Fatal("no limits")
			}
			for sign, k := range map[float64]float64{1: limits.Low, -1: limits.High} {
				deviation := math.Sqrt(p.b.variance + k*k*p.a.variance - 2*k*p.covariance)
				near(t, "deviations", sign*(p.b.mean-k*p.a.mean)/deviation, quantile(tail, p.freedom), 1e-9)
			}
		}
	}
	if p := newPair(MeanFigure([]float64{1, -1}), MeanFigure(b), false); p.a.mean != 0 {
		t.Fatal(p.a.mean)
	} else if _, ok := p.ratio(0.05); ok {
		t.Error("limits of a ratio to nothing")
	}
}

// TestHolm: of p = 0.01, 0.04, 0.03, 0.005 the smallest counts four times, the next three, two and
// one times, and none less than the one before: 0.02, 0.03, 0.06, and 0.04, which becomes 0.06.
// At 5 % the first and the fourth are rejected.
func TestHolm(t *testing.T) {
	want := []float64{0.03, 0.06, 0.06, 0.02}
	for i, got := range holm([]float64{0.01, 0.04, 0.03, 0.005}) {
		near(t, "adjusted", got, want[i], 1e-15)
	}
	if got := holm([]float64{0.6, 0.7}); got[0] != 1 || got[1] != 1 {
		t.Errorf("%v, want at most 1", got)
	}
}

// TestPermutation: of the 20 ways to choose three of 1 to 6 none has a mean as far above that of
// the others as 4, 5 and 6, so p = 1/20, and 2/20 to both sides. Of 8 ways of signs before 1, 2
// and 3 none has so large a sum: 1/8 and 2/8.
func TestPermutation(t *testing.T) {
	p := newPair(MeanFigure([]float64{1, 2, 3}), MeanFigure([]float64{4, 5, 6}), false)
	p.arrangements = unpaired(3, 3, 1)
	near(t, "p above", p.rearranged(identity, true), 1./20, 0)
	near(t, "p below", p.rearranged(identity, false), 1, 0)
	near(t, "p", p.pValue(), 2./20, 0)
	p = newPair(MeanFigure([]float64{1, 1, 1}), MeanFigure([]float64{2, 3, 4}), true)
	p.arrangements = paired(3, 1)
	near(t, "p of pairs above", p.rearranged(identity, true), 1./8, 0)
	near(t, "p of pairs", p.pValue(), 2./8, 0)
}

// TestArrangements: there are n over k combinations, 2^n signs, each once, the true one first.
func TestArrangements(t *testing.T) {
	for _, c := range []struct{ a, b, want int }{{3, 3, 20}, {2, 5, 21}, {7, 7, 3432}, {8, 8, mostArrangements}, {1, 1, 2}} {
		list := unpaired(c.a, c.b, 1)
		if len(list) != c.want || int(list[0][0]) != c.a || len(list[0]) != c.b {
			t.Errorf("%d and %d: %d arrangements, the first %v", c.a, c.b, len(list), list[0])
		}
	}
	for n, want := range map[int]int{2: 4, 13: 8192, 14: mostArrangements} {
		if list := paired(n, 1); len(list) != want || len(list[0]) != 0 {
			t.Errorf("%d pairs: %d arrangements, the first %v", n, len(list), list[0])
		}
	}
}

// TestInverted: at the limits that permutations allow for a shift and a factor, the test says
// just that: its probability is the tail, to the step of 1 in 10,000 that it has.
func TestInverted(t *testing.T) {
	var a, b []float64 // roots, of which no two differ by the same
	for i := range 10 {
		a, b = append(a, math.Sqrt(float64(30+13*i))), append(b, math.Sqrt(float64(71+19*i)))
	}
	for _, pairs := range []bool{false, true} {
		p := newPair(MeanFigure(a), MeanFigure(b), pairs)
		if p.arrangements = unpaired(10, 10, 1); pairs {
			p.arrangements = paired(10, 1)
		}
		step := 2 / float64(len(p.arrangements))
		shift, ok1 := p.difference(0.05)
		factor, ok2 := p.ratio(0.05)
		if !ok1 || !ok2 {
			t.Fatal("no limits")
		}
		near(t, "p at the low shift", p.rearranged(change{1, shift.Low}, true), 0.05, step)
		near(t, "p at the high shift", p.rearranged(change{1, shift.High}, false), 0.05, step)
		near(t, "p at the low factor", p.rearranged(change{factor: factor.Low}, true), 0.05, step)
		near(t, "p at the high factor", p.rearranged(change{factor: factor.High}, false), 0.05, step)
	}
	p := newPair(MeanFigure(a[:2]), MeanFigure(b[:2]), false)
	p.arrangements = unpaired(2, 2, 1)
	if i, ok := p.difference(0.05); ok {
		t.Errorf("limits %v of 6 arrangements, of which none is rarer than 1 in 6", i)
	}
}

// TestCoverage: of 4,000 pairs of samples, one with three times the deviation of the other and half
// of its size, Welch's intervals hold the difference, 1, in 95 %, a gate at the true slowdown, 10 %,
// alarms in 5 %, and permutations see a difference where there is none in 5 %, all within five deviations
// of a binomial number; permutations of unequal deviations are good in the limit only, and are given
// twice that.
func TestCoverage(t *testing.T) {
	const trials = 4000
	r := rand.New(rand.NewPCG(1, 2))
	held, alarms, seen := 0, 0, 0
	drawn := unpaired(20, 10, 1)[:1000]
	for range trials {
		a, b := make([]float64, 20), make([]float64, 10)
		for i := range a {
			a[i] = 10 + r.NormFloat64()
		}
		for i := range b {
			b[i] = 11 + 3*r.NormFloat64()
		}
		p := newPair(MeanFigure(a), MeanFigure(b), false)
		if i, _ := p.difference(0.025); i.Low <= 1 && 1 <= i.High {
			held++
		}
		if *(&tester{}).atLeast(p.a, p.b) > 0.1 {
			alarms++
		}
		p.arrangements = drawn
		if p.rearranged(change{1, 1}, true) <= 0.05 {
			seen++
		}
	}
	deviation := math.Sqrt(0.05 * 0.95 * trials)
	near(t, "intervals that hold the difference", float64(held), 0.95*trials, 5*deviation)
	near(t, "alarms of the gate", float64(alarms), 0.05*trials, 5*deviation)
	near(t, "differences seen where none are", float64(seen), 0.05*trials, 10*deviation)
}

// TestMany: of 20 pairs of which one differs by 10 standard errors, that one is told, and it is
// worse than a threshold which it passes; with a p of 0.04 each, none of 20 is.
func TestMany(t *testing.T) {
	var pairs []Pair
	for range 20 {
		// The difference is 2.054 standard errors, which is passed with p = 0.04: a half-width of 1.96
		// standard errors, and sqrt(2) of them for two.
		pairs = append(pairs, Pair{Name: "same", A: EstimatedFigure(100, 1.96), B: EstimatedFigure(100+2.054*math.Sqrt2, 1.96)})
	}
	for _, j := range Many(pairs, 0) {
		if j.Verdict != Unclear || j.Worse || math.Abs(*j.P-0.04) > 0.001 || *j.Holm < 0.5 {
			t.Errorf("%+v, p %g, corrected %g", j, *j.P, *j.Holm)
		}
	}
	pairs[7].B = EstimatedFigure(100+10*math.Sqrt2, 1.96)
	list := Many(pairs, 0.05)
	for i, j := range list {
		if (j.Verdict == More) != (i == 7) || j.Worse != (i == 7) {
			t.Errorf("%d: %+v", i, j)
		}
	}
	if list := Many(pairs, 0.13); list[7].Worse || list[7].Verdict != More {
		t.Errorf("worse than 13 %%, and it is 14 %% slower by 1.4: %+v", list[7])
	}
}

// TestManyExact: without noise a difference is one.
func TestManyExact(t *testing.T) {
	list := Many([]Pair{
		{Name: "slower", A: ExactFigure(1), B: ExactFigure(1.02)},
		{Name: "a little", A: ExactFigure(1), B: ExactFigure(1.005)},
		{Name: "same", A: ExactFigure(1), B: ExactFigure(1)},
		{Name: "quicker", A: ExactFigure(1), B: ExactFigure(0.9)},
		{Name: "unknown", A: OneDraw(1), B: OneDraw(2)},
	}, 0.01)
	for i, want := range []struct {
		verdict Verdict
		worse   bool
	}{{More, true}, {More, false}, {Equal, false}, {Less, false}, {Unclear, false}} {
		if list[i].Verdict != want.verdict || list[i].Worse != want.worse {
			t.Errorf("%+v, want %+v", list[i], want)
		}
	}
}

// TestManyPaired: what two have in common is no noise of their difference. Values with a spread of
// 10 that all differ by 1 +- 0.1 are told apart in pairs, and not by themselves.
func TestManyPaired(t *testing.T) {
	a, b := []float64{90, 100, 110, 95}, []float64{91.1, 100.9, 111.1, 95.9}
	pairs := []Pair{{Name: "paired", A: MeanFigure(a), B: MeanFigure(b), Paired: true}, {Name: "not", A: MeanFigure(a), B: MeanFigure(b)}}
	list := Many(pairs, 0)
	if list[0].Verdict != More || !list[0].Worse || list[1].Verdict != Unclear || list[1].Worse {
		t.Errorf("%+v", list)
	}
}
