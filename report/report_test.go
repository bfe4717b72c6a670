package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/report"
	"reprise/report/path"
	"reprise/report/pop"
	"reprise/report/record"
	"reprise/report/timeline"
	"reprise/report/typedarray"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// madeUp is a run of 2 ranks, 3 steps and 2 states with everything that a page can show.
func madeUp() *report.Data {
	zeros := func(n int) typedarray.Bytes { return make(typedarray.Bytes, n) }
	return &report.Data{
		Format: report.Format, Title: "made up", Labels: []string{"noise of seed 1"}, Diagnosis: []string{"All of it is made up."},
		Answer: report.Answer{Makespan: 3, Gflops: 2, Messages: 5, Bytes: 6e6, Wall: 0.1},
		Inputs: report.Inputs{Command: "replay a.trace.zst", Tool: "replay 1", Files: []report.Input{{What: "trace", Name: "a.trace.zst", Hash: "00"}}},
		Result: json.RawMessage(`{"makespan_s":3,"ranks":[{"rank":0,"host":"a","end_s":3},{"rank":1,"host":"b","end_s":3}]}`),
		Record: &record.Data{
			Columns: record.Columns{Kind: "step", Steps: 1, Count: 3, Starts: typedarray.Of([]float64{0, 1, 2, 3}), Longest: typedarray.Of([]float32{1, 1, 1})},
			States:  []string{"compute", "wait"},
			Series:  record.Series{Kinds: []string{"compute", "wait"}, Kernels: []string{"dgemm"}, Phases: []string{}, Values: zeros(4 * 3 * 3 * 3)},
			Matrix: record.Matrix{
				Ranks: 2, Rows: 2, Cols: 3, RanksPerRow: 1, ColumnsPerCell: 1, Mean: zeros(2 * 2 * 3), Most: zeros(0), Length: zeros(2 * 3),
				Orders: []record.Order{{Name: "rank", Rows: zeros(0)}, {Name: "end", Rows: typedarray.Of([]uint32{1, 0})}},
			},
			Communication: []record.CommMatrix{{By: "rank", Size: 2, Per: 1, Bytes: typedarray.Of([]float32{0, 6e6, 0, 0}), Number: typedarray.Of([]float32{0, 5, 0, 0})}},
			Links: record.Links{
				Levels: []string{"host"}, Number: []int{2}, Slices: 4, Seconds: 0.75, Use: zeros(4 * 2 * 4), Bound: zeros(4 * 4),
				Hottest: []record.HotLink{{Name: "a_up", Bytes: 6e6, Use: 0.5, Lost: 0.1, Over: zeros(4 * 4)}},
			},
		},
		Timelines: []*timeline.Window{{
			Title: "step 1", From: 1, To: 2, Ranks: 2, Names: []string{"dgemm"}, States: []string{"compute"}, Args: []string{"", "M=1"},
			Slices: 1, Rank: zeros(4), Begin: typedarray.Of([]float64{1}), End: typedarray.Of([]float64{2}), Name: zeros(2), State: zeros(2), Arg: typedarray.Of([]uint32{1}),
			Arrows: 0, Source: zeros(0), Target: zeros(0), Sent: zeros(0), Arrived: zeros(0), Bytes: zeros(0), Tag: zeros(0),
		}},
		Path: &path.Data{
			Seconds: 3, Rank: 1, Parts: []path.Part{{Name: "dgemm", Kind: "kernel", Seconds: 3}}, WhatIfs: []path.WhatIf{{What: "dgemm 1 % quicker", Slope: 3, Gain: 0.03}},
			Hops: path.Hops{Number: 1, Ranks: typedarray.Of([]uint32{1}), Times: typedarray.Of([]float64{0})},
		},
		POP:    &pop.Data{LoadBalance: 1, Serialisation: 1, Transfer: 1, Wire: 1, Contention: 1, Communication: 1, Parallel: 1},
		Tables: []report.TimeTable{{By: "kind", Rows: []report.TimeRow{{Name: "compute", Mean: 2, Interval: 0.1}}}},
	}
}

func pageOf(t testing.TB, runs ...*report.Data) []byte {
	t.Helper()
	var page bytes.Buffer
	noError(t, report.Write(&page, runs...))
	return page.Bytes()
}

// TestReadWhatWasWritten: a page has the data that it was made from.
func TestReadWhatWasWritten(t *testing.T) {
	want := []*report.Data{madeUp(), {Format: report.Format, Title: "nothing recorded"}}
	got, err := report.Read(bytes.NewReader(pageOf(t, want...)))
	noError(t, err)
	texts := make([]string, 2)
	for i, runs := range [][]*report.Data{want, got} {
		text, err := json.MarshalIndent(runs, "", " ")
		noError(t, err)
		texts[i] = string(text)
	}
	if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
		t.Errorf("written and read again (-want +got):\n%s", diff)
	}
}

// TestTextEndsNoScript: texts from a trace cannot become markup or programs.
func TestTextEndsNoScript(t *testing.T) {
	count := func(d *report.Data) (n [3]int) {
		page := strings.ToLower(string(pageOf(t, d)))
		for i, mark := range []string{"</", "<script", "<!--"} {
			n[i] = strings.Count(page, mark)
		}
		return n
	}
	d := madeUp()
	want := count(d)
	const evil = "</script></title><script>alert(1)</script><!--<script>"
	d.Title, d.Labels, d.Diagnosis = evil, []string{evil}, []string{evil}
	d.Inputs.Command, d.Timelines[0].Args[1], d.Record.Links.Hottest[0].Name = evil, evil, evil
	d.Result, _ = json.Marshal(map[string]string{evil: evil})
	if got := count(d); got != want {
		t.Errorf("%v of </, <script and <!--, want %v", got, want)
	}
	back, err := report.Read(bytes.NewReader(pageOf(t, d)))
	if err != nil || back[0].Title != evil {
		t.Errorf("title %q, %v", back[0].Title, err)
	}
}

var (
	inline = regexp.MustCompile(`(?s)<(script|style)>(.*?)</(?:script|style)>`)
	policy = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`)
)

// TestPolicy: the browser is told to run what stands in the page and to load nothing.
func TestPolicy(t *testing.T) {
	page := string(pageOf(t, madeUp()))
	allowed := map[string]string{}
	for _, part := range inline.FindAllStringSubmatch(page, -1) {
		sum := sha256.Sum256([]byte(part[2]))
		allowed[part[1]] += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	want := fmt.Sprintf("default-src 'none'; script-src%s; style-src%s; base-uri 'none'; form-action 'none'", allowed["script"], allowed["style"])
	if got := policy.FindStringSubmatch(page); got == nil || got[1] != want {
		t.Errorf("policy %q, want %q", got, want)
	}
	for _, loads := range []string{" src=", "@import", "url(", "<link", "<iframe", "<img"} {
		if strings.Contains(page, loads) {
			t.Errorf("the page has %s", loads)
		}
	}
}

// TestScripts: every script of the page is in it.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("page/*.js")
	noError(t, err)
	page := string(pageOf(t, madeUp()))
	for _, file := range files {
		text, err := os.ReadFile(file)
		noError(t, err)
		if !strings.Contains(page, string(text)) {
			t.Errorf("%s is not in the page", file)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	if err := report.Write(&bytes.Buffer{}); err == nil || err.Error() != "report: 0 runs, want 1 to 8" {
		t.Errorf("no run: %v", err)
	}
	d := madeUp()
	d.Answer.Makespan = math.NaN()
	if err := report.Write(&bytes.Buffer{}, d); err == nil {
		t.Error("a makespan that is no number is written")
	}
}

// withData is a page that carries a text.
func withData(data string) string {
	return `<html><script type="application/json" id="report-data">` + data + `</script></html>`
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"no page", "hello", report.ErrNoReport.Error()},
		{"cut", strings.TrimSuffix(withData("{}"), "</script></html>"), report.ErrNoReport.Error()},
		{"no JSON", withData("{"), "unexpected end of JSON input"},
		{"no runs", withData(`{"runs":[]}`), "0 runs, want 1 to 8"},
		{"runs", withData(`{"runs":[` + strings.Repeat(`{"format":1},`, 8) + `{"format":1}]}`), "9 runs"},
		{"version", withData(`{"runs":[{"format":2}]}`), "report of another version: format 2, want 1"},
		{"null", withData(`{"runs":[null]}`), "report of another version: format 0, want 1"},
		{"objects", withData(`{"runs":[{"format":1,"tables":[` + strings.Repeat(`{},`, 1<<20) + `{}]}]}`), "more than 1048576 objects"},
	} {
		if _, err := report.Read(strings.NewReader(c.page)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := report.Read(strings.NewReader(withData(`{"runs":[{"format":9}]}`))); !errors.Is(err, report.ErrVersion) {
		t.Errorf("another version: %v", err)
	}
}

// FuzzRead: whatever a page holds, reading ends, and what it accepts can be written and read.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"runs":[{"format":1}]}`))
	page := pageOf(f, madeUp())
	_, data, _ := bytes.Cut(page, []byte(`id="report-data">`))
	data, _, _ = bytes.Cut(data, []byte("</script>"))
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		runs, err := report.Read(strings.NewReader(withData(string(data))))
		if err != nil {
			return
		}
		if _, err := report.Read(bytes.NewReader(pageOf(t, runs...))); err != nil {
			t.Error(err)
		}
	})
}
