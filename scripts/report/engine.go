package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/plotter"

	"reprise/internal/page"
)

// engineParts says which files are which part of the engine: the first entry that
// fits counts. A pattern is the beginning of a path relative to the repository,
// or, with a slash in front, something in any path.
var engineParts = []struct {
	name     string
	patterns []string
}{
	{"Go runtime", []string{"/go/src/", "/src/runtime/", "/src/internal/", "/src/syscall/"}},
	{"trace decoding", []string{"trace/", "proto/", "tracegen/", "replay/source.go", "replay/barrier.go", "/klauspost/compress", "/google.golang.org/protobuf"}},
	{"kernels", []string{"kernels/"}},
	{"routes", []string{"netmodel/route.go", "platforms/"}},
	{"event queues", []string{"internal/eventqueue/eventqueue.go"}},
	{"solver", []string{"netmodel/maxmin/local.go", "netmodel/maxmin/filling.go", "netmodel/maxmin/filling_heap.go", "netmodel/maxmin/component.go", "netmodel/maxmin/reference.go"}},
	{"flows", []string{"netmodel/"}},
	{"polls", []string{"replay/poll.go", "replay/prober.go", "replay/orderedprobe.go", "replay/busywait.go", "replay/wildcard.go"}},
	{"ranks, matching", []string{"replay/"}},
	{"other", []string{""}},
}

// profiled are benchmarks of cmd/replay and what they stand for.
var profiled = []struct{ benchmark, title, short string }{
	{"Stampede", "Stampede, a step", "Stampede"},
	{"Dahu", "Dahu, small run with polls", "Dahu"},
	{"Patterns/ring-256", "ring shifts, 256 ranks, text", "ring shifts"},
}

// notReplay are functions that the benchmarks call before they replay.
const notReplay = `hpl\.Generate|zstd\.\(\*Encoder|internal/workload`

// engine profiles the benchmarks and adds up the samples by part.
func engine(l *runner) (string, error) {
	head := []string{"part"}
	var shares []map[string]float64
	for _, p := range profiled {
		s, err := l.profile(p.benchmark)
		if err != nil {
			return "", err
		}
		head, shares = append(head, p.title), append(shares, s)
	}
	t := page.NewTable(head...)
	for _, part := range engineParts {
		cells := []string{part.name}
		for _, s := range shares {
			cells = append(cells, fmt.Sprintf("%.1f %%", 100*s[part.name]))
		}
		t.Row(cells...)
	}
	return t.String() + "\n" + page.Image(l.plots, "engine", "share of time by part of the engine") + commands("go test -run '^$' -bench NAME -benchtime 5s -cpuprofile FILE ./cmd/replay",
		"go tool pprof -top -files FILE"), plotShares(shares).Write(l.plots, "engine")
}

// plotShares stacks the parts, the first on top, in a bar for each benchmark.
func plotShares(shares []map[string]float64) page.Bars {
	b := page.Bars{Title: "Where the time goes", Y: "share of time, %"}
	for _, p := range profiled {
		b.Names = append(b.Names, p.short)
	}
	for i := len(engineParts) - 1; i >= 0; i-- {
		name := engineParts[i].name
		layer := make(plotter.Values, len(shares))
		for k, s := range shares {
			layer[k] = 100 * s[name]
		}
		b.Layers, b.Values = append(b.Layers, name), append(b.Values, layer)
	}
	return b
}

// profile returns the share of each part in the time of a benchmark.
func (l *runner) profile(benchmark string) (map[string]float64, error) {
	file := filepath.Join(l.dir, "cpu.pprof")
	pattern := strings.ReplaceAll(benchmark, "/", "$/^") + "$"
	_, _, err := measure(exec.Command("go", "test", "-run", "^$", "-bench", "^Benchmark"+pattern, "-benchtime", "5s",
		"-cpuprofile", file, "-o", filepath.Join(l.dir, "replay.test"), "./cmd/replay"))
	if err != nil {
		return nil, err
	}
	out, _, err := measure(exec.Command("go", "tool", "pprof", "-top", "-files", "-unit", "ms", "-nodecount", "1000000",
		"-nodefraction", "0", "-edgefraction", "0", "-ignore", notReplay, file))
	if err != nil {
		return nil, err
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	s := shareOut(string(out), root)
	if len(s) == 0 {
		return nil, fmt.Errorf("%s: no samples in %.300q", benchmark, out)
	}
	return s, nil
}

// shareOut adds up the output of pprof -top -files by part of the engine, as shares
// of all samples. Paths below root are ours.
func shareOut(top, root string) map[string]float64 {
	sums := map[string]float64{}
	total := 0.0
	for line := range strings.Lines(top) {
		fields := strings.Fields(line)
		var ms float64
		if len(fields) < 6 {
			continue
		}
		if n, err := fmt.Sscanf(fields[0], "%fms", &ms); n != 1 || err != nil {
			continue
		}
		sums[enginePart(strings.TrimPrefix(fields[5], root+"/"))] += ms
		total += ms
	}
	for name := range sums {
		sums[name] /= total
	}
	return sums
}

// enginePart returns the part that a file belongs to.
func enginePart(path string) string {
	for _, part := range engineParts {
		for _, pattern := range part.patterns {
			if anywhere := strings.HasPrefix(pattern, "/"); anywhere && strings.Contains(path, pattern) || !anywhere && strings.HasPrefix(path, pattern) {
				return part.name
			}
		}
	}
	panic("report: the last part takes everything")
}
