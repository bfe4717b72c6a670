package replay

import "slices"

// PartNames says what the times of a SeedResult are of: what took any time in one of the
// replays.
type PartNames struct {
	Kinds   []string `json:"kinds"`
	Phases  []string `json:"phases"`
	Kernels []string `json:"kernels"`
}

// PartTimes is where the time of a rank went in one replay: seconds, means over the ranks,
// in the order of PartNames.
type PartTimes struct {
	Kinds   []float64 `json:"kinds"`
	Phases  []float64 `json:"phases"`
	Kernels []float64 `json:"kernels"`
}

// partShares is where the time of one replay went; nothing of one that does not tell.
type partShares struct{ kinds, phases, kernels []Share }

func partSharesOf(r *Result) partShares { return partShares{r.Kinds, r.Phases, r.Kernels} }

// alignParts has the results of several replays list their times in the same order, and
// returns the names of what they are of.
func alignParts(results []SeedResult, shares []partShares) PartNames {
	names := PartNames{Kinds: []string{}, Phases: []string{}, Kernels: []string{}}
	for i := range shares {
		names.Kinds = addNames(names.Kinds, shares[i].kinds)
		names.Phases = addNames(names.Phases, shares[i].phases)
		names.Kernels = addNames(names.Kernels, shares[i].kernels)
	}
	for i := range results {
		if s := &shares[i]; len(s.kinds) > 0 {
			results[i].Times = &PartTimes{meansOf(names.Kinds, s.kinds), meansOf(names.Phases, s.phases),
				meansOf(names.Kernels, s.kernels)}
		}
	}
	return names
}

// addNames appends the names that are not there yet.
func addNames(names []string, shares []Share) []string {
	for i := range shares {
		if !slices.Contains(names, shares[i].Name) {
			names = append(names, shares[i].Name)
		}
	}
	return names
}

// meansOf returns the means of the shares with these names, 0 where there is none.
func meansOf(names []string, shares []Share) []float64 {
	means := make([]float64, len(names))
	for i := range shares {
		means[slices.Index(names, shares[i].Name)] += shares[i].Mean
	}
	return means
}
