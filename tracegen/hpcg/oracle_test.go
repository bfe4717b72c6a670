package hpcg

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/trace/text"
)

// oracleCase is a recorded run of the real HPCG.
type oracleCase struct {
	Ranks, NX, NY, NZ int
	RT                int
	NPX, NPY, NPZ     int
	PZ, ZL, ZU        int
	Sets              int
	Command           string
	Iterations        struct{ TestCG, Setup, Timed json.RawMessage }
	Report            map[string]string

	files map[string]string // by name in the archive
}

// oracleCases opens all recorded runs, by name.
func oracleCases(t *testing.T) map[string]*oracleCase {
	t.Helper()
	names, err := filepath.Glob("../../testdata/oracle/hpcg/*.zip")
	if err != nil || len(names) == 0 {
		t.Fatalf("no recorded runs: %v", err)
	}
	cases := map[string]*oracleCase{}
	for _, name := range names {
		z := must(zip.OpenReader(name))
		defer z.Close()
		c := &oracleCase{files: map[string]string{}}
		for _, f := range z.File {
			data := must(fs.ReadFile(z, f.Name))
			c.files[f.Name] = string(data)
		}
		if err := json.Unmarshal([]byte(c.files["case.json"]), c); err != nil {
			t.Fatal(err)
		}
		cases[strings.TrimSuffix(filepath.Base(name), ".zip")] = c
	}
	return cases
}

// params returns the run's parameters.
func (c *oracleCase) params(t *testing.T, phase Phase) Params {
	t.Helper()
	p := DefaultParams(c.Ranks, 0)
	p.NX, p.NY, p.NZ, p.Grid = c.NX, c.NY, c.NZ, Grid{c.NPX, c.NPY, c.NPZ}
	p.PZ, p.ZL, p.ZU = c.PZ, c.ZL, c.ZU
	if c.PZ > 0 {
		p.NZ = 0
	}
	p.Sets, p.Seconds, p.Phase = c.Sets, c.RT, phase
	var tests []int
	for from, to := range map[*json.RawMessage]any{&c.Iterations.TestCG: &tests, &c.Iterations.Setup: &p.SetupIterations, &c.Iterations.Timed: &p.Iterations} {
		if err := json.Unmarshal(*from, to); err != nil {
			t.Fatal(err)
		}
	}
	copy(p.TestIterations[:], tests)
	return p
}

// lines returns the lines of a rank in some parts of the run, repeats written out.
func (c *oracleCase) lines(t *testing.T, rank int, parts ...string) []string {
	t.Helper()
	var list []string
	for _, part := range parts {
		text, ok := c.files[fmt.Sprintf("%s/rank-%d.txt", part, rank)]
		if !ok {
			t.Fatalf("no %s of rank %d", part, rank)
		}
		list = append(list, unfold(t, text)...)
	}
	return list
}

// unfold writes out "repeat N" .. "end repeat", which nest.
func unfold(t *testing.T, text string) []string {
	t.Helper()
	type frame struct {
		times int
		lines []string
	}
	stack := []frame{{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		count, repeats := strings.CutPrefix(line, "repeat ")
		top := &stack[len(stack)-1]
		switch {
		case line == "" || line[0] == '#':
		case repeats:
			n := must(strconv.Atoi(count))
			stack = append(stack, frame{times: n})
		case line == "end repeat":
			outer := &stack[len(stack)-2]
			outer.lines = append(outer.lines, slices.Repeat(top.lines, top.times)...)
			stack = stack[:len(stack)-1]
		default:
			top.lines = append(top.lines, line)
		}
	}
	return stack[0].lines
}

// open returns the trace of a run.
func open(t testing.TB, p Params) *trace.Trace {
	t.Helper()
	var file bytes.Buffer
	if err := Generate(context.Background(), &file, p, Options{}); err != nil {
		t.Fatal(err)
	}
	return tracetest.Open(t, file.Bytes())
}

// list returns the lines of a rank in a trace.
func list(t testing.TB, tr *trace.Trace, rank int) []string {
	t.Helper()
	var out strings.Builder
	if err := text.WriteListings(&out, tr, []int32{int32(rank)}, trace.CursorOptions{Markers: true}, trace.Hit{}, Words()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	return lines[1:] // the first names the rank
}

// TestOracle compares the traces of all recorded runs with what the real HPCG did, line by
// line: all ranks, the timed sets alone and the whole run.
func TestOracle(t *testing.T) {
	for name, c := range oracleCases(t) {
		for phase, parts := range map[Phase][]string{Timed: {"timed"}, All: {"before", "timed", "after"}} {
			t.Run(name+"/"+phase.String(), func(t *testing.T) {
				t.Parallel()
				tr := open(t, c.params(t, phase))
				for rank := range c.Ranks {
					got, want := list(t, tr, rank), c.lines(t, rank, parts...)
					if !slices.Equal(got, want) {
						t.Fatalf("rank %d (-want +got):\n%s", rank, cmp.Diff(want, got))
					}
				}
			})
		}
	}
}

// TestOracleFlops compares the flop of the parts with what HPCG reported, to the six digits
// that it prints.
func TestOracleFlops(t *testing.T) {
	for name, c := range oracleCases(t) {
		p := c.params(t, Timed)
		if _, err := p.Complete(); err != nil {
			t.Fatal(err)
		}
		flops := p.Flops()
		values := map[string]float64{"flop Total": Total(flops)}
		for i, part := range partNames {
			values["flop Raw "+part] = flops[i]
		}
		for key, value := range values {
			if got := fmt.Sprintf("%.6g", value); got != c.Report[key] {
				t.Errorf("%s: %s %s, want %s", name, key, got, c.Report[key])
			}
		}
	}
}
