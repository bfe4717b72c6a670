package simgrid_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace"
	"reprise/trace/text"
	"reprise/tracegen"
	"reprise/tracegen/hpl"
	"reprise/tracegen/simgrid"
)

// converted returns a text as a trace.
func converted(t testing.TB, text *simgrid.Trace) (*trace.Trace, error) {
	t.Helper()
	var file bytes.Buffer
	w := must(trace.NewWriter(&file, text.Header(), trace.WriterOptions{}))
	if err := text.Convert(w, nil); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return trace.NewReader(&file, "converted")
}

// roundTrip reads a text again after it was a trace and text in between: as a
// shared file, or as one file per rank.
func roundTrip(t testing.TB, text *simgrid.Trace, shared bool) (*simgrid.Trace, error) {
	t.Helper()
	tr, err := converted(t, text)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(t.TempDir(), "again")
	o := tracegen.ExportOptions{Polls: trace.Hit{}}
	if !shared {
		if _, err := simgrid.ExportDir(context.Background(), dir, tr, o); err != nil {
			return nil, err
		}
		return simgrid.Open(filepath.Join(dir, "trace.index"), "")
	}
	var again bytes.Buffer
	if _, err := simgrid.Export(context.Background(), &again, tr, o); err != nil {
		return nil, err
	}
	return open(t, map[string]string{"trace.index": "all.ti", "all.ti": again.String()})
}

// sameActions compares what two texts mean: the listings of the traces that they
// are converted to.
func sameActions(t testing.TB, want, got *simgrid.Trace) {
	t.Helper()
	w, g := listing(t, want), listing(t, got)
	if w != g {
		t.Fatalf("(-want +got):\n%.2000s", cmp.Diff(strings.Split(w, "\n"), strings.Split(g, "\n")))
	}
}

func listing(t testing.TB, from *simgrid.Trace) string {
	t.Helper()
	tr := must(converted(t, from))
	var list strings.Builder
	if err := text.WriteListings(&list, tr, nil, trace.CursorOptions{}, trace.Hit{}, text.Words{}); err != nil {
		t.Fatal(err)
	}
	return list.String()
}

// TestTextRoundTrip: the recorded workloads of SimGrid, and lines that try what
// the format has, mean the same after the detour over our format.
func TestTextRoundTrip(t *testing.T) {
	count := 0
	check := func(name string, files map[string]string) {
		dir := t.TempDir()
		writeFiles(t, dir, files)
		t.Run(name, func(t *testing.T) {
			for _, shared := range []bool{true, false} {
				if !shared && count%5 != 0 {
					continue // one file per rank is slower, and the same text
				}
				again, err := roundTrip(t, openIn(t, dir), shared)
				if err != nil && strings.Contains(err.Error(), "is not supported") {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				sameActions(t, openIn(t, dir), again)
			}
			count++
		})
	}
	cases := oracleTexts(t)
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		if !testing.Short() || i%8 == 0 {
			check(name, cases[name])
		}
	}
	t.Logf("%d recorded workloads", count)
	for _, shared := range []bool{false, true} {
		check(fmt.Sprintf("lines/shared=%v", shared), manyLines(shared))
	}
}

// TestHPLRoundTrip: a run of HPL, as text and back, is the same but for what the
// text cannot say. The listings of both are compared, which know nothing of the
// export.
func TestHPLRoundTrip(t *testing.T) {
	for _, run := range []struct {
		n, nb, p, q int
		bcast       hpl.Bcast
		swap        hpl.Swap
	}{
		{120, 8, 2, 3, hpl.OneRingM, hpl.Mix},
		{97, 16, 3, 2, hpl.LongM, hpl.BinaryExchange},
		{60, 7, 1, 4, hpl.TwoRing, hpl.SpreadRoll},
		{90, 10, 4, 1, hpl.OneRing, hpl.SpreadRoll},
	} {
		for _, rule := range []trace.PollAnswers{trace.Hit{}, trace.Late{}} {
			t.Run(fmt.Sprintf("%d-%d-%dx%d-%T", run.n, run.nb, run.p, run.q, rule), func(t *testing.T) {
				p := hpl.DefaultParams(run.n, run.p, run.q)
				p.NB, p.Bcast, p.Swap = run.nb, run.bcast, run.swap
				var file bytes.Buffer
				if err := hpl.Generate(t.Context(), &file, p, hpl.Options{}); err != nil {
					t.Fatal(err)
				}
				compareHPL(t, file.Bytes(), rule)
			})
		}
	}
}

func compareHPL(t *testing.T, file []byte, rule trace.PollAnswers) {
	tr := reading(t, file)
	flat, _ := export(t, tr, tracegen.ExportOptions{Polls: rule, Flops: numbered})
	again := opened(t, map[string]string{"trace.index": "all.ti", "all.ti": flat})
	back := must(converted(t, again))
	var want, got strings.Builder
	tr = reading(t, file)
	if err := text.WriteListings(&want, tr, nil, trace.CursorOptions{}, rule, text.Words{}); err != nil {
		t.Fatal(err)
	}
	if err := text.WriteListings(&got, back, nil, trace.CursorOptions{}, trace.Hit{}, text.Words{}); err != nil {
		t.Fatal(err)
	}
	w, g := inText(t, want.String(), tr.Header()), strings.Split(strings.ReplaceAll(got.String(), " world", ""), "\n")
	for i := range g {
		if strings.HasPrefix(g[i], "# rank ") {
			g[i] = strings.Join(strings.Fields(g[i])[:3], " ")
		}
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("(-want +got):\n%.3000s", diff)
	}
	if len(g) < 500 {
		t.Errorf("only %d lines", len(g))
	}
}

func reading(t *testing.T, file []byte) *trace.Trace {
	tr := must(trace.NewReader(bytes.NewReader(file), "hpl"))
	return tr
}

// numbered makes a call of kernel k cost 1+k flop.
func numbered(kernel int, _ *[4]int64) (float64, error) { return float64(1 + kernel), nil }

// inText turns a listing of HPL into that of the text: no probes, no synchronous
// sends, no communicators, and flop for kernels, by [numbered].
func inText(t *testing.T, listing string, h *trace.Header) []string {
	numbers := map[string]int{}
	for i, k := range h.Kernels {
		name := k.Name
		for _, a := range k.Attrs {
			name += " " + a.Value
		}
		numbers[name] = 1 + i
	}
	var lines []string
	for line := range strings.SplitSeq(listing, "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
			lines = append(lines, "")
		case f[0] == "iprobe" || f[0] == "miss":
		case f[0] == "#":
			lines = append(lines, strings.Join(f[:3], " "))
		default:
			if n := kernelOf(f, numbers); n > 0 {
				lines = append(lines, "flops "+strconv.Itoa(n))
				continue
			}
			if last := f[len(f)-1]; last == "row" || last == "col" {
				f = f[:len(f)-1]
			}
			f[0] = strings.Replace(strings.Replace(f[0], "issend", "isend", 1), "ssend", "send", 1)
			lines = append(lines, strings.Join(f, " "))
		}
	}
	return lines
}

// kernelOf returns the number of the kernel that a line calls, 0 for none: its
// name is the words before the numbers.
func kernelOf(fields []string, numbers map[string]int) int {
	for n := len(fields); n > 0; n-- {
		if k, ok := numbers[strings.Join(fields[:n], " ")]; ok {
			return k
		}
	}
	return 0
}

// FuzzRoundTrip: whatever text is read means the same after the detour over our
// format.
func FuzzRoundTrip(f *testing.F) {
	f.Add("0 init\n0 compute 1e9\n0 isend 1 2 3\n1 recv 0 2 -1\n0 wait 0 1 2\n")
	f.Add("0 irecv 1 2 3\n0 irecv 1 2 4\n0 irecv 0 2 3\n1 init x\n1 isend 0 2 3 8")
	f.Add("1 sendRecv 1 0 1 0 0 0\n0 irecv 0 0 -1\n0 test 0 0 0\n0 waitall\n0 sleep -0")
	f.Add("0 irecv 0 0 1\n0 irecv 0 1 1\n0 irecv 0 1 1\n0 wait 0 0 0")
	f.Fuzz(func(t *testing.T, text string) {
		files := map[string]string{"trace.index": "all.ti", "all.ti": text}
		tr, err := open(t, files)
		if err != nil || tr.Ranks() > 100 {
			return
		}
		again, err := roundTrip(t, tr, true)
		if err != nil {
			if !strings.Contains(err.Error(), "all.ti:") && !strings.Contains(err.Error(), "SimGrid counts to") {
				t.Errorf("error without reason: %v", err)
			}
			return
		}
		sameActions(t, opened(t, files), again)
	})
}
