package vectors

import (
	"math"
	"math/big"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/portable"
)

func TestKindsAreFoundByName(t *testing.T) {
	form := regexp.MustCompile(`^[a-z][a-z0-9-]*/[1-9][0-9]*$`)
	for i, name := range Names() {
		if !form.MatchString(name) {
			t.Errorf("%q is not NAME/VERSION", name)
		}
		if Find(name) != kinds[i] {
			t.Errorf("%q is found as something else", name)
		}
	}
	if Find("pivot-owners/0") != nil {
		t.Error("a version that there is not is found")
	}
}

func TestGeneratedCheck(t *testing.T) {
	for want, g := range map[string]*Generated{
		"vector of no kind":                          {},
		"pivot-owners/1: 2 arguments, want 5":        {Kind: &pivotOwners, Args: []int64{1, 2}},
		"pivot-owners/1: -1 elements":                {Kind: &pivotOwners, Args: []int64{1, 0, 9, 1, 1}, Count: -1},
		"pivot-owners/1: columns [0,0+10) of 9 rows": {Kind: &pivotOwners, Args: []int64{1, 0, 9, 1, 1}, Count: 10},
	} {
		if err := g.Check(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// reference evaluates the definition in the comment of PivotOwners in integers without
// bound.
func reference(p *PivotOwners, c int64) int64 {
	num := func(v int64) *big.Int { return big.NewInt(v) }
	random := new(big.Int).SetUint64(portable.Mix(portable.Mix(p.Seed) + uint64(c)))
	row := new(big.Int).Add(num(c), new(big.Int).Mod(random, new(big.Int).Sub(num(p.Rows), num(c))))
	if row.Cmp(num(c)) == 0 {
		return 0
	}
	owner := new(big.Int).Sub(new(big.Int).Div(row, num(p.Block)), num(p.First/p.Block))
	return 1 + new(big.Int).Mod(owner, num(p.Owners)).Int64()
}

func TestPivotOwnersFollowTheirDefinition(t *testing.T) {
	for _, p := range []PivotOwners{
		{Seed: 1, First: 0, Count: 64, Rows: 1000, Block: 64, Owners: 3},
		{Seed: math.MaxUint64, First: 960, Count: 40, Rows: 1000, Block: 64, Owners: 3},
		{Seed: 7, First: math.MaxInt64 - 100, Count: 100, Rows: math.MaxInt64, Block: 1, Owners: math.MaxInt64},
		{Seed: 7, First: 5, Count: 10, Rows: math.MaxInt64, Block: 3, Owners: 2},
		{Seed: 9, First: 3, Count: 0, Rows: 3, Block: 3, Owners: 1},
	} {
		g := p.Generated()
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
		want := []int64{-1} // stays
		for i := range p.Count {
			want = append(want, reference(&p, p.First+i))
		}
		if diff := cmp.Diff(want, g.Append([]int64{-1})); diff != "" {
			t.Errorf("%+v\n%s", p, diff)
		}
	}
}

func TestPivotOwnersCheck(t *testing.T) {
	good := PivotOwners{Seed: 1, First: 8, Count: 8, Rows: 16, Block: 4, Owners: 2}
	for name, mutate := range map[string]func(*PivotOwners){
		"negative first":    func(p *PivotOwners) { p.First = -1 },
		"negative count":    func(p *PivotOwners) { p.Count = -1 },
		"beyond the rows":   func(p *PivotOwners) { p.First = 9 },
		"first overflows":   func(p *PivotOwners) { p.First = math.MaxInt64 },
		"no rows":           func(p *PivotOwners) { p.Rows = 0 },
		"blocks of nothing": func(p *PivotOwners) { p.Block = 0 },
		"no owners":         func(p *PivotOwners) { p.Owners = 0 },
	} {
		p := good
		mutate(&p)
		if err := p.Generated().Check(); err == nil {
			t.Errorf("%s: %+v is accepted", name, p)
		}
	}
	if err := good.Generated().Check(); err != nil {
		t.Error(err)
	}
}
