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
)

const oracleDir = "../../testdata/oracle/hpl"

// oracleCase is a recorded run of the real HPL.
type oracleCase struct {
	Case      string
	N, NB     int
	P, Q      int
	PMap      string
	PFact     string
	NBMin     int
	NDiv      int
	RFact     string
	BcastCode int `json:"bcast_code"`
	Depth     int
	SwapCode  int `json:"swap_code"`
	Threshold int `json:"swap_threshold"`
	L1, U     string
	Equil     bool
	Align     int
	CopyL     bool `json:"copy_l"`

	files map[string]string // by name in the archive
}

// oracleCases opens all recorded runs.
func oracleCases(t *testing.T) (cases []*oracleCase) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(oracleDir, "*.zip"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no recorded runs in %s: %v", oracleDir, err)
	}
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
		cases = append(cases, c)
	}
	return cases
}

// params returns the run's parameters, with the recorded pivots if there are any.
func (c *oracleCase) params(t *testing.T) Params {
	t.Helper()
	p := Params{N: c.N, NB: c.NB, P: c.P, Q: c.Q, NBMin: c.NBMin, NDiv: c.NDiv, Bcast: Bcast(c.BcastCode), Depth: c.Depth,
		Swap: Swap(c.SwapCode), SwapThreshold: c.Threshold, Equil: c.Equil, Align: c.Align, CopyL: c.CopyL}
	err := errors.Join(p.Set("PMAP", c.PMap), p.Set("PFACT", c.PFact), p.Set("RFACT", c.RFact), p.Set("L1", c.L1), p.Set("U", c.U))
	if text, ok := c.files["pivots.txt"]; ok {
		p.Pivots = Pivots{Kind: GivenPivots, Name: "pivots.txt"}
		rows, readErr := ReadPivots(strings.NewReader(text), p.Pivots.Name, c.N)
		p.Pivots.Rows, err = rows, errors.Join(err, readErr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// comparable returns the lines of a rank's file that are compared: all but the
// header line and the copies inside pivot exchanges, of which pivots do not
// decide all.
func comparable(text string) []string {
	var lines []string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
			continue
		case strings.HasPrefix(line, "begin pdmxswp"):
			inside = true
		case strings.HasPrefix(line, "end pdmxswp"):
			inside = false
		case inside && strings.HasPrefix(line, "dcopy"):
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// pollRule returns the rule that decides polls as the mode's run did.
func pollRule(t *testing.T, mode string, recorded []string) trace.PollAnswers {
	t.Helper()
	switch mode {
	case "hit":
		return trace.Hit{}
	case "late":
		return trace.Late{}
	}
	var outcomes strings.Builder
	for _, line := range recorded {
		if strings.HasPrefix(line, "miss ") || strings.HasPrefix(line, "iprobe ") {
			fmt.Fprintln(&outcomes, line)
		}
	}
	rule := must(text.ReadRecorded(strings.NewReader(outcomes.String()), mode))
	return rule
}

// generate returns the trace of a run.
func generate(t testing.TB, p Params, o Options) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := Generate(context.Background(), &buf, p, o); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// list returns the listing of a rank.
func list(t testing.TB, tr *trace.Trace, rank int32, rule trace.PollAnswers) string {
	t.Helper()
	var out bytes.Buffer
	if err := text.WriteListings(&out, tr, []int32{rank}, trace.CursorOptions{Markers: true}, rule, text.Words{}); err != nil {
		t.Error(err)
	}
	return out.String()
}

// TestOracle compares the traces of all recorded runs with what the real HPL
// did, line by line: all ranks, in all modes of answering polls.
func TestOracle(t *testing.T) {
	for _, c := range oracleCases(t) {
		t.Run(c.Case, func(t *testing.T) {
			t.Parallel()
			tr := tracetest.Open(t, generate(t, c.params(t), Options{}))
			lines := 0
			for name, text := range c.files {
				mode, file := filepath.Split(name)
				number, ok := strings.CutPrefix(strings.TrimSuffix(file, ".txt"), "rank-")
				if !ok {
					continue
				}
				rank := must(strconv.Atoi(number))
				mode = strings.TrimSuffix(mode, "/")
				want := comparable(text)
				got := comparable(list(t, tr, int32(rank), pollRule(t, mode, want)))
				lines += len(want)
				if !slices.Equal(got, want) {
					t.Errorf("%s: %s", name, cmp.Diff(want, got))
				}
			}
			if lines == 0 {
				t.Error("no rank files")
			}
		})
	}
}
