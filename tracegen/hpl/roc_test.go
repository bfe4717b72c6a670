package hpl

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	"reprise/tracegen"
)

// rocCase is a recorded run of the real rocHPL.
type rocCase struct {
	oracleCase
	Frac     float64
	NodeGrid [2]int `json:"node_grid"`
	Equil    int    // in place of HPL's yes or no
}

// comparableRoc returns the lines of a rank's file that are compared. In a broadcast the order of completions, and of
// what follows from them, differs from run to run; copies of the host in a pivot exchange depend on who held the larger
// value.
func comparableRoc(text string) (lines []string) {
	begin := -1 // of a broadcast
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' || strings.HasPrefix(line, "host dcopy") {
			continue
		}
		lines = append(lines, line)
		switch {
		case strings.HasPrefix(line, "begin bcast"):
			begin = len(lines)
		case strings.HasPrefix(line, "end bcast"):
			slices.Sort(lines[begin:])
		}
	}
	return lines
}

// Traces have the lines of recorded runs of rocHPL 7.0.1 and 6.0.0, on all ranks.
func TestRocOracle(t *testing.T) {
	for variant, pattern := range map[Variant]string{RocHPL: "*.zip", RocHPL6: "v6/*.zip"} {
		names, err := filepath.Glob(filepath.Join("../../testdata/oracle/rochpl", pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("no recorded runs of %v: %v", variant, err)
		}
		for _, name := range names {
			t.Run(filepath.Base(name), func(t *testing.T) {
				t.Parallel()
				z := must(zip.OpenReader(name))
				defer z.Close()
				var c rocCase
				if err := json.Unmarshal(must(fs.ReadFile(z, "case.json")), &c); err != nil {
					t.Fatal(err)
				}
				p := DefaultParams(c.N, c.P, c.Q)
				p.UseVariant(variant)
				p.NB, p.NBMin, p.NDiv, p.Frac = c.NB, c.NBMin, c.NDiv, c.Frac
				p.Node = tracegen.Pair{Rows: c.NodeGrid[0], Cols: c.NodeGrid[1]}
				err := errors.Join(p.Set("PMAP", c.PMap), p.Set("PFACT", c.PFact), p.Set("RFACT", c.RFact), p.Set("L1", c.L1),
					p.Set("BCAST", variant.Known("BCAST", strconv.Itoa(c.BcastCode))))
				if err != nil {
					t.Fatal(err)
				}
				rows := must(ReadPivots(bytes.NewReader(must(fs.ReadFile(z, "pivots.txt"))), "pivots.txt", c.N))
				p.Pivots = Pivots{Kind: GivenPivots, Name: "pivots.txt", Rows: rows}
				tr := tracetest.Open(t, generate(t, p, Options{}))
				for rank := range int32(c.P * c.Q) {
					want := comparableRoc(string(must(fs.ReadFile(z, fmt.Sprintf("rank-%d.txt", rank)))))
					var out bytes.Buffer
					err := text.WriteListings(&out, tr, []int32{rank}, trace.CursorOptions{Markers: true}, trace.Hit{}, RocWords())
					if got := comparableRoc(out.String()); err != nil || !slices.Equal(got, want) {
						t.Errorf("rank %d: %v %s", rank, err, cmp.Diff(want, got))
					}
				}
			})
		}
	}
}

// Ranks of a grid of 4 x 4 processes on nodes of 2 x 2: nodes column by column, and ranks in a node likewise. Rank
// r + 2*q of node n, which is at row n mod 2 and column n/2 of nodes, is at row 2*(n mod 2) + r, column 2*(n/2) + q.
func TestNodeGrid(t *testing.T) {
	p := DefaultParams(64, 4, 4)
	p.UseVariant(RocHPL)
	p.Node = tracegen.Pair{Rows: 2, Cols: 2}
	row0 := header(&p, &Options{}).CommFamilies[rowFamily].Groups[0].Ranks
	if want := []int32{0, 2, 8, 10}; !slices.Equal(row0, want) {
		t.Errorf("process row 0 has ranks %v, want %v", row0, want)
	}
	p.PMap = RowMajor // where the nodes have no effect
	if of := header(&p, &Options{}).CommFamilies[rowFamily].Groups[0]; of.Member(3) != 3 {
		t.Errorf("row-major: %v", of)
	}
}

// What rocHPL refuses is refused, with the parameter; what it solves wrongly is said.
func TestRocRefuses(t *testing.T) {
	for want, change := range map[string]func(*Params){
		"":                       func(*Params) {},
		"DEPTH = 0":              func(p *Params) { p.Depth = 0 },
		"SWAP = 0":               func(p *Params) { p.Swap = BinaryExchange },
		"U = 1":                  func(p *Params) { p.U = NoTransposed },
		"EQUIL = 1":              func(p *Params) { p.Equil = true },
		"frac = 1.5":             func(p *Params) { p.Frac = 1.5 },
		"node-grid = 3x1":        func(p *Params) { p.Node = tracegen.Pair{Rows: 3, Cols: 1} },
		"want the variant":       func(p *Params) { p.Program = HPL23 },
		"build option of HPL":    func(p *Params) { p.CopyL = true },
		"node-grid = 1x3: rocHP": func(p *Params) { p.Node = tracegen.Pair{Rows: 1, Cols: 3} },
	} {
		p := DefaultParams(100, 2, 2)
		p.UseVariant(RocHPL)
		change(&p)
		if err := p.Validate(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	p := DefaultParams(95, 2, 2)
	p.UseVariant(RocHPL)
	p.NB, p.Frac = 32, 0
	if p.Wrong() == "" {
		t.Error("no word of the wrong solution of N = 95, NB = 32, frac 0")
	}
	if p.Program = RocHPL6; p.Wrong() != "" {
		t.Error("version 6 solves it")
	}
}

// An HPL.dat is read as rocHPL reads it.
func TestRocDat(t *testing.T) {
	p := DefaultParams(100, 2, 2)
	p.UseVariant(RocHPL)
	var good bytes.Buffer
	if err := p.WriteDat(&good); err != nil {
		t.Fatal(err)
	}
	line := func(old, new string) string { return strings.Replace(good.String(), old, new, 1) }
	dat, err := RocHPL.ReadDat(strings.NewReader(line("0            BCASTs", "6            BCASTs")), "HPL.dat")
	if err != nil {
		t.Fatal(err)
	}
	if got := must(dat.Combination(1)); got.Bcast != LongM || got.Program != RocHPL || len(dat.Warnings()) != 1 {
		t.Errorf("BCAST 6: %v of %v, warnings %v", got.Bcast, got.Program, dat.Warnings())
	}
	_, err = RocHPL.ReadDat(strings.NewReader(line("1            DEPTHs", "0            DEPTHs")), "HPL.dat")
	if err == nil || !strings.HasPrefix(err.Error(), "HPL.dat:25: DEPTH = 0: rocHPL stops") {
		t.Errorf("DEPTH 0: %v", err)
	}
}

// The first steps are written alone when asked for.
func TestRocFirstSteps(t *testing.T) {
	p := DefaultParams(400, 2, 2)
	p.UseVariant(RocHPL)
	p.FirstSteps = 2
	var buf bytes.Buffer
	if err := Generate(context.Background(), &buf, p, Options{}); err != nil {
		t.Fatal(err)
	}
	if out := list(t, tracetest.Open(t, buf.Bytes()), 0, trace.Hit{}); strings.Contains(out, "pdtrsv") ||
		strings.Count(out, "panel j=") != 3 {
		t.Errorf("%d panels", strings.Count(out, "panel j="))
	}
}
