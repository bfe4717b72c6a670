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
	t := page.NewTable("N", "runs", "mean Gflops, ours", "SMPI", "ours − SMPI, %")
	for _, n := range studyOrders {
		var ours, smpi, count float64
		for _, s := range samples {
			if s.n == n {
				ours, smpi, count = ours+s.ours, smpi+s.smpi, count+1
			}
		}
		if count > 0 {
			t.Row(page.Count(n), fmt.Sprint(count), gflops(ours/count), gflops(smpi/count), percent(relative(ours, smpi)))
		}
	}
	return t.String()
}

// tenth writes a percentage with one digit and its sign.
func tenth(x float64) string {
	text := percent(x)
	return text[:len(text)-1]
}

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
	var runs []run
	for _, r := range s.rows {
		x := sample{machine: r.text("platform_id"), n: r.whole("matrix_size"), what: r.text("top_switches"), smpi: r.number("smpi_gflops")}
		tree := fmt.Sprintf("2;32,8;1,%s;1,8", x.what)
		if x.what == "0" {
			x.what, tree = "one switch for all", ""
		}
		if !machines.has(x.n, x.machine) {
			continue
		}
		samples, runs = append(samples, x), append(runs, y.run(y.nodes[x.machine], x.n, 16, 16, tree))
	}
	if s.err != nil {
		return section{}, s.err
	}
	if err := l.fill(samples, runs); err != nil {
		return section{}, err
	}
	text := "Time above that with 4 top switches, mean over the machines replayed in percent, ours (SMPI's):\n\n" +
		overheadTable("top switches", "4", []string{"one switch for all", "4", "3", "2", "1"}, samples) + "\nAll runs:\n\n" + absolute(samples)
	o := overheadsOver("4", samples, func(s sample) float64 { return s.ours })
	return section{text, []verdict{{24, fmt.Sprintf("3: %s %% at 500,000; 2: %s %%, %s %% at 100,000; 1: %s %%, %s %%; one switch %s %%", tenth(o["500000 3"]), tenth(o["500000 2"]), tenth(o["100000 2"]),
		tenth(o["500000 1"]), tenth(o["100000 1"]), tenth(o["500000 one switch for all"])),
		o["500000 3"] < 1 && o["100000 2"] > o["500000 2"] && o["500000 2"] > 0.5 && o["500000 1"] > 5 && o["100000 1"] > 20 && o["500000 one switch for all"] < 0}}}, nil
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
	var runs []run
	var kinds []string
	for _, r := range s.rows {
		c := r.number("coefficient_of_variation")
		x := sample{machine: r.text("platform_id"), n: r.whole("matrix_size"), what: fmt.Sprintf("%g %%", 100*c), smpi: r.number("smpi_gflops")}
		if !machines.has(x.n, x.machine) {
			continue
		}
		samples, runs = append(samples, x), append(runs, y.run(varied(y.nodes[x.machine], c), x.n, 8, 32, ""))
		if !slices.Contains(kinds, x.what) {
			kinds = append(kinds, x.what)
		}
	}
	if s.err != nil {
		return section{}, s.err
	}
	slices.SortFunc(kinds, func(a, b string) int { return len(a)*100 + int(a[0]) - len(b)*100 - int(b[0]) })
	if err := l.fill(samples, runs); err != nil {
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
	s, err := l.sheet("sensibility/spatial.csv", "platform_id", "matrix_size", "removed_nodes", "p", "q", "smpi_gflops")
	if err != nil {
		return section{}, err
	}
	machines := choose(1)
	var samples []sample
	var runs []run
	for _, r := range s.rows {
		x := sample{machine: r.text("platform_id"), n: r.whole("matrix_size"), what: r.text("p") + "x" + r.text("q"), smpi: r.number("smpi_gflops")}
		if !machines.has(x.n, x.machine) || !slices.Contains(spatialShapes, x.what) {
			continue
		}
		samples = append(samples, x)
		runs = append(runs, y.run(y.without(x.machine, r.whole("removed_nodes")), x.n, r.whole("p"), r.whole("q"), ""))
	}
	if s.err != nil {
		return section{}, s.err
	}
	if err := l.fill(samples, runs); err != nil {
		return section{}, err
	}
	text := "Time above that of 4x64 in percent, ours (SMPI's):\n\n" +
		overheadTable("grid", "4x64", spatialShapes, samples) + "\nAll runs:\n\n" + absolute(samples)
	return section{text, spatialClaims(samples)}, nil
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
		{19, ten + "; " + four, rising && large > 5 && large < 13 && o[cell(500000, "4 %")] < large/2},
		{20, fmt.Sprintf("%.1f %%", 100*sum/count), math.Abs(100*sum/count-3.4) < 0.1},
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
	return []verdict{
		{18, list(large, "8x32", "2x128", "16x16", "1x256", "32x8"),
			at(large, "8x32") > 0 && at(large, "2x128") > at(large, "8x32") && at(large, "16x16") > 10 && at(large, "1x256") > 25 && at(large, "32x8") > 40},
		{21, list(large, "4x63", "4x62", "4x61", "4x60", "5x51") + "; " + list(large, "16x15", "17x15", "32x8"),
			at(large, "4x63") > 0 && at(large, "4x60") > at(large, "4x62") && at(large, "5x51") < 1 && at(large, "16x15") > 15},
		{22, list(200000, "5x51", "5x50", "5x48") + " at 200,000; " + list(large, "5x51", "5x50", "5x48") + " at 500,000",
			at(200000, "5x51") > 2 && at(large, "5x51") < at(200000, "5x51")-3},
	}
}
