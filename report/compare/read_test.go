package compare

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/replay"
	"reprise/report"
)

// Results as replay --json prints them, without what is not read.
const (
	exactText = `{"format": 1, "makespan_s": 10, "gflops": 2, "complete": true, "first_step": 0, "last_step": 9, "program": "hpl", "parameters": {"NB": "128"},
		"time_by_kind": [{"name": "compute", "mean_s": 8}, {"name": "wait", "mean_s": 2}], "time_by_phase": [], "time_by_kernel": [{"name": "dgemm", "mean_s": 7}], "tool": "replay v1"}`
	drawText     = `{"format": 1, "makespan_s": 10, "gflops": 2, "complete": true, "seed": 3}`
	estimateText = `{"format": 1, "estimate": true, "makespan_s": 10, "interval_s": 0.1, "gflops": 2, "gflops_interval": 0.02, "complete": true}`
	runsText     = `{"format": 1, "makespan_s": {"mean": 11}, "gflops": {"mean": 2}, "complete": true, "time_names": {"kinds": ["compute", "wait"], "phases": [], "kernels": []},
		"runs": [{"seed": 1, "makespan_s": 10, "gflops": 2.2, "time_s": {"kinds": [8, 2], "phases": [], "kernels": []}},
		         {"seed": 2, "makespan_s": 12, "gflops": 1.8, "time_s": {"kinds": [9, 3], "phases": [], "kernels": []}}]}`
	drawsText = `{"format": 1, "makespan_s": {"mean": 11, "sd": 2}, "gflops": {"sd": 0.5}, "complete": true,
		"draws": [{"seed": 1, "makespan_s": 10, "gflops": 2.2}, {"seed": 2, "makespan_s": 12, "gflops": 1.8}]}`
)

func readText(t *testing.T, name, text string) *Result {
	t.Helper()
	r, err := Read(name, strings.NewReader(text))
	noError(t, err)
	return r
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		text, what     string
		mean, variance float64
		kinds          int
	}{
		{exactText, "a replay", 10, 0, 2},
		{drawText, "a replay with noise of seed 3", 10, 0, 0},
		// The half-width of 95 % is 1.959964 standard deviations.
		{estimateText, "an estimate", 10, 0.1 * 0.1 / (1.959964 * 1.959964), 0},
		// 10 and 12: a variance of 2 of one, of 1 of the mean.
		{runsText, "2 runs, seeds 1 to 2", 11, 1, 2},
		// A variance of 4, as the file says, of one, and of the next one beside a mean of two 3/2 of that.
		{drawsText, "2 draws of machines, seeds 1 to 2", 11, 6, 0},
		// A file of another maker needs no more than this.
		{`{"makespan_s": 10}`, "a replay", 10, 0, 0},
		// It may have keys of its own, and parameters any names.
		{`{"makespan_s": 10, "Comment": "", "comment": "", "parameters": {"seed": "1", "Seed": "2"}}`, "a replay", 10, 0, 0},
	} {
		r := readText(t, "x", c.text)
		near(t, c.what+" mean", r.makespan.mean, c.mean, 1e-12)
		near(t, c.what+" variance", r.makespan.variance, c.variance, 1e-7)
		if kinds := len(r.parts[0]); r.what() != c.what || r.File != "x" || !r.Complete || kinds != c.kinds {
			t.Errorf("%s of %s with %d kinds, want %s with %d", r.what(), r.File, kinds, c.what, c.kinds)
		}
	}
}

// TestReadErrors: what is no result, or one that cannot be read, is called so.
func TestReadErrors(t *testing.T) {
	edit := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	for _, c := range []struct{ text, want string }{
		{"", "x: want what replay --json prints, or a page of replay --report: unexpected end of JSON input"},
		{"{}", "x: this is JSON, not a report of replay: name another file"},
		{"\x28\xb5\x2f\xfd....", "x: this is a compressed file or an archive, not a report of replay: unpack it first"},
		{edit(exactText, `"format": 1`, `"format": 2`), "x: a result of format 2, newer than 1, which this version reads: compare with the version that wrote it, or replay again"},
		{edit(exactText, `"complete": true`, `"stopped_at_s": 3.5`), "x: the replay was stopped at 3.5 s: it has no result to compare"},
		{edit(exactText, `"makespan_s": 10`, `"makespan_s": -1`), "x: makespan_s: -1, want a number from 0 to 1e+18"},
		{edit(exactText, `"makespan_s": 10`, `"makespan_s": {}`), "x: want what replay --json prints, or a page of replay --report: makespan_s: json: cannot unmarshal object into Go value of type float64"},
		{edit(exactText, `"mean_s": 2`, `"mean_s": -2`), `x: time by kind: "wait": mean_s: -2, want a number from 0 to 1e+18`},
		{edit(runsText, `[9, 3]`, `[9]`), "x: seed 2: times of 1 of 2 parts by kind"},
		{edit(runsText, `[9, 3]`, `[9, -3]`), `x: seed 2: time by kind: "wait": -3, want a number from 0 to 1e+18`},
		{edit(runsText, `"gflops": 1.8`, `"gflops": -1.8`), "x: seed 2: gflops: -1.8, want a number from 0 to 1e+18"},
		{`{"makespan_s": {}, "runs": []}`, "x: 0 runs, want at least 2"},
		{`{"makespan_s": {}, "gflops": {}, "draws": [{"makespan_s": 1}]}`, "x: 1 run, want at least 2"},
		{`{"makespan_s": {"sd": -1}, "gflops": {}, "draws": [{"seed": 1}, {"seed": 2}]}`, "x: sd of makespan_s: -1, want a number from 0 to 1e+18"},
		{edit(exactText, `"format": 1`, `"format": -1`), "x: format -1, want 1 to 1"},
		{edit(exactText, `"gflops": 2`, `"gflops": 1e+308`), "x: gflops: 1e+308, want a number from 0 to 1e+18"},
		// What would be read last is not what a reader sees first.
		{edit(exactText, `"gflops": 2`, `"gflops": 2, "makespan_s": 1`), `x: the key "makespan_s" twice in one object: which of them holds?`},
		{edit(exactText, `"gflops": 2`, `"gflops": 2, "Makespan_S": 1`), `x: the key "Makespan_S": want "makespan_s"`},
		{edit(exactText, `"mean_s": 8`, `"mean_s": 8, "MEAN_S": 9`), `x: the key "MEAN_S": want "mean_s"`},
		{edit(exactText, `"NB": "128"`, `"NB": "128", "NB": "64"`), `x: the key "NB" twice in one object: which of them holds?`},
		{edit(runsText, `"seed": 2`, `"seed": 1`), "x: seed 1 twice: runs of one seed are one run"},
		{edit(drawsText, `"seed": 2`, `"seed": 1`), "x: seed 1 twice: runs of one seed are one run"},
	} {
		_, err := Read("x", strings.NewReader(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%.60s: %v, want %s", c.text, err, c.want)
		}
	}
}

// TestReadLarge: what no result has is refused before it is decoded.
func TestReadLarge(t *testing.T) {
	for text, want := range map[string]string{
		`{"makespan_s": 1, "` + strings.Repeat("x", 2<<20) + `": 1}`: "x: no result is so large: byte 19: a string of 2097152 bytes, want at most 1048576",
		`{"a": [` + strings.Repeat("0,", 20<<20) + `0]}`:             "x: no result is so large: more than 16777216 values",
		`{"a": [` + strings.Repeat("{},", 3<<20) + `{}]}`:            "x: no result is so large: more than 2097152 objects",
	} {
		if _, err := Read("x", strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestReadPage: a page of one run is as good as its JSON; one of two is not one result.
func TestReadPage(t *testing.T) {
	run := func(text string) *report.Data {
		return &report.Data{Format: report.Format, Title: "hpl on dahu", Result: json.RawMessage(text)}
	}
	page := func(runs ...*report.Data) string {
		var b strings.Builder
		noError(t, report.Write(&b, runs...))
		return b.String()
	}
	r := readText(t, "x", page(run(exactText)))
	if r.what() != "a replay" || r.makespan.mean != 10 || r.Page.Title != "hpl on dahu" {
		t.Errorf("%s of %v s, %+v", r.what(), r.makespan.mean, r.Page)
	}
	newer := run(exactText)
	newer.Format++
	for want, text := range map[string]string{
		"x: a page of 2 runs: compare pages of one":                                                             page(run(exactText), run(drawText)),
		"x: report of another version: format 2, want 1":                                                        page(newer),
		"x: want what replay --json prints, or a page of replay --report: no report of Reprise: it has no data": "<!doctype html><title>404</title>",
		"x: the replay was stopped at 3.5 s: it has no result to compare":                                       page(run(`{"makespan_s": 3.5, "stopped_at_s": 3.5}`)),
	} {
		if _, err := Read("x", strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestResampled: results of which a script has kept some seeds, or has put together from
// several, are as good: the summary is not read, and times are left out where a seed has none.
func TestResampled(t *testing.T) {
	r := readText(t, "x", `{"makespan_s": {"mean": 99}, "time_names": {"kinds": ["compute"]},
		"runs": [{"seed": 9, "makespan_s": 10, "time_s": {"kinds": [8]}}, {"seed": 4, "makespan_s": 12}]}`)
	if r.makespan.mean != 11 || r.tellsParts() || r.what() != "2 runs, seeds between 4 and 9" {
		t.Errorf("%v, %v, %s", r.makespan.mean, r.parts, r.what())
	}
}

// FuzzRead: what a file says is read or refused, and what is read can be compared with itself.
func FuzzRead(f *testing.F) {
	for _, text := range []string{exactText, drawText, estimateText, runsText, drawsText, "<!doctype html>"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Read("x", strings.NewReader(text))
		if err != nil {
			return
		}
		c, err := Compare(r, []*Result{r}, Options{Gate: true})
		noError(t, err)
		if c.Worse {
			t.Errorf("worse than itself: %+v", c.Others[0].Makespan)
		}
		var out strings.Builder
		for _, write := range []error{c.WriteText(&out), c.WriteMarkdown(&out), c.WriteJUnit(&out)} {
			if write != nil {
				t.Error(write)
			}
		}
	})
}

// TestChanges: parameters in order, then models.
func TestChanges(t *testing.T) {
	a := replay.Provenance{Platform: "dahu", Parameters: map[string]string{"NB": "128", "N": "5", "old": "1"}, HostSpeeds: []string{"a=1", "b=2"}}
	b := replay.Provenance{Platform: "p.xml", Parameters: map[string]string{"NB": "120", "N": "5", "new": "2"}}
	want := []Change{{"NB", "128", "120"}, {"new", "", "2"}, {"old", "1", ""}, {"platform", "dahu", "p.xml"}, {"host speeds", "a=1, b=2", ""}}
	if diff := cmp.Diff(want, changes(&a, &b)); diff != "" {
		t.Error(diff)
	}
}
