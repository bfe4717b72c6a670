package replay_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
	"reprise/tracegen/hpl"
)

// pivotRow is the rule by which the runs of testdata/oracle/smpi-hpl chose the
// pivot of a column; see the README there.
func pivotRow(column, n int) int32 {
	z := uint64(column) + 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return int32(column + int((z^z>>31)%uint64(n-column)))
}

// params returns the parameters of HPL in a case.
func (c *hplCase) params(t *testing.T) hpl.Params {
	t.Helper()
	p := hpl.DefaultParams(c.N, c.P, c.Q)
	parse := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	order := "col"
	if strings.HasPrefix(c.PMap, "row") {
		order = "row"
	}
	parse(p.Set("PMAP", order))
	parse(p.Set("PFACT", c.PFact))
	parse(p.Set("RFACT", c.RFact))
	parse(p.Set("BCAST", strconv.Itoa(c.Bcast)))
	parse(p.Set("SWAP", strconv.Itoa(c.Swap)))
	p.L1, p.U = form(c.L1), form(c.U)
	p.NB, p.NBMin, p.NDiv, p.Depth = c.NB, c.NBMin, c.NDiv, c.Depth
	p.SwapThreshold, p.Equil, p.Align = c.Threshold, c.Equil, c.Align
	p.Pivots = hpl.Pivots{Kind: hpl.GivenPivots, Name: "rule", Rows: make([]int32, c.N)}
	for column := range p.Pivots.Rows {
		p.Pivots.Rows[column] = pivotRow(column, c.N)
	}
	return p
}

func form(word string) hpl.Form {
	if word == "transposed" {
		return hpl.Transposed
	}
	return hpl.NoTransposed
}

// TestGeneratedHPL generates the trace of each case and replays it: here the
// polls are decided by the replay. A poll whose message is posted within a
// nanosecond of it may come out differently, which shifts a broadcast by one
// probe.
func TestGeneratedHPL(t *testing.T) {
	for _, c := range hplCases(t) {
		if c.N > 8192 {
			continue
		}
		t.Run(c.Case, func(t *testing.T) {
			var file bytes.Buffer
			if err := hpl.Generate(t.Context(), &file, c.params(t), hpl.Options{}); err != nil {
				t.Fatal(err)
			}
			tr, err := trace.NewReader(&file, c.Case)
			if err != nil {
				t.Fatal(err)
			}
			m, o := c.machine(t)
			res, err := replay.Run(t.Context(), tr, m, o)
			if err != nil {
				t.Fatal(err)
			}
			c.check(t, res, 1e-3)
		})
	}
}
