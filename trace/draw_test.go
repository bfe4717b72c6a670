package trace

import (
	"math"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The generator SplitMix64 with seed 0 yields mix(0), mix(g), mix(2g), ... with g
// the golden gamma. The first outputs are published with the reference
// implementation (S. Vigna, splitmix64.c; also the test of Java's SplittableRandom).
func TestMixIsSplitMix64(t *testing.T) {
	const gamma = 0x9E3779B97F4A7C15
	state := uint64(0)
	for i, want := range []uint64{0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F} {
		if got := mix(state); got != want {
			t.Errorf("output %d: %#x, want %#x", i, got, want)
		}
		state += gamma
	}
}

// reference evaluates the definition in the comment of Draw in integers without
// bound.
func reference(d *Draw, c int64) int64 {
	num := func(v int64) *big.Int { return big.NewInt(v) }
	random := new(big.Int).SetUint64(mix(mix(d.Seed) + uint64(c)))
	row := new(big.Int).Add(num(c), new(big.Int).Mod(random, new(big.Int).Sub(num(d.Rows), num(c))))
	if row.Cmp(num(c)) == 0 {
		return 0
	}
	owner := new(big.Int).Sub(new(big.Int).Div(row, num(d.Block)), num(d.First/d.Block))
	return 1 + new(big.Int).Mod(owner, num(d.Owners)).Int64()
}

func TestDrawFollowsItsDefinition(t *testing.T) {
	for _, d := range []Draw{
		{Seed: 1, First: 0, Count: 64, Rows: 1000, Block: 64, Owners: 3},
		{Seed: math.MaxUint64, First: 960, Count: 40, Rows: 1000, Block: 64, Owners: 3},
		{Seed: 7, First: math.MaxInt64 - 100, Count: 100, Rows: math.MaxInt64, Block: 1, Owners: math.MaxInt64},
		{Seed: 7, First: 5, Count: 10, Rows: math.MaxInt64, Block: 3, Owners: 2},
		{Seed: 9, First: 3, Count: 0, Rows: 3, Block: 3, Owners: 1},
	} {
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
		want := make([]int64, d.Count)
		for i := range want {
			want[i] = reference(&d, d.First+int64(i))
		}
		if diff := cmp.Diff(want, d.Append([]int64{})); diff != "" {
			t.Errorf("%+v\n%s", d, diff)
		}
	}
}

// In the last column only the diagonal is left.
func TestDrawOfLastColumnIsDiagonal(t *testing.T) {
	d := Draw{Seed: 3, First: 99, Count: 1, Rows: 100, Block: 10, Owners: 4}
	if diff := cmp.Diff([]int64{0}, d.Append(nil)); diff != "" {
		t.Error(diff)
	}
}

func TestDrawCheck(t *testing.T) {
	good := Draw{Seed: 1, First: 8, Count: 8, Rows: 16, Block: 4, Owners: 2}
	for name, mutate := range map[string]func(*Draw){
		"negative first":    func(d *Draw) { d.First = -1 },
		"negative count":    func(d *Draw) { d.Count = -1 },
		"too many":          func(d *Draw) { d.Rows, d.Count = math.MaxInt64, MaxElements+1 },
		"beyond the rows":   func(d *Draw) { d.First = 9 },
		"first overflows":   func(d *Draw) { d.First = math.MaxInt64 },
		"no rows":           func(d *Draw) { d.Rows = 0 },
		"blocks of nothing": func(d *Draw) { d.Block = 0 },
		"no owners":         func(d *Draw) { d.Owners = 0 },
	} {
		d := good
		mutate(&d)
		if err := d.Check(); err == nil {
			t.Errorf("%s: %+v is accepted", name, d)
		}
	}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
}

func TestVectorSums(t *testing.T) {
	v := newVector(&Vector{Values: []int64{3, -1, 4}})
	if diff := cmp.Diff([]int64{0, 3, 2, 6}, v.sums); diff != "" {
		t.Error(diff)
	}
	if got := newVector(&Vector{}); len(got.sums) != 1 {
		t.Errorf("sums of nothing: %v", got.sums)
	}
}
