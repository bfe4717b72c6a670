// Report measures how long replays of HPL take and how much memory, as docs/performance.md
// shows them, and prints a table as CSV.
//
//	go run ./scripts/report [-only scaling,size,...] [-long] [-runs 3] [-bin bin]
//
// Measured are whole processes of the programs in -bin (make build): wall time, and
// peak resident memory in units of 10⁶ bytes. A process of less than 5 s runs -runs times: the
// median time and the largest memory count. Runs of the part published have the cost of SMPI's
// simulation of the same run beside them. replay beside smpirun is scripts/bench.
package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reprise/scripts/bench/workload"
)

// columns are the columns of the table; the last is the exponent with which the seconds of a crowd grow with its messages.
var columns = strings.Split("part,run,trace_bytes,generation_s,generation_MB,messages,polls,seconds,messages_per_s,MB,half_width_percent,smpi_s,smpi_MB,growth", ",")

// ratio returns the logarithm of the ratio of a column in two rows.
func ratio(row, last []string, column string) float64 {
	at := slices.Index(columns, column)
	a, _ := strconv.ParseFloat(row[at], 64)
	b, _ := strconv.ParseFloat(last[at], 64)
	return math.Log(a / b)
}

// A run is one row: a trace of HPL and a replay of it.
type run struct {
	part, name string
	hpl        string             // flags of tracegen hpl
	replay     string             // flags of replay; "": trace stat instead
	load       *workload.Workload // in place of HPL
	long       bool               // takes more than some minutes
	smpi       float64            // SMPI's published wall time in seconds, 0: none
	smpiMB     float64
}

// stampede is the run of the TOP500 of June 2013, as in scripts/demo.sh.
const stampede = "-N 3875000 --NB 1024 -P 77 -Q 78 --PMAP col --PFACT right --NBMIN 4 --NDIV 2 --RFACT crout " +
	"--BCAST LnM --DEPTH 0 --SWAP bin --L1 no --U no --EQUIL no"

// dahu returns the flags of a run on 1,024 ranks of Dahu.
func dahu(n int) string {
	return fmt.Sprintf("-N %d --NB 128 -P 32 -Q 32 --PFACT crout --RFACT right --NBMIN 2 --BCAST 2rg --DEPTH 1 --SWAP bin", n)
}

// runs lists all rows. fatTree returns the name of the file of a platform for a number of ranks.
//
// SMPI's costs on Dahu are from T. Cornebize, High Performance Computing: Towards Better
// Performance Predictions and Experiments, PhD thesis, 2021, and its data; that of Stampede from
// T. Cornebize, F. Heinrich, A. Legrand, J. Vienne, Emulating High Performance Linpack on a Commodity
// Server at the Scale of a Supercomputer, 2017.
func runs(fatTree func(ranks int) string) []run {
	var list []run
	// The first steps, and complete runs of up to 1,024 ranks: 1024 x 1024 entries to a rank.
	for _, ranks := range []int{64, 256, 1024, 4096, 16384, 65536} {
		side := int(math.Sqrt(float64(ranks)))
		hpl := fmt.Sprintf("-N %d --NB 128 -P %d -Q %d --BCAST LnM --DEPTH 0 --SWAP bin", 1024*side, side, side)
		steps := 2
		if ranks == 65536 {
			steps = 1
		}
		list = append(list, run{part: "scaling", name: fmt.Sprintf("%d ranks, steps 0:%d", ranks, steps), hpl: hpl, replay: fmt.Sprintf("--platform %s --steps 0:%d", fatTree(ranks), steps)})
		if ranks <= 1024 {
			list = append(list, run{part: "scaling", name: fmt.Sprintf("%d ranks, complete", ranks), hpl: hpl, replay: "--platform " + fatTree(ranks)})
		}
	}
	// The runs of testdata/oracle/smpi-hpl, with the seed of their random pivots.
	for _, n := range []int{8192, 16384, 32768, 65536} {
		list = append(list, run{part: "size", name: fmt.Sprintf("16x16, N = %d", n), hpl: fmt.Sprintf("-N %d --NB 128 -P 16 -Q 16 --BCAST Lng --seed 7046029254386353131", n),
			replay: "--platform testdata/oracle/smpi-hpl/platforms/fattree256.xml"})
	}
	for _, name := range strings.Fields("1rg 1rM 2rg 2rM Lng LnM") {
		list = append(list, run{part: "broadcasts", name: name, hpl: "-N 32768 --NB 128 -P 16 -Q 16 --DEPTH 1 --SWAP bin --BCAST " + name, replay: "--platform " + fatTree(256)})
	}
	// Crowds of messages: how the cost grows with their number, by pattern and by machine.
	for _, pattern := range workload.Crowds {
		for _, topology := range workload.Topologies {
			for _, ranks := range []int{64, 128, 256, 512, 1024} {
				if topology != "" && pattern != "alltoall" {
					continue
				}
				name := fmt.Sprintf("%s, %s, %d ranks", pattern, cmp.Or(topology, "fat tree"), ranks)
				list = append(list, run{part: "dense", name: name,
					load: &workload.Workload{Pattern: pattern, Ranks: ranks, Seed: 1, Topology: topology}, long: ranks > 256})
			}
		}
	}
	// Many ranks on a host, in both orders, whose messages are of few pairs of hosts.
	for _, order := range []string{"row", "col"} {
		list = append(list, run{part: "dense", name: "HPL, 64 x 64 ranks on 64 hosts, PMAP " + order,
			hpl:    "-N 1280000 --NB 256 -P 64 -Q 64 --BCAST Lng --SWAP bin --PMAP " + order,
			replay: "--ranks-per-host 64 --steps 0:6 --platform " + fatTree(64)})
	}
	for _, steps := range strings.Fields("100:150 1900:1950 3500:3550") {
		list = append(list, run{part: "stampede", name: "Stampede, steps " + steps, hpl: stampede, replay: "--platform stampede --steps " + steps})
	}
	const name = "Stampede, 6,006 ranks, N = 3,875,000"
	return append(list,
		run{part: "published", name: "Dahu, 1,024 ranks, N = 50,000", hpl: dahu(50000), replay: "--platform dahu", smpi: 1038.34, smpiMB: 1194},
		run{part: "published", name: name + ", estimate", hpl: stampede, replay: "--platform stampede --tolerance 0.5%", smpi: 223200, smpiMB: 19000},
		run{part: "published", name: "Dahu, 1,024 ranks, N = 250,000", hpl: dahu(250000), replay: "--platform dahu", long: true, smpi: 6367.12, smpiMB: 4950},
		run{part: "published", name: "Dahu, 1,024 ranks, N = 500,000", hpl: dahu(500000), replay: "--platform dahu", long: true, smpi: 17103, smpiMB: 9174},
		run{part: "published", name: name, hpl: stampede, replay: "--platform stampede", long: true, smpi: 223200, smpiMB: 19000},
		run{part: "traces", name: "Stampede", hpl: stampede},
		run{part: "traces", name: "Stampede, SWAP long, EQUIL yes", hpl: strings.NewReplacer("--SWAP bin", "--SWAP long", "--EQUIL no", "--EQUIL yes").Replace(stampede)},
		run{part: "traces", name: "Dahu, N = 500,000", hpl: dahu(500000)},
		run{part: "traces", name: "65,536 ranks, N = 1,000,000", hpl: "-N 1000000 --NB 256 -P 256 -Q 256 --SWAP bin"},
	)
}

// lab measures processes of the programs in a directory.
type lab struct {
	bin     string
	dir     string // in which programs run; "": this one
	repeats int
}

func main() {
	if err := report(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func report(args []string, stdout io.Writer) error {
	f := flag.NewFlagSet("report", flag.ContinueOnError)
	only := f.String("only", "", "comma-separated parts: scaling, size, broadcasts, dense, stampede, published, traces")
	long := f.Bool("long", false, "measure runs that take longer than minutes too")
	repeats := f.Int("runs", 3, "runs of short processes, of which the median counts")
	bin := f.String("bin", "bin", "directory of tracegen, replay and trace")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 || *repeats < 1 {
		return errors.New("want flags only, and at least one run")
	}
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	list, err := choose(dir, *only, *long)
	if err != nil {
		return err
	}
	if *bin, err = filepath.Abs(*bin); err != nil {
		return err
	}
	l := lab{bin: *bin, repeats: *repeats}
	w := csv.NewWriter(stdout)
	if err := w.Write(columns); err != nil {
		return err
	}
	var before run
	var last []string
	for _, x := range list {
		row, err := l.row(x, filepath.Join(dir, "trace.zst"))
		if err != nil {
			return fmt.Errorf("%s, %s: %w", x.part, x.name, err)
		}
		// The exponent of the cost in messages between two rows of a crowd.
		growth := ""
		if x.load != nil && before.load != nil && x.load.Pattern == before.load.Pattern && x.load.Topology == before.load.Topology {
			growth = fmt.Sprintf("%.2f", ratio(row, last, "seconds")/ratio(row, last, "messages"))
		}
		before, last = x, row
		if err := w.Write(append(row, growth)); err != nil {
			return err
		}
		w.Flush()
	}
	return w.Error()
}

// choose writes platforms to a directory and returns the runs of some parts, or all.
func choose(dir, parts string, long bool) ([]run, error) {
	var failed error
	list := runs(func(ranks int) string {
		// A host of 25 Gflop/s per rank, 16 to a leaf switch, and one uplink for two hosts.
		path := filepath.Join(dir, fmt.Sprintf("fattree%d.xml", ranks))
		err := os.WriteFile(path, fmt.Appendf(nil, `<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-%d" speed="25Gf" bw="12.5GBps" lat="1us"
           topology="FAT_TREE" topo_parameters="2;16,%d;1,8;1,1"/>
</platform>
`, ranks-1, ranks/16), 0o644)
		failed = errors.Join(failed, err)
		return path
	})
	if parts != "" {
		for _, p := range strings.Split(parts, ",") {
			if !slices.ContainsFunc(list, func(x run) bool { return x.part == p }) {
				return nil, fmt.Errorf("-only: no part %q", p)
			}
		}
	}
	return slices.DeleteFunc(list, func(x run) bool {
		return x.long && !long || parts != "" && !slices.Contains(strings.Split(parts, ","), x.part)
	}), failed
}

// row generates and replays a run, and returns its row.
func (l lab) row(x run, trace string) ([]string, error) {
	generator, args := "tracegen", append([]string{"hpl", "--quiet", "-o", trace}, strings.Fields(x.hpl)...)
	if x.load != nil {
		dir, err := os.MkdirTemp(filepath.Dir(trace), "load")
		if err != nil {
			return nil, err
		}
		if err := x.load.Write(dir); err != nil {
			return nil, err
		}
		l.dir = dir // to which the names in the index are relative
		generator, args = "trace", []string{"convert", "--from", "simgrid", "--quiet", "-o", trace, "trace.index"}
		x.replay = fmt.Sprintf("--platform %s --hostfile %s", filepath.Join(dir, "platform.xml"), filepath.Join(dir, "hostfile"))
	}
	generation, _, err := l.measure(generator, args...)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(trace)
	if err != nil {
		return nil, err
	}
	program := "trace"
	args = []string{"stat", "--json", trace}
	if x.replay != "" {
		program, args = "replay", append(append([]string{"--quiet", "--json"}, strings.Fields(x.replay)...), trace)
	}
	c, out, err := l.measure(program, args...)
	if err != nil {
		return nil, err
	}
	var r struct {
		Messages  int64   `json:"messages"`
		Polls     int64   `json:"polls"`
		Makespan  float64 `json:"makespan_s"`
		Interval  float64 `json:"interval_s"` // half-width of an estimate; so is this:
		Simulated int64   `json:"simulated_messages"`
		Totals    struct {
			Messages int64 `json:"messages"`
		} `json:"totals"` // of trace stat
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return nil, err
	}
	if r.Interval > 0 {
		r.Messages = r.Simulated
	}
	r.Messages += r.Totals.Messages
	width := 0.0
	if r.Makespan > 0 {
		width = 100 * r.Interval / r.Makespan
	}
	row := []string{x.part, x.name, fmt.Sprint(info.Size())}
	for _, v := range []float64{generation.seconds, generation.megabytes, float64(r.Messages), float64(r.Polls), c.seconds, float64(r.Messages) / c.seconds, c.megabytes, width, x.smpi, x.smpiMB} {
		switch {
		case v == 0:
			row = append(row, "")
		case v >= 1000:
			row = append(row, fmt.Sprintf("%.0f", v))
		default:
			row = append(row, fmt.Sprintf("%.3g", v))
		}
	}
	return row, nil
}

// cost is the wall time and the peak memory of a process.
type cost struct{ seconds, megabytes float64 }

// measure runs a program, several times if it is quick, and returns the median time, the largest
// memory, and the standard output. Linux counts as memory of a process at least that of
// the one that starts it, so that this program must stay small.
func (l lab) measure(name string, args ...string) (cost, []byte, error) {
	fmt.Fprintln(os.Stderr, "$", name, strings.Join(args, " "))
	var seconds []float64
	var c cost
	var stdout, stderr bytes.Buffer
	for len(seconds) < l.repeats && (len(seconds) == 0 || seconds[0] < 5) {
		stdout.Reset()
		cmd := exec.Command(filepath.Join(l.bin, name), args...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = l.dir, &stdout, &stderr
		begin := time.Now()
		if err := cmd.Run(); err != nil {
			return c, nil, fmt.Errorf("%s: %w: %.500s", name, err, stderr.Bytes())
		}
		seconds = append(seconds, time.Since(begin).Seconds())
		if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			c.megabytes = max(c.megabytes, float64(u.Maxrss)*1024/1e6)
		}
	}
	slices.Sort(seconds)
	c.seconds = seconds[len(seconds)/2]
	return c, stdout.Bytes(), nil
}
