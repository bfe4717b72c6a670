package mxp

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
	"reprise/trace/text"
	"reprise/trace/verify"
)

// oracleCase is a recorded run of a real program.
type oracleCase struct {
	Program             string
	N, NB, P, Q         int
	Residuals           int
	Converged           bool
	Matrix, High, Low   string
	Bcast, Layout, Deck string
	Code                int    `json:"bcast_code"`
	PMap                string `json:"pmap"`
	Chunk               int    `json:"chunk_bytes"`
	Modes               []string
}

// params returns the parameters of the run.
func (c *oracleCase) params(t *testing.T) Params {
	given := []trace.Param{{Name: "matrix", Value: c.Matrix}, {Name: "high", Value: c.High}, {Name: "low", Value: c.Low}}
	add := func(name string, value any) { given = append(given, trace.Param{Name: name, Value: fmt.Sprint(value)}) }
	add("N", c.N)
	add("NB", c.NB)
	add("P", c.P)
	add("Q", c.Q)
	add("residuals", c.Residuals)
	add("not-converged", !c.Converged)
	if strings.HasPrefix(c.Program, "RIKEN") {
		add("bcast", c.Bcast)
		add("layout", c.Layout)
		add("deck", c.Deck)
	} else {
		add("variant", rocm)
		add("BCAST", c.Code)
		add("PMAP", c.PMap[:3])
		add("chunk-bytes", c.Chunk)
	}
	return tracetest.Must(WithDefaults(given))
}

// generate returns the trace of a run.
func generate(t *testing.T, p Params) *trace.Trace {
	t.Helper()
	var file bytes.Buffer
	tracetest.Check(t, Generate(t.Context(), &file, p, Options{}))
	return tracetest.Open(t, file.Bytes())
}

// lines returns those of a text that are no comments.
func lines(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return l == "" || l[0] == '#' })
}

// Traces have the lines of recorded runs on all ranks, with polls answered as recorded or by rule.
func TestOracle(t *testing.T) {
	names, err := filepath.Glob("../../testdata/oracle/mxp/*.zip")
	if err != nil || len(names) == 0 {
		t.Fatal("no recorded runs", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			z := tracetest.Must(zip.OpenReader(name))
			defer z.Close()
			var c oracleCase
			tracetest.Check(t, json.Unmarshal(tracetest.Must(fs.ReadFile(z, "case.json")), &c))
			tr := generate(t, c.params(t))
			for _, mode := range c.Modes {
				for rank := range int32(c.P * c.Q) {
					want := string(tracetest.Must(fs.ReadFile(z, path.Join(mode, fmt.Sprintf("rank-%d.txt", rank)))))
					var rule trace.PollAnswers = trace.Hit{}
					switch mode {
					case "late":
						rule = trace.Late{}
					case "real":
						polls := slices.DeleteFunc(lines(want), func(l string) bool {
							verb, _, _ := strings.Cut(l, " ")
							return !slices.Contains([]string{"test", "miss", "testall", "missall", "waitany", "again"}, verb)
						})
						rule = tracetest.Must(text.ReadRecorded(strings.NewReader(strings.Join(polls, "\n")), "polls"))
					}
					var out bytes.Buffer
					err := text.WriteListings(&out, tr, []int32{rank}, trace.CursorOptions{Markers: true}, rule, Words())
					if got := lines(out.String()); err != nil || !slices.Equal(got, lines(want)) {
						t.Errorf("%s rank %d: %v %s", mode, rank, err, cmp.Diff(lines(want), got))
					}
				}
			}
		})
	}
}

// Runs of random parameters are traces without faults: all messages are received, in order and with their sizes.
func TestRandomRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	for range 40 {
		given := []trace.Param{{Name: "NB", Value: pick("4", "16", "24", "64")}}
		add := func(name string, words ...string) {
			given = append(given, trace.Param{Name: name, Value: pick(words...)})
		}
		nb := 0
		fmt.Sscan(given[0].Value, &nb)
		add("N", fmt.Sprint(nb*(1+random.IntN(12))))
		add("P", "1", "2", "3", "5")
		add("Q", "1", "2", "3", "4")
		switch pick("ibcast", "chain", "pack", "rocm") {
		case "ibcast":
			add("deck", "none", "lazy")
			add("layout", "tile", "blockcyclic")
			add("checksum", "true", "false")
		case "chain":
			add("bcast", "chain")
			add("deck", "none", "lazy", "back-buffer")
			add("layout", "tile", "blockcyclic")
			add("warmup", "true", "false")
		case "pack":
			add("bcast", "chain")
			add("pack", "16x4", "5x7")
		default:
			add("variant", rocm)
			add("BCAST", "0", "1", "2", "3", "4", "5")
			add("chunk-bytes", "512", "100000")
			add("PMAP", "col", "row")
		}
		p := tracetest.Must(WithDefaults(given))
		if _, err := verify.Trace(generate(t, p), nil); err != nil {
			t.Errorf("%v: %v", given, err)
		}
	}
}

// Processes of nodes lie in the grid as the program has it: each place has one.
func TestPlaces(t *testing.T) {
	for _, m := range choices["numa-map"] {
		p := Params{Variant: riken, P: 4, Q: 4, Numa: 4, NumaMap: m}
		seen := map[[2]int]bool{}
		for w := range 16 {
			r, q := p.Place(w)
			seen[[2]int{r, q}] = true
		}
		if len(seen) != 16 {
			t.Errorf("%s: %d places", m, len(seen))
		}
	}
	// Process 5 is number 1 of node 1, which is behind node 0 in rows: row 2*1 + 1, column 0.
	p := Params{Variant: riken, P: 4, Q: 4, Numa: 4, NumaMap: "CONT2D"}
	if r, q := p.Place(5); r != 3 || q != 0 {
		t.Errorf("row %d, column %d", r, q)
	}
}

// TestRefuses: parameters that the programs refuse are errors that name the parameter; a run that may hang has a hazard.
func TestRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"N=240 NB=24 P=2 Q=2":                            "",
		"NB=24 P=2 Q=2":                                  "N is missing",
		"N=250 NB=24 P=2 Q=2":                            "N = 250 is no multiple of NB = 24",
		"N=250 NB=24 P=2 Q=2 variant=rocm":               "",
		"N=240 NB=24 P=2 Q=2 numa=3":                     "numa = 3: nodes of that many processes do not fill",
		"N=240 NB=24 P=3 Q=2 numa=2 numa-map=ROWDIST":    "numa = 2 with ROWDIST: want a divisor of P = 3",
		"N=240 NB=24 P=3 Q=2 numa=2 numa-map=CONT2D":     "numa = 2 with CONT2D",
		"N=240 NB=24 P=2 Q=2 numa-map=CONT2D":            "numa-map CONT2D goes with numa",
		"N=240 NB=24 P=2 Q=2 node-grid=1x2":              "node-grid is a parameter of the variant rocm",
		"N=240 NB=24 P=3 Q=2 variant=rocm node-grid=2x2": "node-grid = 2x2: its rows must divide P = 3",
		"N=240 NB=24 P=2 Q=2 variant=rocm BCAST=6":       "BCAST = 6, allowed 0 to 5",
		"N=240 NB=24 P=2 Q=2 variant=rocm high=fp64":     "rocm has fp32/fp16",
		"N=240 NB=24 P=2 Q=2 high=fp64":                  "high/low = fp64/fp16",
		"N=240 NB=24 P=2 Q=2 bcast=tree":                 `bcast "tree", allowed ibcast, chain`,
		"N=240 NB=24 P=2 Q=2 deck=back-buffer":           "deck back-buffer goes with bcast chain",
		"N=240 NB=24 P=2 Q=2 pack=16x4":                  "pack goes with bcast chain",
		"N=240 NB=24 P=2 Q=2 pack=16":                    `pack "16", want rows and columns`,
		"N=240 NB=24 P=2 Q=2 residuals=51":               "residuals = 51: the programs give up after 50",
		"N=240 NB=24 P=2 Q=2 warmup=true residuals=3":    "warmup has one residual",
		"N=240 NB=24 P=2 Q=2 DEPTH=1":                    "DEPTH is no parameter of HPL-MxP",
	} {
		var given []trace.Param
		for field := range strings.FieldsSeq(text) {
			name, value, _ := strings.Cut(field, "=")
			given = append(given, trace.Param{Name: name, Value: value})
		}
		p, err := WithDefaults(given)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if p.Hazard() != "" {
			t.Errorf("%s: %s", text, p.Hazard())
		}
	}
	p := Params{N: 240, NB: 24, P: 2, Q: 4, Variant: rocm, Code: 2, ChunkBytes: 1024}
	if p.Hazard() == "" {
		t.Error("no word of two directions between two ranks with one tag")
	}
}
