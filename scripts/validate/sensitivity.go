package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/internal/page"
)

// studyOrders are those of the sensitivity studies.
var studyOrders = []int{100000, 200000, 300000, 400000, 500000}

// overheadTable shows overheads in percent of ours and, in parentheses, of SMPI, by
// what varies and by order of the matrix.
func overheadTable(head, base string, kinds []string, samples []sample) string {
	ours := overheadsOver(base, samples, func(s sample) float64 { return s.ours })
	smpi := overheadsOver(base, samples, func(s sample) float64 { return s.smpi })
	columns := []string{head}
	var orders []int
	for _, n := range studyOrders {
		if slices.ContainsFunc(samples, func(s sample) bool { return s.n == n }) {
			orders = append(orders, n)
			columns = append(columns, "N = "+page.Count(n))
		}
	}
	t := page.NewTable(columns...)
	for _, kind := range kinds {
		cells := []string{kind}
		for _, n := range orders {
			text := "–"
			if x, ok := ours[cell(n, kind)]; ok {
				text = fmt.Sprintf("%s (%s)", tenth(x), tenth(smpi[cell(n, kind)]))
			}
			cells = append(cells, text)
		}
		t.Row(cells...)
	}
	return t.String()
}

// absolute compares the Gflops of all samples, by order of the matrix.
func absolute(samples []sample) string {
	t := page.NewTable("N", "runs", "mean Gflops, ours", "SMPI", "ours − SMPI, %", "ours without back substitution − SMPI, %")
	for _, n := range studyOrders {
		var ours, unsolved, smpi, count float64
		for _, s := range samples {
			if s.n == n {
				ours, unsolved, smpi, count = ours+s.ours, unsolved+s.unsolved, smpi+s.smpi, count+1
			}
		}
		if count > 0 {
			t.Row(page.Count(n), fmt.Sprint(count), gflops(ours/count), gflops(smpi/count), percent(relative(ours, smpi)), errorCell(unsolved, smpi))
		}
	}
	return t.String()
}

// unsolvedTable compares the Gflops of kinds of samples with and without the back
// substitution.
func unsolvedTable(head string, kinds []string, samples []sample) string {
	columns := []string{head}
	for _, n := range studyOrders {
		if n <= unsolvedUpTo {
			columns = append(columns, "N = "+page.Count(n)+": SMPI, Gflops", "ours − SMPI, %", "without back substitution, %")
		}
	}
	t := page.NewTable(columns...)
	for _, kind := range kinds {
		cells := []string{kind}
		for _, n := range studyOrders {
			if n > unsolvedUpTo {
				continue
			}
			row := []string{"–", "–", "–"}
			if i := slices.IndexFunc(samples, func(s sample) bool { return s.n == n && s.what == kind }); i >= 0 {
				s := samples[i]
				row = []string{gflops(s.smpi), percent(relative(s.ours, s.smpi)), percent(relative(s.unsolved, s.smpi))}
			}
			cells = append(cells, row...)
		}
		t.Row(cells...)
	}
	return t.String()
}

// tenth writes a percentage rounded to one digit, with its sign.
func tenth(x float64) string { return strings.Replace(fmt.Sprintf("%+.1f", x), "-", "−", 1) }

// chosen are the machines of each order that are replayed: the first that come.
type chosen struct {
	limit    int // of each order
	machines map[int][]string
}

func choose(limit int) chosen { return chosen{limit, map[int][]string{}} }

// has reports whether a row is of a chosen machine, and chooses it while there are
// too few.
func (c chosen) has(n int, machine string) bool {
	if !slices.Contains(c.machines[n], machine) && len(c.machines[n]) < c.limit {
		c.machines[n] = append(c.machines[n], machine)
	}
	return slices.Contains(c.machines[n], machine)
}

// topology replays 16x16 ranks on a switch and on fat trees with 4 top switches and
// fewer.
func topology(l *lab) (section, error) {
	y, err := l.readSynthetic()
	if err != nil {
		return section{}, err
	}
	s, err := l.sheet("sensibility/topology.csv", "platform_id", "matrix_size", "topology", "top_switches", "smpi_gflops")
	if err != nil {
		return section{}, err
	}
	machines := choose(1)
	if l.all {
		machines = choose(2)
	}
	var samples []sample
	for _, r := range s.rows {
		machine, n, what := r.text("platform_id"), r.whole("matrix_size"), r.text("top_switches")
		tree := fmt.Sprintf("2;32,8;1,%s;1,8", what)
		if what == "0" {
			what, tree = "one switch for all", ""
		}
		if machines.has(n, machine) {
			samples = append(samples, y.sample(machine, n, what, r.number("smpi_gflops"), y.nodes[machine], 16, 16, tree))
		}
	}
	if s.err != nil {
		return section{}, s.err
	}
	if err := l.fill(samples); err != nil {
		return section{}, err
	}
	text := "Time above that with 4 top switches, mean over the machines replayed in percent, ours (SMPI's):\n\n" +
		overheadTable("top switches", "4", []string{"one switch for all", "4", "3", "2", "1"}, samples) + "\nAll runs:\n\n" + absolute(samples)
	o := overheadsOver("4", samples, func(s sample) float64 { return s.ours })
	return section{text, []verdict{{Claim: 24, Ours: fmt.Sprintf("3: %s %% at 500,000; 2: %s %%, %s %% at 100,000; 1: %s %%, %s %%; one switch %s %%", tenth(o["500000 3"]), tenth(o["500000 2"]), tenth(o["100000 2"]),
		tenth(o["500000 1"]), tenth(o["100000 1"]), tenth(o["500000 one switch for all"])),
		Reproduced: o["500000 3"] < 1 && o["100000 2"] > o["500000 2"] && o["500000 2"] > 0.5 && o["500000 1"] > 5 && o["100000 1"] > 20 && o["500000 one switch for all"] < 0}}}, nil
}

// temporal replays 8x32 ranks with more and more noise of dgemm.
func temporal(l *lab) (section, error) {
	y, err := l.readSynthetic()
	if err != nil {
		return section{}, err
	}
	s, err := l.sheet("sensibility/temporal.csv", "platform_id", "matrix_size", "coefficient_of_variation", "smpi_gflops")
	if err != nil {
		return section{}, err
	}
	machines := choose(1)
	var samples []sample
	var kinds []string
	for _, r := range s.rows {
		machine, n, c := r.text("platform_id"), r.whole("matrix_size"), r.number("coefficient_of_variation")
		if !machines.has(n, machine) {
			continue
		}
		what := fmt.Sprintf("%g %%", 100*c)
		samples = append(samples, y.sample(machine, n, what, r.number("smpi_gflops"), varied(y.nodes[machine], c), 8, 32, ""))
		if !slices.Contains(kinds, what) {
			kinds = append(kinds, what)
		}
	}
	if s.err != nil {
		return section{}, s.err
	}
	slices.SortFunc(kinds, func(a, b string) int { return len(a)*100 + int(a[0]) - len(b)*100 - int(b[0]) })
	if err := l.fill(samples); err != nil {
		return section{}, err
	}
	text := "Time above that without noise in percent, ours (SMPI's):\n\n" +
		overheadTable("coefficient of variation", "0 %", kinds, samples) + "\nAll runs:\n\n" + absolute(samples)
	return section{text, temporalClaims(samples, y)}, nil
}

// spatialShapes are the grids of the spatial study that its claims name.
var spatialShapes = []string{"4x64", "4x63", "4x62", "4x61", "4x60", "5x51", "5x50", "5x49", "5x48", "2x128", "8x32", "16x16", "32x8", "16x15", "17x15", "1x256"}

// spatial replays grids of fewer and fewer nodes, the slowest left out.
func spatial(l *lab) (section, error) {
	y, err := l.readSynthetic()
	if err != nil {
		return section{}, err
	}
	samples, err := y.removals(l, "sensibility/spatial.csv", 1, spatialShapes)
	if err != nil {
		return section{}, err
	}
	text := "Time above that of 4x64 in percent, ours (SMPI's):\n\n" +
		overheadTable("grid", "4x64", spatialShapes, samples) +
		"\nGflops with and without back substitution:\n\n" + unsolvedTable("grid", spatialShapes, samples) + "\nAll runs:\n\n" + absolute(samples)
	return section{text, spatialClaims(samples)}, nil
}

// removals replays grids of fewer and fewer nodes, the slowest left out, on the first
// machines of each order of the matrix.
func (y *synthetic) removals(l *lab, table string, limit int, shapes []string) ([]sample, error) {
	s, err := l.sheet(table, "platform_id", "matrix_size", "removed_nodes", "p", "q", "smpi_gflops")
	if err != nil {
		return nil, err
	}
	machines := choose(limit)
	var samples []sample
	for _, r := range s.rows {
		machine, n, what := r.text("platform_id"), r.whole("matrix_size"), r.text("p")+"x"+r.text("q")
		if machines.has(n, machine) && slices.Contains(shapes, what) {
			samples = append(samples, y.sample(machine, n, what, r.number("smpi_gflops"), y.without(machine, r.whole("removed_nodes")), r.whole("p"), r.whole("q"), ""))
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	return samples, l.fill(samples)
}

// temporalClaims checks what noise costs, and how much of it the machines have.
func temporalClaims(samples []sample, y *synthetic) []verdict {
	o := overheadsOver("0 %", samples, func(s sample) float64 { return s.ours })
	by := func(c string) (text string, rising bool) {
		rising = true
		for i, n := range studyOrders {
			text += tenth(o[cell(n, c)]) + ", "
			rising = rising && (i == 0 || o[cell(n, c)] >= o[cell(studyOrders[i-1], c)]-0.5)
		}
		return text[:len(text)-2] + " % at " + c, rising
	}
	ten, rising := by("10 %")
	four, _ := by("4 %")
	var sum, count float64
	for _, nodes := range y.nodes {
		for _, n := range nodes {
			sum, count = sum+n.deviation.mnk/n.mean.mnk, count+1
		}
	}
	large := o[cell(500000, "10 %")]
	return []verdict{
		{Claim: 19, Ours: ten + "; " + four, Reproduced: rising && large > 5 && large < 13 && o[cell(500000, "4 %")] < large/2},
		{Claim: 20, Ours: fmt.Sprintf("%.1f %%", 100*sum/count), Reproduced: math.Abs(100*sum/count-3.4) < 0.1},
	}
}

// spatialClaims checks which grids are good, with all nodes and without the slowest.
func spatialClaims(samples []sample) []verdict {
	o := overheadsOver("4x64", samples, func(s sample) float64 { return s.ours })
	list := func(n int, grids ...string) string {
		var parts []string
		for _, g := range grids {
			parts = append(parts, g+" "+tenth(o[cell(n, g)]))
		}
		return strings.Join(parts, ", ") + " %"
	}
	at := func(n int, grid string) float64 { return o[cell(n, grid)] }
	const large = 500000
	verdicts := []verdict{
		{Claim: 18, Ours: list(large, "8x32", "2x128", "16x16", "1x256", "32x8"),
			Reproduced: at(large, "8x32") > 0 && at(large, "2x128") > at(large, "8x32") && at(large, "16x16") > 10 && at(large, "1x256") > 25 && at(large, "32x8") > 40},
		{Claim: 21, Ours: list(large, "4x63", "4x62", "4x61", "4x60", "5x51") + "; " + list(large, "16x15", "17x15", "32x8"),
			Reproduced: at(large, "4x63") > 0 && at(large, "4x60") > at(large, "4x62") && at(large, "5x51") < 1 && at(large, "16x15") > 15},
	}
	return append(verdicts, fiveRows(samples)...)
}

// fiveRows checks the claim that grids of 5 rows are bad at N = 200,000 only: with all
// systems solved, as HPL does, and as published, where 4x64 of that order left out the
// back substitution (docs/validation.md). Nothing is found without both orders.
func fiveRows(samples []sample) []verdict {
	const odd, large = 200000, 500000
	solved := func(s sample) float64 { return s.ours }
	published := func(s sample) float64 {
		if s.what == "4x64" && s.n == odd {
			return s.unsolved
		}
		return s.ours
	}
	fives := []string{"5x51", "5x50", "5x49", "5x48"}
	list := func(o map[string]float64, n int) (text string, sum float64) {
		for _, g := range fives {
			text += ", " + g + " " + tenth(o[cell(n, g)])
			sum += o[cell(n, g)]
		}
		return strings.TrimPrefix(text, ", ") + fmt.Sprintf(" %% at %s", page.Count(n)), sum / float64(len(fives))
	}
	all, as := overheadsOver("4x64", samples, solved), overheadsOver("4x64", samples, published)
	for _, n := range []int{odd, large} {
		if _, ok := all[cell(n, fives[0])]; !ok {
			return nil
		}
	}
	there, bad := list(all, odd)
	asPublished, badAsPublished := list(as, odd)
	elsewhere, good := list(all, large)
	v := verdict{Claim: 22, Ours: fmt.Sprintf("%s if 4x64 leaves out the back substitution there, as published, and %s if it does not; %s", asPublished, there, elsewhere)}
	switch {
	case bad > 2 && good < bad-3:
		v.Reproduced = true
	case badAsPublished > 2 && good < badAsPublished-3:
		v.Reproduced, v.Only = true, "as simulated: HPL that solves the system has no such effect"
	}
	return []verdict{v}
}
