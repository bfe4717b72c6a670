// Reality finds out how well the machine that it runs on is predicted: it calibrates the machine by
// the commands of docs/tutorial.md, predicts runs of HPL, writes the predictions down, runs HPL, and
// compares (docs/reality.md).
//
//	go run ./scripts/reality [-short] [-budget 20m] [-o out/reality]
//
// Needs the programs in -bin (make build) and Debian's hpcc, whose HPL 2.0 it runs under Open MPI.
// The machine, predictions and runs stay in -o: a second call measures what is missing. Takes an
// hour on a machine with nothing else to do; -short takes minutes, for two runs.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

type grid struct{ p, q int }

func (g grid) String() string { return fmt.Sprintf("%dx%d", g.p, g.q) }

// point is a configuration of HPL. All else is as in HPL's own HPL.dat.
type point struct {
	n, nb int
	grid
}

func (c point) String() string { return fmt.Sprintf("n%d-nb%d-%v", c.n, c.nb, c.grid) }

// plan is a set of configurations: all combinations.
type plan struct {
	sizes, blocks []int
	grids         []grid // by their number of ranks
	repeats       int    // of each size within one start of hpcc
	starts        int    // of hpcc, for each number of ranks
}

func (p *plan) points() (list []point) {
	for _, g := range p.grids {
		for _, nb := range p.blocks {
			for _, n := range p.sizes {
				list = append(list, point{n, nb, g})
			}
		}
	}
	return list
}

// measured returns the configurations that the machine is measured for: the smallest and the largest size on the grids
// of most ranks. Other sizes, and fewer ranks, are predicted from these.
func (p *plan) measured() (list []point) {
	most := p.grids[len(p.grids)-1]
	for _, c := range p.points() {
		if c.p*c.q == most.p*most.q && (c.n == p.sizes[0] || c.n == p.sizes[len(p.sizes)-1]) {
			list = append(list, c)
		}
	}
	return list
}

// dat returns HPL.dat of all combinations of sizes, blocks and grids.
func dat(sizes, blocks []int, grids []grid) string {
	numbers := func(list []int) string { return strings.Trim(fmt.Sprint(list), "[]") }
	var ps, qs []int
	for _, g := range grids {
		ps, qs = append(ps, g.p), append(qs, g.q)
	}
	lines := []string{
		"HPLinpack benchmark input file", "runs of scripts/reality", "HPL.out", "8",
		fmt.Sprint(len(sizes)), numbers(sizes), fmt.Sprint(len(blocks)), numbers(blocks), "0",
		fmt.Sprint(len(grids)), numbers(ps), numbers(qs), "16.0",
		"1", "2", "1", "4", "1", "2", "1", "1", "1", "1", "1", "1", "2", "64", "0", "0", "1", "8",
	}
	return strings.Join(lines, "\n") + "\n"
}

func main() {
	if err := reality(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "reality:", err)
		os.Exit(1)
	}
}

func reality(args []string, out io.Writer) error {
	l := lab{out: out, plan: &plan{[]int{2000, 4000, 6000, 10000}, []int{64, 128, 192}, []grid{{1, 1}, {1, 2}, {2, 1}}, 4, 2}}
	f := flag.NewFlagSet("reality", flag.ContinueOnError)
	f.StringVar(&l.bin, "bin", "bin", "directory of calibrate, tracegen and replay")
	f.StringVar(&l.work, "o", "out/reality", "directory of the machine, predictions and runs, kept between calls")
	f.StringVar(&l.budget, "budget", "20m", "time for measuring the machine")
	short := f.Bool("short", false, "two small runs")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("want flags only, not %q", f.Args())
	}
	if *short {
		l.plan = &plan{[]int{1000, 2000}, []int{64}, []grid{{1, 2}}, 2, 1}
	}
	var err error
	if l.bin, err = filepath.Abs(l.bin); err != nil {
		return err
	}
	if err := os.MkdirAll(l.work, 0o777); err != nil {
		return err
	}
	predicted, err := l.predictions()
	if err != nil {
		return err
	}
	measured := map[point][]float64{}
	for start := range l.plan.starts {
		before := 0
		for _, g := range l.plan.grids {
			ranks := g.p * g.q
			if ranks == before {
				continue // one start measures all grids of a number of ranks
			}
			before = ranks
			if err := l.measure(ranks, start, measured); err != nil {
				return err
			}
		}
	}
	var list results
	for _, c := range l.plan.points() {
		x, ok := predicted[c.String()]
		if !ok {
			return fmt.Errorf("no prediction of %v", c)
		}
		if len(measured[c]) == 0 {
			return fmt.Errorf("no run of %v", c)
		}
		list = append(list, result{c, x, slices.Sorted(slices.Values(measured[c]))})
	}
	return list.write(out)
}

// lab is a machine and its work directory.
type lab struct {
	bin, work, budget string
	plan              *plan
	out               io.Writer
}

func (l *lab) path(name string) string { return filepath.Join(l.work, name) }

func (l *lab) runFile(ranks, start int) string {
	return l.path(fmt.Sprintf("hpcc-%d-%d.txt", ranks, start))
}

// command runs a program, of bin if it is there, and returns its standard output. BLAS has one
// thread.
func (l *lab) command(dir, name string, args ...string) ([]byte, error) {
	fmt.Fprintln(l.out, "$", name, strings.Join(args, " "))
	if own := filepath.Join(l.bin, name); exists(own) {
		name = own
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1")
	if os.Getuid() == 0 {
		cmd.Env = append(cmd.Env, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	}
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return text, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// predictions returns the predicted Gflop/s by configuration. They are written down before the
// first run of HPL.
func (l *lab) predictions() (map[string]float64, error) {
	kept, list := l.path("predictions.json"), map[string]float64{}
	text, err := os.ReadFile(kept)
	if err == nil {
		return list, json.Unmarshal(text, &list)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if first := l.plan.grids[0]; exists(l.runFile(first.p*first.q, 0)) {
		return nil, fmt.Errorf("%s holds runs of HPL, but no predictions: they would not be blind (use another -o)", l.work)
	}
	trace := func(c point) string { return l.path(c.String() + ".trace.zst") }
	for _, c := range l.plan.points() {
		file := l.path(c.String() + ".dat")
		if err := os.WriteFile(file, []byte(dat([]int{c.n}, []int{c.nb}, []grid{c.grid})), 0o666); err != nil {
			return nil, err
		}
		if _, err := l.command("", "tracegen", "hpl", "--quiet", "--hpl-dat", file, "-o", trace(c)); err != nil {
			return nil, err
		}
	}
	// One machine predicts all runs.
	machine := l.path("machine")
	args := []string{"machine", machine, "--budget", l.budget}
	for _, c := range l.plan.measured() {
		args = append(args, "--for", trace(c))
	}
	if _, err := l.command("", "calibrate", append(args, "--", "mpirun", "-np", "2")...); err != nil {
		return nil, err
	}
	for _, c := range l.plan.points() {
		text, err := l.command("", "replay", "--quiet", "--json", "--machine", machine, trace(c))
		if err != nil {
			return nil, err
		}
		var r struct {
			Gflops float64 `json:"gflops"`
		}
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, err
		}
		list[c.String()] = r.Gflops
	}
	text, err = json.MarshalIndent(list, "", "  ")
	if err != nil {
		return nil, err
	}
	return list, os.WriteFile(kept, append(text, '\n'), 0o666)
}

// measure adds the Gflop/s of a start of hpcc, which it makes unless its output is there.
func (l *lab) measure(ranks, start int, measured map[point][]float64) error {
	file := l.runFile(ranks, start)
	if exists(file) {
		return readRuns(file, measured)
	}
	dir, err := filepath.Abs(l.path(fmt.Sprintf("hpcc-%d", ranks)))
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o777)); err != nil {
		return err
	}
	grids := slices.DeleteFunc(slices.Clone(l.plan.grids), func(g grid) bool { return g.p*g.q != ranks })
	input := dat(slices.Repeat(l.plan.sizes, l.plan.repeats), l.plan.blocks, grids) + "#\n0\n1000\n0\n64\n" // of hpcc's PTRANS
	if err := os.WriteFile(filepath.Join(dir, "hpccinf.txt"), []byte(input), 0o666); err != nil {
		return err
	}
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	if _, err := l.command(dir, "mpirun", "-np", strconv.Itoa(ranks), "hpcc"); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "hpccoutf.txt"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, append([]byte("load "+string(load)), text...), 0o666); err != nil {
		return err
	}
	return readRuns(file, measured)
}

// resultLine is HPL's line of a run: N, NB, P, Q, seconds, Gflop/s.
var resultLine = regexp.MustCompile(`(?m)^W[RC]\w+ +(\d+) +(\d+) +(\d+) +(\d+) +[\d.]+ +(\S+) *$`)

// readRuns adds the Gflop/s in an output of hpcc.
func readRuns(file string, measured map[point][]float64) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if strings.Contains(string(text), "HPL ERROR") {
		return fmt.Errorf("%s: HPL refused its input and ran another one", file)
	}
	found := resultLine.FindAllStringSubmatch(string(text), -1)
	if failed := strings.Count(string(text), "FAILED"); failed > 0 || len(found) == 0 {
		return fmt.Errorf("%s: %d runs of HPL, %d with a wrong result", file, len(found), failed)
	}
	for _, m := range found {
		var c point
		var gflops float64
		if _, err := fmt.Sscan(strings.Join(m[1:], " "), &c.n, &c.nb, &c.p, &c.q, &gflops); err != nil {
			return fmt.Errorf("%s: %q: %w", file, m[0], err)
		}
		measured[c] = append(measured[c], gflops)
	}
	return nil
}

// result is a configuration, predicted and measured, in Gflop/s.
type result struct {
	point
	predicted float64
	measured  []float64 // ascending
}

func (r *result) best() float64 { return r.measured[len(r.measured)-1] }

// error is relative to the best run.
func (r *result) error() float64 { return r.predicted/r.best() - 1 }

type results []result

// large is the order from which on the last line counts.
const large = 4000

// write writes all results, and how well they are predicted.
func (list results) write(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "grid\tNB\tN\tpredicted Gflop/s\tbest\tmedian\tworst\truns\terror %")
	for i := range list {
		r := &list[i]
		fmt.Fprintf(t, "%v\t%d\t%d\t%.3g\t%.3g\t%.3g\t%.3g\t%d\t%+.1f\n", r.grid, r.nb, r.n, r.predicted, r.best(),
			r.measured[len(r.measured)/2], r.measured[0], len(r.measured), 100*r.error())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if right, pairs := list.ordered(); pairs > 0 {
		fmt.Fprintf(out, "Of %d pairs whose best runs differ by over 10 %%, %d are predicted in order.\n", pairs, right)
	}
	mean, worst := list.errors(0)
	fmt.Fprintf(out, "mean absolute error %.1f %%, worst %.1f %% (all N)\n", 100*mean, 100*worst)
	mean, worst = list.errors(large)
	_, err := fmt.Fprintf(out, "mean absolute error %.1f %%, worst %.1f %% (N >= %d)\n", 100*mean, 100*worst, large)
	return err
}

// errors returns the mean and the largest absolute error from an order on; 0 if there is none.
func (list results) errors(from int) (mean, worst float64) {
	count := 0.0
	for i := range list {
		if list[i].n >= from {
			e := math.Abs(list[i].error())
			mean, worst, count = mean+e, max(worst, e), count+1
		}
	}
	return mean / max(count, 1), worst
}

// ordered counts the pairs of configurations whose best runs differ by over 10 %, and those of
// them that are predicted in order.
func (list results) ordered() (right, pairs int) {
	for i := range list {
		for k := range i {
			a, b := &list[i], &list[k]
			if a.best() < b.best() {
				a, b = b, a
			}
			if a.best() > 1.1*b.best() {
				pairs++
				if a.predicted > b.predicted {
					right++
				}
			}
		}
	}
	return right, pairs
}
