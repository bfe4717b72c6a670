package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"reprise/internal/page"
	"reprise/internal/wording"
)

// traces measures files, their generation and statistics, and the expansion to
// actions.
func traces(l *runner) (string, error) {
	t := page.NewTable("trace", "file, bytes", "generation, s", "memory, MB", "messages", "bytes per message", "`trace stat`, s", "memory, MB")
	for _, x := range []struct{ name, flags string }{
		{"Stampede, all 3,785 steps", stampedeFlags},
		{"the same, `--SWAP long --EQUIL yes`", strings.NewReplacer("--SWAP bin", "--SWAP long", "--EQUIL no", "--EQUIL yes").Replace(stampedeFlags)},
		{"Dahu, N = 500,000", dahuRun(500000, 0, 0).flags},
		{"65,536 ranks, N = 1,000,000, NB = 256, `--SWAP bin`", "-N 1000000 --NB 256 -P 256 -Q 256 --SWAP bin"},
	} {
		g, err := l.hpl(x.flags)
		if err != nil {
			return "", err
		}
		n, stat, err := l.stat(g.path)
		if err != nil {
			return "", err
		}
		t.Row(x.name, wording.Thousands(g.size), page.Digits(g.seconds), page.Megabytes(g.bytes), wording.Thousands(n), fmt.Sprintf("%.2g", float64(g.size)/float64(n)), page.Digits(stat.seconds), page.Megabytes(stat.bytes))
	}
	fill, err := expansion()
	if err != nil {
		return "", err
	}
	return t.String() + "\n" + fill.String() +
		commands("tracegen hpl "+stampedeFlags+" -o stampede.trace.zst", "trace stat stampede.trace.zst", "go test -run '^$' -bench Fill -benchmem ./trace"), nil
}

// stat counts the messages of a trace, by trace stat.
func (l *runner) stat(path string) (messages int64, c cost, err error) {
	var report struct {
		Totals struct {
			Messages int64 `json:"messages"`
		} `json:"totals"`
	}
	c, err = l.median(func() (cost, error) {
		out, c, err := l.run("trace", "stat", "--json", path)
		if err != nil {
			return c, err
		}
		return c, json.Unmarshal(out, &report)
	})
	return report.Totals.Messages, c, err
}

// expansion runs the benchmarks of cursors.
func expansion() (*page.Table, error) {
	out, _, err := measure(exec.Command("go", "test", "-run", "^$", "-bench", "Fill", "-benchmem", "./trace"))
	if err != nil {
		return nil, err
	}
	t := page.NewTable("expansion to flat actions", "ns per action", "allocations per call")
	for _, b := range benchmarkLines(string(out)) {
		t.Row(b.name, page.Digits(b.metrics["ns/action"]), fmt.Sprint(b.metrics["allocs/op"]))
	}
	if t.Len() == 0 {
		return nil, fmt.Errorf("go test -bench Fill ./trace: no benchmarks in %.300q", out)
	}
	return t, nil
}

// benchmark is a line of go test -bench.
type benchmark struct {
	name    string
	metrics map[string]float64 // by unit
}

var procSuffix = regexp.MustCompile(`-\d+$`)

// benchmarkLines returns the results in the output of go test -bench.
func benchmarkLines(output string) []benchmark {
	var list []benchmark
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		b := benchmark{strings.TrimPrefix(procSuffix.ReplaceAllString(fields[0], ""), "Benchmark"), map[string]float64{}}
		for i := 2; i+1 < len(fields); i += 2 {
			if v, err := strconv.ParseFloat(fields[i], 64); err == nil {
				b.metrics[fields[i+1]] = v
			}
		}
		list = append(list, b)
	}
	return list
}
