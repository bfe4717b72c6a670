// Validate replays published runs of HPL and prints how far Reprise is from the published
// simulations by SMPI and from the machines (docs/validation.md).
//
//	go run ./scripts/validate -data DIR [-only dahu,factorial,...] [-all] [-o DIR] [-jobs N]
//	go run ./scripts/validate -short
//	go run ./scripts/validate -intervals SEED,...
//
// The published data belong to others and are not in the repository: -data is their directory.
// Platforms and kernel models are built from the coefficients in there. Each run is one call
// of tracegen and one of replay, the programs in -bin. Each table of runs becomes a CSV
// file in -o, beside the published figures, and a row of the summary on standard output.
//
// Without -all, long runs are estimates from windows of steps, and some are left out.
//
// -short takes a minute and needs no data: it replays the runs of
// testdata/validation/dahu.csv with the built-in machine, and fails if one is further from
// SMPI's figure than the limit beside it.
//
// -intervals draws runs from each seed, and compares estimates with complete runs
// (intervals.go).
package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// published is a table of published runs.
type published struct {
	name    string
	columns []string // that tell its runs apart
	runs    func(*data) []point
	base    string // of the third column: excess over its run of the same first two; "": none
}

// A point is a published run beside ours. Figures are Gflops, 0 if there is none.
type point struct {
	labels     []string // a cell for each column
	run        run
	smpi, real float64
	ours       result
}

var tables = []published{
	{name: "dahu", columns: []string{"model", "matrix_size"}, runs: dahuByOrder},
	{name: "causes", columns: []string{"run", "changed"}, runs: causes},
	{name: "cooling", columns: []string{"cooling", "matrix_size"}, runs: cooling},
	{name: "factorial", columns: factors, runs: factorial},
	{name: "geometry", columns: []string{"p", "q"}, runs: geometry2020},
	{name: "geometry-2019", columns: []string{"p", "q"}, runs: geometry2019},
	{name: "paravance", columns: []string{"matrix_size"}, runs: func(d *data) []point { return paravance(d, true) }},
	{name: "stampede", columns: []string{"network", "matrix_size"}, runs: stampede},
	{name: "topology", columns: studyColumns, runs: topology, base: "4"},
	{name: "temporal", columns: studyColumns, runs: temporal, base: "0 %"},
	{name: "spatial", columns: studyColumns, runs: spatial, base: allNodes},
	{name: "capacity", columns: []string{"matrix_size", "top_switches", "link_MBps", "latency_us", "speed", "placement"}, runs: capacity},
}

func main() {
	log.SetFlags(0)
	if err := validate(os.Args[1:], os.Stdout); err != nil {
		log.Fatalln("validate:", err)
	}
}

func validate(args []string, stdout io.Writer) error {
	f := flag.NewFlagSet("validate", flag.ContinueOnError)
	d := &data{}
	f.StringVar(&d.dir, "data", "", "directory of the published data")
	f.BoolVar(&d.all, "all", false, "complete runs instead of estimates, except Stampede's, and more runs: many hours")
	out := f.String("o", "out/validation", "directory of the tables")
	bin := f.String("bin", "bin", "directory of tracegen and replay")
	jobs := f.Int("jobs", runtime.GOMAXPROCS(0), "number of replays at once")
	only := f.String("only", "", "comma-separated names of tables (default: all)")
	short := f.Bool("short", false, "replay some small runs with the built-in machine")
	facts := f.String("facts", "testdata/validation", "directory of the figures for -short")
	seeds := f.String("intervals", "", "comma-separated seeds: compare estimates with complete runs")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 || *jobs < 1 {
		return errors.New("want flags only, and at least one job")
	}
	l := &runner{bin: *bin, jobs: *jobs, done: map[run]result{}}
	switch {
	case *short:
		return replayShort(l, *facts, stdout)
	case *seeds != "":
		return compareIntervals(l, *seeds, stdout)
	case d.dir == "":
		return errors.New("want -data DIR, the published data, or -short or -intervals")
	}
	wanted := tables
	if *only != "" {
		wanted = nil
		for _, name := range strings.Split(*only, ",") {
			i := slices.IndexFunc(tables, func(t published) bool { return t.name == name })
			if i < 0 {
				return fmt.Errorf("-only: no table %q", name)
			}
			wanted = append(wanted, tables[i])
		}
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	summary := tabwriter.NewWriter(stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(summary, "table\tcompared\tpoints\tmean |error|, %\tworst\tat")
	for _, t := range wanted {
		points := t.runs(d)
		if d.err == nil && len(points) == 0 {
			d.fail(errors.New("no runs in the data"))
		}
		if d.err != nil {
			return fmt.Errorf("%s: %w", t.name, d.err)
		}
		if err := l.replayPoints(points); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		if err := t.write(filepath.Join(*out, t.name+".csv"), points); err != nil {
			return err
		}
		summarise(summary, t.name, points)
	}
	return summary.Flush()
}

// replayPoints fills in ours.
func (l *runner) replayPoints(points []point) error {
	runs := make([]run, len(points))
	for i, p := range points {
		runs[i] = p.run
	}
	results, err := l.replayAll(runs)
	for i, r := range results {
		points[i].ours = r
	}
	return err
}

// write writes points as CSV. Errors and excesses are in percent; an excess is of the time.
func (t *published) write(path string, points []point) error {
	head := append(slices.Clone(t.columns), "gflops", "half_width_percent", "smpi_gflops", "real_gflops", "off_smpi_percent", "off_real_percent", "smpi_off_real_percent")
	if t.base != "" {
		head = append(head, "excess_percent", "smpi_excess_percent")
	}
	lines := [][]string{head}
	for _, p := range points {
		row := append(slices.Clone(p.labels), cell(p.ours.Gflops), cell(100*p.ours.Interval/p.ours.Makespan), cell(p.smpi), cell(p.real),
			off(p.ours.Gflops, p.smpi), off(p.ours.Gflops, p.real), off(p.smpi, p.real))
		if t.base != "" {
			key := slices.Clone(p.labels)
			key[2] = t.base
			var base point // without figures if there is none
			if i := slices.IndexFunc(points, func(q point) bool { return slices.Equal(q.labels, key) }); i >= 0 {
				base = points[i]
			}
			row = append(row, off(base.ours.Gflops, p.ours.Gflops), off(base.smpi, p.smpi))
		}
		lines = append(lines, row)
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(lines); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o666)
}

// cell writes a figure, or nothing where there is none.
func cell(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// relative returns how much larger got is than want, in percent.
func relative(got, want float64) float64 { return 100 * (got/want - 1) }

// off writes how much larger got is than want, in percent, if there are both.
func off(got, want float64) string {
	if got == 0 || want == 0 {
		return ""
	}
	return fmt.Sprintf("%+.2f", relative(got, want))
}

// summarise writes the errors of a table's Gflops.
func summarise(w io.Writer, name string, points []point) {
	for i, compared := range []string{"ours, SMPI", "ours, machine", "SMPI, machine"} {
		n, sum, worst, at := 0, 0.0, 0.0, ""
		for _, p := range points {
			pair := [][2]float64{{p.ours.Gflops, p.smpi}, {p.ours.Gflops, p.real}, {p.smpi, p.real}}[i]
			if pair[0] == 0 || pair[1] == 0 {
				continue
			}
			e := relative(pair[0], pair[1])
			n, sum = n+1, sum+math.Abs(e)
			if math.Abs(e) >= math.Abs(worst) {
				worst, at = e, strings.Join(p.labels, " ")
			}
		}
		if n > 0 {
			fmt.Fprintf(w, "%s\t%s\t%d\t%.2f\t%+.2f\t%s\n", name, compared, n, sum/float64(n), worst, at)
		}
	}
}

// replayShort replays the runs of dahu.csv in a directory with the built-in machine. The error
// says how many are further from SMPI's figure than their limit.
func replayShort(l *runner, dir string, stdout io.Writer) error {
	d := &data{dir: dir}
	var points []point
	var limits []float64
	for _, r := range d.rows("dahu.csv", "model", "kernels", "matrix_size", "smpi_gflops", "real_gflops", "limit") {
		points = append(points, point{
			labels: []string{r.text("model"), r.text("matrix_size")},
			run: run{hpl: dahuFlags(r.whole("matrix_size"), 128, 32, 32, "2rg", 1, "bin"), platform: "dahu", kernels: r.text("kernels"),
				flags: "--cfg reprise/bw-factor:bound"},
			smpi: r.number("smpi_gflops"), real: r.number("real_gflops"),
		})
		limits = append(limits, r.number("limit"))
	}
	if d.err != nil {
		return d.err
	}
	if err := l.replayPoints(points); err != nil {
		return err
	}
	beyond := 0
	for i, p := range points {
		fmt.Fprintf(stdout, "%-7s N = %s: %.0f Gflops, %s %% from SMPI's, %s %% from the machine's; limit %g %%\n",
			p.labels[0], p.labels[1], p.ours.Gflops, off(p.ours.Gflops, p.smpi), off(p.ours.Gflops, p.real), limits[i])
		if !(math.Abs(relative(p.ours.Gflops, p.smpi)) <= limits[i]) {
			beyond++
		}
	}
	if beyond > 0 {
		return fmt.Errorf("%d of %d runs are further from SMPI's than their limit", beyond, len(points))
	}
	return nil
}
