package replay_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/hpcg"
)

const hpcgOracle = "../testdata/oracle/hpcg/"

// simgridCase is what SimGrid says of a recorded run of HPCG.
type simgridCase struct {
	ranksPerHost int
	ends         map[int]float64 // by rank, in seconds
}

func simgridCases(t *testing.T) map[string]*simgridCase {
	t.Helper()
	f, err := os.Open(hpcgOracle + "simgrid.csv")
	noError(t, err)
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	noError(t, err)
	cases := map[string]*simgridCase{}
	for _, row := range rows[1:] {
		perHost, err1 := strconv.Atoi(row[1])
		rank, err2 := strconv.Atoi(row[2])
		end, err3 := strconv.ParseFloat(row[3], 64)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(row)
		}
		if cases[row[0]] == nil {
			cases[row[0]] = &simgridCase{perHost, map[int]float64{}}
		}
		cases[row[0]].ends[rank] = end
	}
	return cases
}

// TestHPCGAsSimGrid: each rank of three recorded runs ends when SimGrid says, within
// 5e-9 s + 1e-6 of the time: halo exchanges of 8 bytes to 8 kB and the reductions included.
func TestHPCGAsSimGrid(t *testing.T) {
	params := map[string]hpcg.Params{"pub-06": hpcg.DefaultParams(8, 32), "pub-08": hpcg.DefaultParams(27, 16), "pub-10": hpcg.DefaultParams(12, 16)}
	slabs := params["pub-10"]
	slabs.Grid, slabs.NZ, slabs.PZ, slabs.ZL, slabs.ZU = hpcg.Grid{NX: 2, NY: 2, NZ: 3}, 0, 1, 32, 16
	params["pub-10"] = slabs
	for name, want := range simgridCases(t) {
		var file bytes.Buffer
		noError(t, hpcg.Generate(context.Background(), &file, params[name], hpcg.Options{}))
		tr, err := trace.NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), name)
		noError(t, err)
		spec := replay.MachineSpec{Platform: hpcgOracle + "platform.xml", Kernels: "default", RanksPerHost: want.ranksPerHost}
		spec.SetOption("smpi/coll-selector", "default") // as smpirun has it
		m, o, _, err := replay.LoadMachine(spec, tr)
		noError(t, err)
		res, err := replay.Run(t.Context(), tr, m, o)
		noError(t, err)
		if len(res.Ranks) != len(want.ends) {
			t.Fatalf("%s: %d ranks, want %d", name, len(res.Ranks), len(want.ends))
		}
		for _, r := range res.Ranks {
			if end := want.ends[r.Rank]; math.Abs(r.End-end) > 5e-9+1e-6*end {
				t.Errorf("%s: rank %d ends at %.12g s, SimGrid says %.12g", name, r.Rank, r.End, end)
			}
		}
	}
}
