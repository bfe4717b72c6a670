package tune

import (
	"fmt"

	"reprise/report/compare"
	"reprise/study/search"
	"reprise/tracegen/hpcg"
)

// BoxResult is what was found of HPCG.
type BoxResult struct {
	Ranks          int       `json:"ranks"`
	Configurations int       `json:"configurations"` // that came into question
	Replays        int       `json:"replays"`
	Best           BoxChoice `json:"best"`
	Gflops         float64   `json:"gflops"`          // of the best; with noise mean of fresh seeds
	GflopsInterval float64   `json:"gflops_interval"` // half-width, with 95 % confidence
	FreshSeeds     int       `json:"fresh_seeds"`     // 0: nothing is random
	// those that are not worse by more than Indifference, the best first
	Indistinct   []BoxChoice `json:"indistinct"`
	Indifference float64     `json:"indifference"`
	User         float64     `json:"user_s"` // time of processors that the search took; 0: not known
	Wall         float64     `json:"wall_s"` // time that it took
	Dat          string      `json:"hpcg_dat"`
}

// BoxChoice is a process grid and the box of each rank.
type BoxChoice struct {
	Name   string  `json:"name"`
	Gflops float64 `json:"gflops"`
	Memory float64 `json:"memory_bytes"` // of a node, as HPCG counts it
	Behind float64 `json:"behind"`       // the best, as a share of its rate
}

func boxName(p *hpcg.Params) string {
	return fmt.Sprintf("grid %v, box %dx%dx%d", p.Grid, p.NX, p.NY, p.NZ)
}

// result puts together what was found.
func (t *boxTuner) result(found *search.Found, fresh []float64, perHost int) *BoxResult {
	best := &t.list[found.Points[0].Index]
	top := t.runs[found.Points[0].Index]
	r := &BoxResult{Ranks: best.Ranks, Configurations: len(t.list), Replays: t.done, Gflops: top.gflops,
		GflopsInterval: top.interval,
		FreshSeeds:     len(fresh), Indifference: t.Indifference, Dat: boxDat(best)}
	if len(fresh) > 0 {
		f := compare.MeanFigure(fresh)
		r.Gflops, r.GflopsInterval = f.Value(), f.Interval()
	}
	for _, p := range found.Points {
		q, run := &t.list[p.Index], t.runs[p.Index]
		c := BoxChoice{Name: boxName(q), Gflops: run.gflops, Behind: 1 - run.gflops/top.gflops,
			Memory: bytesPerPoint * float64(q.NX) * float64(q.NY) * float64(q.NZ) * float64(min(perHost, q.Ranks))}
		if len(r.Indistinct) == 0 {
			r.Best = c
		}
		if c.Behind <= t.Indifference+(run.interval+top.interval)/top.gflops {
			r.Indistinct = append(r.Indistinct, c)
		}
	}
	return r
}

// boxDat returns the hpcg.dat of a run of the time that counts.
func boxDat(p *hpcg.Params) string {
	return fmt.Sprintf("HPCG benchmark input file\nwritten by Reprise\n%d %d %d\n1800\n%d %d %d\n", p.NX, p.NY, p.NZ,
		p.Grid.NX, p.Grid.NY, p.Grid.NZ)
}
