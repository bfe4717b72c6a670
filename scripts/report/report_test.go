package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"reprise/platforms"
)

const root = "../.."

func TestTable(t *testing.T) {
	x := newTable("a", "b")
	x.row("1", "2")
	if want := "| a | b |\n| --- | --- |\n| 1 | 2 |\n"; x.String() != want {
		t.Errorf("%q, want %q", x, want)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{count(0), "0"}, {count(999), "999"}, {count(1000), "1,000"}, {count(-123456), "-123,456"}, {count(int64(3491026162)), "3,491,026,162"},
		{digits(0), "0.00"}, {digits(0.01234), "0.0123"}, {digits(9.996), "10.0"}, {digits(99.5), "99.5"}, {digits(999.7), "1,000"}, {digits(1094567), "1,090,000"},
		{megabytes(54284288), "54.3"},
		{duration(16), "16.0 s"}, {duration(1038.34), "17.3 min"}, {duration(223200), "62.0 h"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}

func TestReplaceSection(t *testing.T) {
	const page = "text\n<!-- measured: a -->\nold\n<!-- end: a -->\nmore\n<!-- measured: b -->\n<!-- end: b -->\n"
	got, err := replaceSection(page, "a", "\nnew\n\n")
	want := "text\n<!-- measured: a -->\n\nnew\n\n<!-- end: a -->\nmore\n<!-- measured: b -->\n<!-- end: b -->\n"
	if err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	if again, err := replaceSection(got, "a", "new"); again != want || err != nil {
		t.Errorf("again: %q, %v", again, err)
	}
	for _, bad := range []string{"c", ""} {
		if _, err := replaceSection(page, bad, "x"); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// TestPage: the page has a section for each part, and each plot that it shows.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range partNames() {
		if _, err := replaceSection(string(text), name, ""); err != nil {
			t.Error(err)
		}
	}
}

func TestChooseParts(t *testing.T) {
	names := func(list []part) string {
		var s []string
		for _, p := range list {
			s = append(s, p.name)
		}
		return strings.Join(s, " ")
	}
	for _, c := range []struct {
		only []string
		long bool
		want string
	}{
		{[]string{"traces", "scaling"}, false, "scaling traces"},
		{[]string{"stampede-complete"}, false, "stampede-complete"},
		{nil, true, strings.Join(partNames(), " ")},
		{nil, false, "scaling size broadcasts stampede engine smpirun published traces"},
	} {
		if got, err := chooseParts(c.only, c.long); err != nil || names(got) != c.want {
			t.Errorf("%v, %t: %s, %v; want %s", c.only, c.long, names(got), err, c.want)
		}
	}
	if _, err := chooseParts([]string{"luck"}, false); err == nil {
		t.Error("no error")
	}
}

func TestFlags(t *testing.T) {
	o, err := parseFlags([]string{"-only", "size,traces", "-runs", "1"})
	if err != nil || len(o.only) != 2 || o.runs != 1 || o.bin != "bin" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range []string{"-runs 0", "size", "-fast"} {
		if _, err := parseFlags(strings.Fields(args)); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}

// TestRun: a program that takes less memory than this one is refused, as its own is
// not known then.
func TestRun(t *testing.T) {
	l := &lab{dir: t.TempDir(), log: io.Discard, runs: 1}
	if own := ownPeak(); own == 0 {
		t.Skip("peak memory is not known on this system")
	}
	if _, _, err := l.run("true"); err == nil || !strings.Contains(err.Error(), "less memory") {
		t.Errorf("true: %v", err)
	}
	if _, _, err := l.run("false"); err == nil || strings.Contains(err.Error(), "less memory") {
		t.Errorf("false: %v", err)
	}
}

func TestMedian(t *testing.T) {
	if got := median([]cost{{3, 1}, {1, 9}, {2, 4}}); got != (cost{2, 9}) {
		t.Errorf("%+v, want 2 s, 9 bytes", got)
	}
}

// TestExtrapolate: windows of 1 and 3 us per message, 2 us on average.
func TestExtrapolate(t *testing.T) {
	windows := []replayed{{Messages: 1e6, cost: cost{seconds: 1}}, {Messages: 1e6, cost: cost{seconds: 3}}}
	if got := extrapolate(5e6, windows); got != 10 {
		t.Errorf("%g s, want 10", got)
	}
}

func TestBenchmarkLines(t *testing.T) {
	got := benchmarkLines("goos: linux\nBenchmarkFill/ranks=64-2   100   358.3 ns/op   5.5 ns/action   0 allocs/op\nPASS\n")
	want := []benchmark{{"Fill/ranks=64", map[string]float64{"ns/op": 358.3, "ns/action": 5.5, "allocs/op": 0}}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(benchmark{})); d != "" {
		t.Error(d)
	}
}

// TestShareOut: 30 of 80 ms in the solver, 10 in routes, 40 in the runtime.
func TestShareOut(t *testing.T) {
	const top = `Showing nodes accounting for 80ms, 100% of 80ms total
      flat  flat%   sum%        cum   cum%
      40ms 50.00% 50.00%       40ms 50.00%  /usr/local/go/src/runtime/proc.go
      20ms 25.00% 75.00%       80ms 100.0%  /r/netmodel/local.go
      10ms 12.50% 87.50%       10ms 12.50%  /r/netmodel/local.go (inline)
      10ms 12.50%   100%       10ms 12.50%  /r/netmodel/route.go (inline)
         0     0%   100%       80ms 100.0%  /r/replay/engine.go
`
	want := map[string]float64{"Go runtime": 0.5, "solver": 0.375, "routes": 0.125}
	if d := cmp.Diff(want, shareOut(top, "/r")); d != "" {
		t.Error(d)
	}
}

// TestEngineParts: the files that are told apart exist.
func TestEngineParts(t *testing.T) {
	for _, part := range engineParts {
		for _, pattern := range part.patterns {
			if _, err := os.Stat(filepath.Join(root, pattern)); err != nil && !strings.HasPrefix(pattern, "/") {
				t.Errorf("%s: %v", part.name, err)
			}
		}
	}
	for path, want := range map[string]string{"replay/message.go": "ranks, matching", "<autogenerated>": "other", "trace/cursor.go": "trace decoding"} {
		if got := enginePart(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestFatTree(t *testing.T) {
	for _, ranks := range scalingRanks[:3] {
		path := filepath.Join(t.TempDir(), "p.xml")
		if err := os.WriteFile(path, []byte(fatTree(ranks)), 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := platforms.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if p.NumHosts() != ranks {
			t.Errorf("%d hosts, want %d", p.NumHosts(), ranks)
		}
	}
}

func TestRecordedWall(t *testing.T) {
	dir := filepath.Join(root, recorded)
	if got, err := recordedWall(dir, 65536); got != "507" || err != nil { // 507.483 s in the file
		t.Errorf("%s, %v", got, err)
	}
	if got, err := recordedWall(dir, 1); got != "–" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

func TestTicks(t *testing.T) {
	labels := func(ticks plot.ConstantTicks) string {
		var s []string
		for _, x := range ticks {
			s = append(s, x.Label)
		}
		return strings.Join(s, " ")
	}
	for _, c := range []struct{ got, want string }{
		{labels(logTicks(0.46, 3.98)), "0.2 0.5 1 2 5"},
		{labels(logTicks(1, 100)), "1 2 5 10 20 50 100"},
		{labels(logTicks(0.004, 40)), "0.001 0.01 0.1 1 10 100"},
		{labels(evenTicks(2.6)), "0 0.5 1 1.5 2 2.5 3"},
		{labels(evenTicks(100)), "0 20 40 60 80 100"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}

func TestPlots(t *testing.T) {
	dir := t.TempDir()
	up := curve{"up", plotter.XYs{{X: 64, Y: 0.01}, {X: 256, Y: 0.2}, {X: 1024, Y: 30}}}
	down := curve{"down", plotter.XYs{{X: 64, Y: 10}, {X: 1024, Y: 1}}}
	if err := (graph{"title", "ranks", "s", []curve{up, down}}).write(dir, "curves"); err != nil {
		t.Error(err)
	}
	if err := (bars{"title", "messages/s", []string{"one", "two"}, []string{"low", "high"}, []plotter.Values{{1, 2}, {3, 4}}}).write(dir, "bars"); err != nil {
		t.Error(err)
	}
	if text := svgText(t, filepath.Join(dir, "curves.svg")); !strings.Contains(text, "1,024") || !strings.Contains(text, "down") {
		t.Errorf("no tick or legend in %q", text)
	}
	if text := svgText(t, filepath.Join(dir, "bars.svg")); !strings.Contains(text, "two") || !strings.Contains(text, "high") {
		t.Errorf("no name or legend in %q", text)
	}
}

// svgText returns the text in a well-formed SVG file.
func svgText(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b strings.Builder
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if text, ok := token.(xml.CharData); ok {
			b.Write(text)
		}
	}
}
