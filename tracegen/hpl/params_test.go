package hpl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
)

func TestValidate(t *testing.T) {
	tests := []struct {
		name   string
		mutate func(*Params)
		want   string
	}{
		{"no rows", func(p *Params) { p.P = 0 }, "P = 0, allowed 1 to 16777216"},
		{"no columns", func(p *Params) { p.Q = 0 }, "Q = 0, allowed 1 to"},
		{"too many ranks", func(p *Params) { p.P, p.Q = 5000, 5000 }, "P = 5000 times Q = 5000 is more than 16777216 ranks"},
		{"empty matrix", func(p *Params) { p.N = 0 }, "N = 0, allowed 1 to 2147483647"},
		{"huge matrix", func(p *Params) { p.N = math.MaxInt64 }, "N = 9223372036854775807, allowed 1 to"},
		{"no block", func(p *Params) { p.NB = 0 }, "NB = 0, allowed 1 to"},
		{"overflow", func(p *Params) { p.N, p.NB = math.MaxInt32, math.MaxInt32 }, "a panel has more than"},
		{"depth", func(p *Params) { p.Depth = -1 }, "DEPTH = -1, allowed 0 to 4096"},
		{"wide panel", func(p *Params) { p.N, p.NB = 20_000_000, 5_000_000 }, "NB = 5000000: a panel has more than 4194304 columns"},
		{"nbmin", func(p *Params) { p.NBMin = 0 }, "NBMIN = 0, allowed 1 to"},
		{"ndiv", func(p *Params) { p.NDiv = 1 }, "NDIV = 1, allowed 2 to"},
		{"threshold", func(p *Params) { p.SwapThreshold = -3 }, "swap-threshold = -3, allowed 0 to"},
		{"align", func(p *Params) { p.Align = 0 }, "ALIGN = 0, allowed 1 to"},
		{"bcast", func(p *Params) { p.Bcast = 6 }, "BCAST = 6, allowed 0 to 5"},
		{"lu", func(p *Params) { p.N, p.Pivots.Kind = MaxLU+1, LUPivots }, "pivots lu: N = 8193, at most 8192"},
		{"few pivots", func(p *Params) { p.Pivots = Pivots{Kind: GivenPivots, Rows: []int32{0}} }, "pivots: 1 rows given, want N = 100"},
		{"pivot above", func(p *Params) {
			p.N, p.Pivots = 2, Pivots{Kind: GivenPivots, Rows: []int32{1, 0}}
		}, "pivots: column 1: row 0, allowed 1 to 1"},
		{"source", func(p *Params) { p.Pivots.Kind = 9 }, "pivots: unknown source 9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := DefaultParams(100, 2, 3)
			tt.mutate(&p)
			err := p.Validate()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if gerr := Generate(context.Background(), &bytes.Buffer{}, p, Options{}); gerr == nil || gerr.Error() != err.Error() {
				t.Errorf("Generate: %v, want %v", gerr, err)
			}
		})
	}
}

func TestParseEnums(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"BCAST", "0", int(OneRing)}, {"BCAST", "1rg", int(OneRing)}, {"BCAST", "1ringM", int(OneRingM)},
		{"BCAST", "2RM", int(TwoRingM)}, {"BCAST", "4", int(Long)}, {"BCAST", "LnM", int(LongM)}, {"BCAST", "longM", int(LongM)},
		{"SWAP", "bin", int(BinaryExchange)}, {"SWAP", "1", int(SpreadRoll)}, {"SWAP", "long", int(SpreadRoll)}, {"SWAP", "MIX", int(Mix)},
	} {
		var p Params
		if err := p.Set(c.name, c.text); err != nil || int(p.Bcast)+int(p.Swap) != c.want { // one of them is 0
			t.Errorf("%s %q: %v, %v, %v, want %d", c.name, c.text, p.Bcast, p.Swap, err, c.want)
		}
	}
	for _, c := range []struct{ name, text, want string }{
		{"RFACT", "3", `RFACT "3", allowed 0 (left), 1 (crout), 2 (right)`},
		{"EQUIL", "2", `EQUIL "2" is neither yes nor no`},
		{"SEED", "1", `no parameter "SEED"`},
		{"NB", "1e2", `NB "1e2", want a whole number in digits, at most 2147483647`},
	} {
		var p Params
		if err := p.Set(c.name, c.text); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// TestParametersAreDocumented: the rows of docs/hpl.md are those of the table.
// REPRISE_UPDATE=1 writes them anew.
func TestParametersAreDocumented(t *testing.T) {
	const page = "../../docs/hpl.md"
	const begin, end = "| flag | values | default |\n| --- | --- | --- |\n", "| `--copy-l` |"
	text := must(os.ReadFile(page))
	before, rest, found := strings.Cut(string(text), begin)
	rows, after, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatalf("%s has no table of parameters", page)
	}
	var want strings.Builder
	for _, par := range Parameters() {
		flag, value := "--"+par.Name, par.Default
		if len(par.Name) == 1 {
			flag = "-" + par.Name
		}
		if value == "" {
			value = "none: must be given"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", flag, par.Doc, value)
	}
	switch {
	case rows == want.String():
	case os.Getenv("REPRISE_UPDATE") != "":
		if err := os.WriteFile(page, []byte(before+begin+want.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the parameters in %s are not those of the table: REPRISE_UPDATE=1 go test ./tracegen/hpl -run %s", page, t.Name())
	}
}

func TestHeader(t *testing.T) {
	p := DefaultParams(1000, 2, 3)
	p.PMap = ColumnMajor
	tr := tracetest.Open(t, generate(t, p, Options{Tool: "test 1", Command: "tracegen hpl -N 1000"}))
	h := tr.Header()
	// HPL's encoding: column-major, depth 1, 1ringM, Crout with 2 panels, right with 4.
	// 1000 rows leave 3 process columns 8 blocks each with NB = 32, not with 48.
	want := []trace.Column{{Title: "T/V", Value: "WC11C2R4"}, {Title: "N", Value: "1000"}, {Title: "NB", Value: "32"}, {Title: "P", Value: "2"}, {Title: "Q", Value: "3"}}
	if diff := cmp.Diff(want, h.Result); diff != "" {
		t.Error(diff)
	}
	if want := 2.0/3*1e9 + 1.5*1e6; math.Abs(h.Flops-want) > 1 {
		t.Errorf("%g flop, want %g", h.Flops, want)
	}
	if h.Ranks != 6 || h.Steps != 33 {
		t.Errorf("%d ranks, %d steps, want 6, 33", h.Ranks, h.Steps)
	}
	// Column-major: process (1, 2) is rank 2*2+1.
	if got := h.CommFamilies[rowFamily].Groups[1].Member(2); got != 5 {
		t.Errorf("process (1, 2) is rank %d, want 5", got)
	}
	if got := h.CommFamilies[colFamily].Groups[2].Member(1); got != 5 {
		t.Errorf("process (1, 2) is rank %d, want 5", got)
	}
	for name, want := range map[string]string{"BCAST": "1ringM", "EQUIL": "yes", "pivots": "random", "seed": "1", "swap-threshold": "64"} {
		if got, ok := h.Param(name); !ok || got != want {
			t.Errorf("parameter %s = %q, want %q", name, got, want)
		}
	}
}

func TestGenerateIsDeterministic(t *testing.T) {
	p := DefaultParams(300, 3, 2)
	if !bytes.Equal(generate(t, p, Options{}), generate(t, p, Options{})) {
		t.Error("two traces of one run differ")
	}
}

func TestGenerateStops(t *testing.T) {
	p := small(400, 4, 2, 2)
	read, write := io.Pipe()
	read.Close()
	if err := Generate(context.Background(), write, p, Options{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("closed pipe: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o := Options{Progress: func(done, _ int) {
		if done == 10 {
			cancel()
		}
	}}
	if err := Generate(ctx, &bytes.Buffer{}, p, o); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	p.FirstSteps = -1
	if err := Generate(context.Background(), &bytes.Buffer{}, p, Options{}); err == nil {
		t.Error("negative number of steps")
	}
}
