package main

import (
	"fmt"
	"slices"
	"strings"

	"reprise/internal/page"
)

// verdict is what a part found about a claim of the published data.
type verdict struct {
	Claim      int
	Ours       string // our figures
	Reproduced bool
	Only       string // under which condition, of what is reproduced only so
	Untested   string // why nothing could be found out
}

// answer is the cell of the table that says whether a claim is reproduced.
func (v verdict) answer() string {
	switch {
	case v.Untested != "":
		return "not tested: " + v.Untested
	case !v.Reproduced:
		return "**no**"
	case v.Only != "":
		return "only " + v.Only
	}
	return "yes"
}

// decide returns what is found about a claim if all the figures that it needs are there.
func decide[T any](claim int, figures map[string]T, needed []string, find func() (ours string, reproduced bool)) verdict {
	for _, key := range needed {
		if _, ok := figures[key]; !ok {
			return verdict{Claim: claim, Ours: "–", Untested: "no figure of " + key}
		}
	}
	ours, reproduced := find()
	return verdict{Claim: claim, Ours: ours, Reproduced: reproduced}
}

// claim is one of the quantitative claims of the source, with its figures.
type claim struct {
	text      string
	criterion string // by which the part that tests it judges; – if none does
	other     string // what there is to say if no part tests it
}

// claims are those of the published data's list, abridged, in its order: the first is
// number 1.
var claims = []claim{
	{"A1 overestimates large matrices by more than 30 %: +33.1 % at N = 500,000, +17.7 % at 100,000", "above 30 % at 500,000", ""},
	{"a stochastic network changes nothing significant: A2 within 1.1 % of A1, 0.2 % from 300,000 on; D2_het within 1.5 % of D1_het", "both pairs within 1.5 % at the orders replayed", ""},
	{"A1_het: +8.7 % at 500,000", "within 1.5 % of it", ""},
	{"C1_het improves mostly small matrices: +3.2 % instead of +6.8 % at 100,000, +8.0 % instead of +8.7 % at 500,000", "more than 2 % nearer to the machine at 100,000, and nearer at 500,000", ""},
	{"D1_het: −3.9 % to +3.1 %, −1.3 % at 500,000", "all within 5 %, 500,000 within 2 %", ""},
	{"only dgemm needs a careful model: \"simple\" within 1 % from 250,000 on, +8.1 % at 50,000", "250,000 and 500,000 within 1 %", ""},
	{"at 500,000 spatial variability is worth about 22 %, temporal about 9 %", "both within 3 %", ""},
	{"broken cooling costs 12.8 % at 500,000; recalibrated dgemm predicts both states: good +0.4 to +3.9 %, bad −3.5 to +0.5 %, but +7.3 % at 50,000", "the loss within 4 %; good all, bad all but one within 5 %", ""},
	{"geometry, first network: errors up to +50 % on 1x960 and 2x480", "above 40 % at worst", ""},
	{"geometry, second network: −12.7 % to +8.5 %, 20 of 28 within 6 %", "mean error at most SMPI's and 1 % more", ""},
	{"factorial: 61 of 72 within 5 %, two above 10 % (NB 256, DEPTH 1, 2rg, SWAP long or mix)", "at least as many within 5 % as SMPI, and the same above 10 %", ""},
	{"gros, complex model: −4.6 to +5.9 %", "–", "not tested: grid and models are not public"},
	{"gros, simple model: +1.9 to +10.4 %", "–", "not tested: grid and models are not public"},
	{"nearly a factor of ten between the best grid and the worst; small P beats large P", "30x32 best, 960x1 worst, all pairs", ""},
	{"NB, DEPTH, BCAST, SWAP move performance by up to 30 % (best 33 % above worst)", "above 25 %", ""},
	{"analysis of variance: NB, DEPTH, BCAST, SWAP, the same in reality and simulation; best with NB 128, DEPTH 0 and rings", "order as on the machine; best with NB 128, DEPTH 0 and a ring", ""},
	{"PFACT and RFACT have nearly no influence", "–", "not tested: the runs of 2018 are not in the data"},
	{"256 nodes: 4x64 best; 8x32 +4.1 %, 2x128 +11.9 %, 16x16 +21.8 %, 1x256 +48 %, 32x8 +64 % at 500,000", "4x64, 8x32, 2x128 in this order; 16x16 above 10, 1x256 above 25, 32x8 above 40 %", ""},
	{"temporal variability: +1.0, 4.2, 6.1, 7.2, 8.7 % for N = 100,000 to 500,000 at 10 %; −0.2, 0.9, 1.6, 1.7, 2.0 % at 4 %", "rises with N (or falls by 0.5 % at most); 5 to 13 % at 500,000, at 4 % less than half of that", ""},
	{"the actual coefficient of variation is about 3 % (3.4 %)", "within 0.1 %", ""},
	{"mild heterogeneity: removing nodes does not pay: 4x63 +0.9, 4x62 +1.9, 4x61 +3.0, 4x60 +4.3, 5x51 −1.0 % at 500,000; bad grids cost 20 to 60 %", "4x63 above 0, 4x60 above 4x62, 5x51 below 1, 16x15 above 15 %", ""},
	{"5xQ is bad at 200,000 (+4.8 to +7.1 %), good elsewhere (−3.8 to +2.3 %)", "mean at 200,000 above 2 %, and more than 3 % above that at 500,000", ""},
	{"two classes of nodes: removing 6 to 12 of 256 helps: 5x50 −3.3, 5x49 −3.6, 4x62 −2.1, 4x61 −2.2 % at 500,000", "all four below −0.5 %", ""},
	{"fat tree: 3 of 4 top switches −0.5 to +0.3 %; 2: +2.4 % at 500,000, +7.2 % at 100,000; 1: +10.4 %, +36 %; one switch for all 2 to 5 % faster", "3: below 1 %; 2: above 0.5 %, more at 100,000; 1: above 5 and 20 %; one switch faster", ""},
	{"SMPI takes 4.6 to 5.9 h and 9 GB for 1,024 ranks at 500,000", "–", "a cost of SMPI's; ours is in [performance.md](performance.md#beside-smpis-published-figures)"},
	{"SMPI's time is linear in ranks: 47 h for 4,096 ranks at 4,000,000", "–", "not tested: a cost of SMPI's"},
	{"SMPI takes 62 h and 19 GB for Stampede", "–", "a cost of SMPI's; ours is in [performance.md](performance.md#beside-smpis-published-figures)"},
	{"less than 10 % of SMPI's time is system calls", "–", "not tested: a cost of SMPI's"},
	{"Stampede is predicted far below the TOP500 value: 3.84 Pflops on the fat tree, 4.16 without contention (+8 %), 5.168 measured", "both below 85 % of it, the tree slower", ""},
	{"Stampede: more than one fifth of the first iterations is communication", "above 20 %", ""},
	{"capacity: at 10 Gb/s switches do not matter, random placement 2 % faster; at 10 Mb/s 10.7 / 18.6 / 24.3 / 28.1 / 31.2 Gflops with 1 / 2 / 4 / 8 / 16 switches, random 4.4 / 7.4 / 11.2 / 15.6 / 19.6", "switches within 2 %; at 10 Mb/s 16 more than twice 1, random with 1 below 0.7 of sequential", ""},
	{"capacity: latency ×10 divides performance by 3.7 at 50,000 and 2.1 at 100,000; bandwidth ×10 or /10 less than 4 %", "within 0.8 and 0.4; within 6 %", ""},
	{"memcpy: breakpoints 14495, 992466, 5629667", "–", "tested by `go test ./calibrate` (`TestPublishedMemcpy`)"},
	{"dgemm: M·N·K alone is not sufficient; noise grows with size", "–", "tested by `go test ./calibrate` (`TestPublishedDgemm`)"},
	{"dgemm between processors and days: mean 7.382e-11 s, spatial 3.4 %, daily 0.8 %, noise 3.8 %", "–", "a law of the data, see [calibrate.md](calibrate.md)"},
}

// judge returns the table of claims with what was found about some of them. What the
// table says about the others stays.
func judge(table string, found []verdict) string {
	old := map[string][]string{}
	for row := range strings.Lines(table) {
		if cells := strings.Split(strings.TrimSpace(row), " | "); len(cells) == 5 {
			old[strings.TrimPrefix(cells[0], "| ")] = []string{cells[2], strings.TrimSuffix(cells[4], " |")}
		}
	}
	t := page.NewTable("claim", "published", "ours", "reproduced if", "reproduced")
	for i, c := range claims {
		number := fmt.Sprint(i + 1)
		ours := old[number]
		if k := slices.IndexFunc(found, func(v verdict) bool { return v.Claim == i+1 }); k >= 0 {
			ours = []string{found[k].Ours, found[k].answer()}
		}
		switch {
		case c.other != "":
			ours = []string{"–", c.other}
		case ours == nil:
			ours = []string{"–", "not replayed yet"}
		}
		t.Row(number, c.text, ours[0], c.criterion, ours[1])
	}
	return t.String()
}
