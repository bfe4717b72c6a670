package replay

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSumUp: a part that takes time in some replays only has 0 in the others, those that
// share a name are one, and a replay that does not tell where its time went has none.
func TestSumUp(t *testing.T) {
	played := []*Played{
		{kinds: []Share{{Name: "compute", Mean: 3}, {Name: "wait", Mean: 1}}, kernels: []Share{{Name: "k", Mean: 1}, {Name: "k", Mean: 2}}},
		{},
		{kinds: []Share{{Name: "compute", Mean: 4}, {Name: "recv", Mean: 2}}, phases: []Share{{Name: "p", Mean: 6}}},
	}
	results, names, _ := sumUp(played)
	if diff := cmp.Diff(PartNames{Kinds: []string{"compute", "wait", "recv"}, Phases: []string{"p"}, Kernels: []string{"k"}}, names); diff != "" {
		t.Error(diff)
	}
	want := []SeedResult{
		{Times: &PartTimes{Kinds: []float64{3, 1, 0}, Phases: []float64{0}, Kernels: []float64{3}}},
		{},
		{Times: &PartTimes{Kinds: []float64{4, 0, 2}, Phases: []float64{6}, Kernels: []float64{0}}},
	}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Error(diff)
	}
}
