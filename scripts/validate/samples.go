package main

import (
	"fmt"
	"slices"
	"strings"

	"reprise/internal/page"
	"reprise/internal/wording"
)

// sample is a row of a sensitivity study: a run of one machine and what varies. Gflops
// are SMPI's, and if the machine is replayed ours, up to N = unsolvedUpTo also without
// the back substitution.
type sample struct {
	machine              string
	n                    int
	what                 string // that varies
	setup                setup
	replayed             bool
	smpi, ours, unsolved float64
}

// unsolvedUpTo is the largest order for which some published simulations of these
// studies left out the back substitution (docs/validation.md).
const unsolvedUpTo = 200000

// The Gflops of a sample; 0 if it is not replayed.
func oursOf(s sample) float64 { return s.ours }
func smpiOf(s sample) float64 { return s.smpi }

// setup is how HPL runs in a sample: on which nodes, in which grid, on one switch or a
// fat tree.
type setup struct {
	nodes   []processor
	p, q    int
	fatTree string // parameters of its topology; "": one switch
}

// readSamples makes a sample of each row of a table. Kind tells of a row what varies, ""
// for one to leave out, and how HPL runs on the nodes of its machine.
func (y *synthetic) readSamples(s *csvTable, kind func(r row, nodes []processor) (string, setup)) ([]sample, error) {
	var samples []sample
	for _, r := range s.rows {
		x := sample{machine: r.text("platform_id"), n: r.whole("matrix_size"), smpi: r.number("smpi_gflops")}
		if x.what, x.setup = kind(r, y.nodes[x.machine]); x.what == "" {
			continue
		}
		if u := x.setup; s.err == nil && u.p*u.q > len(u.nodes) {
			s.err = fmt.Errorf("%s%d x %d ranks on %d nodes of machine %q", r.where, u.p, u.q, len(u.nodes), x.machine)
		}
		samples = append(samples, x)
	}
	return samples, s.err
}

// replayFirst replays the samples of the first machines of each order that have the base.
func (y *synthetic) replayFirst(l *runner, limit int, base string, samples []sample) error {
	chosen := map[int][]string{} // machines by order
	for _, s := range samples {
		if s.what == base && len(chosen[s.n]) < limit && !slices.Contains(chosen[s.n], s.machine) {
			chosen[s.n] = append(chosen[s.n], s.machine)
		}
	}
	var runs []run
	var gflops []*float64
	for i := range samples {
		s := &samples[i]
		if s.replayed = slices.Contains(chosen[s.n], s.machine); !s.replayed {
			continue
		}
		runs, gflops = append(runs, y.run(s.n, s.setup)), append(gflops, &s.ours)
		if s.n <= unsolvedUpTo {
			runs, gflops = append(runs, y.unsolved().run(s.n, s.setup)), append(gflops, &s.unsolved)
		}
	}
	results, err := l.replayAll(runs)
	if err != nil {
		return err
	}
	for i, r := range results {
		*gflops[i] = r.Gflops
	}
	return nil
}

// replayed returns the samples that are.
func replayed(samples []sample) []sample {
	return slices.DeleteFunc(slices.Clone(samples), func(s sample) bool { return !s.replayed })
}

// cell names what varies for an order of the matrix.
func cell(n int, what string) string { return what + " with N = " + wording.Thousands(n) }

// cells names several of an order.
func cells(n int, what ...string) []string {
	var list []string
	for _, w := range what {
		list = append(list, cell(n, w))
	}
	return list
}

// excesses are times above that of a base on the same machine, by cell: the mean over
// machines in percent, and of how many.
type excesses map[string]*excess

type excess struct{ sum, machines float64 }

func (o *excess) mean() float64 { return o.sum / o.machines }

// excessesOver returns the excesses of all samples with Gflops whose machine has them
// for the base, too.
func excessesOver(base string, samples []sample, gflops func(sample) float64) excesses {
	bases := map[string]float64{}
	for _, s := range samples {
		if s.what == base {
			bases[cell(s.n, s.machine)] = gflops(s)
		}
	}
	o := excesses{}
	for _, s := range samples {
		b, x := bases[cell(s.n, s.machine)], gflops(s)
		if b == 0 || x == 0 {
			continue
		}
		key := cell(s.n, s.what)
		if o[key] == nil {
			o[key] = &excess{}
		}
		o[key].sum += relative(b, x)
		o[key].machines++
	}
	return o
}

// at returns an excess that is there.
func (o excesses) at(n int, what string) float64 { return o[cell(n, what)].mean() }

// list writes excesses that are there, with what varies.
func (o excesses) list(n int, what ...string) string {
	var parts []string
	for _, w := range what {
		parts = append(parts, w+" "+tenth(o.at(n, w)))
	}
	return strings.Join(parts, ", ") + " %"
}

// studyOrders are those of the sensitivity studies.
var studyOrders = []int{100000, 200000, 300000, 400000, 500000}

// excessTable shows excesses in percent of ours and, in parentheses, of SMPI, by
// what varies and by order of the matrix. Than says what the base is.
func excessTable(head, base, than string, kinds []string, samples []sample) string {
	ours, smpi := excessesOver(base, samples, oursOf), excessesOver(base, samples, smpiOf)
	columns := []string{head}
	var orders []int
	var machines, published float64
	for _, n := range studyOrders {
		if b := ours[cell(n, base)]; b != nil {
			orders, columns = append(orders, n), append(columns, "N = "+wording.Thousands(n))
			machines = max(machines, b.machines)
			if theirs := smpi[cell(n, base)]; theirs != nil {
				published = max(published, theirs.machines)
			}
		}
	}
	t := page.NewTable(columns...)
	for _, kind := range kinds {
		row := []string{kind}
		for _, n := range orders {
			row = append(row, pair(ours[cell(n, kind)], smpi[cell(n, kind)]))
		}
		t.Row(row...)
	}
	return fmt.Sprintf("Time above that %s in percent, mean over %s of each N (SMPI's, over %.0f at most):\n\n", than, wording.Count(int(machines), "machine"), published) + t.String()
}

// pair writes ours and, in parentheses, SMPI's, where they are there.
func pair(ours, smpi *excess) string {
	switch {
	case smpi == nil:
		return "–"
	case ours == nil:
		return fmt.Sprintf("– (%s)", tenth(smpi.mean()))
	}
	return fmt.Sprintf("%s (%s)", tenth(ours.mean()), tenth(smpi.mean()))
}
