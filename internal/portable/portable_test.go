package portable

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// ulps returns how many units in the last place of want got is away from it.
func ulps(got, want float64) float64 {
	if got == want || math.IsNaN(got) && math.IsNaN(want) {
		return 0
	}
	return math.Abs(got-want) / (math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want))
}

// check compares a function with package math's at edges, their negatives and random
// arguments of every size.
func check(t *testing.T, own, library func(float64) float64, edges ...float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	x := append(edges, 0, 1, 0x1p-1022, math.MaxFloat64, math.Inf(1), math.NaN())
	for range 200_000 {
		x = append(x, math.Ldexp(r.Float64(), r.IntN(2098)-1074), math.Ldexp(r.Float64(), r.IntN(8)-4), 1+(r.Float64()-0.5)/64)
	}
	worst, at := 0., 0.
	for _, x := range x {
		for _, x := range []float64{x, -x, math.Nextafter(x, 0), math.Nextafter(x, math.Inf(1))} {
			if math.Abs(x) < 0x1p-1022 && x != 0 { // of which amd64's math.Log makes 2^-1023
				continue
			}
			if u := ulps(own(x), library(x)); !(u <= worst) {
				worst, at = u, x
			}
		}
	}
	t.Logf("at most %.0f units in the last place", worst)
	if !(worst <= 2) {
		t.Errorf("%g: %g, want %g: %g units in the last place", at, own(at), library(at), worst)
	}
}

func TestLogAsMath(t *testing.T)  { check(t, Log, math.Log, math.Sqrt2/2, math.Sqrt2, 2, math.E) }
func TestExpAsMath(t *testing.T)  { check(t, Exp, math.Exp, 709.7, 709.8, -745.1, -746, 1, math.Ln2/2) }
func TestAtanAsMath(t *testing.T) { check(t, Atan, math.Atan, 2-math.Sqrt(3), 2+math.Sqrt(3), 1e16) }

// TestErrors compares with more digits: the claims of the documentation, and Log of what
// is below the normal numbers.
func TestErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	worstLog, worstAtan := off(Log(math.SmallestNonzeroFloat64), bigLog(math.SmallestNonzeroFloat64)), 0.
	for range 1_500 {
		m := 0.5 + r.Float64()/2
		for _, e := range []int{0, 1, r.IntN(40) - 20, -1022 - r.IntN(50)} {
			x := math.Ldexp(m, e)
			worstLog = max(worstLog, off(Log(x), bigLog(x)))
		}
		x := math.Ldexp(m, r.IntN(12)-6)
		worstAtan = max(worstAtan, off(Atan(x), bigAtan(x)))
	}
	t.Logf("Log %.2f, Atan %.2f units in the last place", worstLog, worstAtan)
	if worstLog >= 1 || worstAtan >= 1.5 {
		t.Errorf("Log %.2f, Atan %.2f units in the last place", worstLog, worstAtan)
	}
}

// off returns how many units in the last place a value is away from a wanted one.
func off(got float64, want *big.Float) float64 {
	near, _ := want.Float64()
	d, _ := number(0).Sub(want, number(got)).Float64()
	return math.Abs(d) / (math.Nextafter(math.Abs(near), math.Inf(1)) - math.Abs(near))
}

const digits = 160 // bits

func number(x float64) *big.Float { return new(big.Float).SetPrec(digits).SetFloat64(x) }

// power sums y^(2k+1)/(2k+1) for |y| < 1/2: the inverse hyperbolic tangent, or with
// alternating signs the inverse tangent.
func power(y *big.Float, sign float64) *big.Float {
	square, term, sum := number(0).Mul(y, y), number(0).Set(y), number(0)
	square.Mul(square, number(sign))
	for k := 1.; k < 60; k += 2 {
		sum.Add(sum, number(0).Quo(term, number(k)))
		term.Mul(term, square)
	}
	return sum
}

// bigLog is e*log 2 + 2 atanh((m-1)/(m+1)) for x = m*2^e, with log 2 = 2 atanh(1/3).
func bigLog(x float64) *big.Float {
	m, e := math.Frexp(x)
	s := number(0).Quo(number(m-1), number(0).Add(number(m), number(1)))
	half := number(0).Mul(number(float64(e)), power(number(0).Quo(number(1), number(3)), 1))
	return half.Mul(half.Add(half, power(s, 1)), number(2))
}

// bigAtan halves the angle twice: tan(a/2) = tan(a) / (1 + sqrt(1 + tan(a)^2)).
func bigAtan(x float64) *big.Float {
	y := number(x)
	for range 2 {
		root := number(0).Mul(y, y)
		root.Sqrt(root.Add(root, number(1)))
		y.Quo(y, root.Add(root, number(1)))
	}
	return number(0).Mul(power(y, -1), number(4))
}

const gamma = 0x9E3779B97F4A7C15

// The generator SplitMix64 with state s yields Mix(s), Mix(s+g), Mix(s+2g), ... with g
// the golden gamma. The first outputs for s = 0 are published with the reference
// implementation (S. Vigna, splitmix64.c; also the test of Java's SplittableRandom),
// those for 1234567 are the test vector that other implementations use.
func TestMixIsSplitMix64(t *testing.T) {
	for state, outputs := range map[uint64][]uint64{
		0:       {0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F},
		1234567: {6457827717110365317, 3203168211198807973, 9817491932198370423},
	} {
		for i, want := range outputs {
			if got := Mix(state + uint64(i)*gamma); got != want {
				t.Errorf("state %d, output %d: %#x, want %#x", state, i, got, want)
			}
		}
	}
}
