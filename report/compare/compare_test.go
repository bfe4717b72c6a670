package compare

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// noError ends the test if something has failed.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// edited reads a result that is another one but for some texts.
func edited(t *testing.T, name, text string, pairs ...string) *Result {
	t.Helper()
	return readText(t, name, strings.NewReplacer(pairs...).Replace(text))
}

func compared(t *testing.T, a, b *Result, o Options) *Against {
	t.Helper()
	c, err := Compare(a, []*Result{b}, o)
	noError(t, err)
	return &c.Others[0]
}

// TestNumbers: what has no noise is compared as numbers, by a gate, too.
func TestNumbers(t *testing.T) {
	a := readText(t, "a", exactText)
	for _, c := range []struct {
		makespan  string
		threshold float64
		verdict   Verdict
		worse     bool
	}{{"10", 0, Equal, false}, {"10.1", 0, More, true}, {"10.1", 0.01, More, false}, {"10.11", 0.01, More, true}, {"9.9", 0, Less, false}, {"10.000000000000002", 0, Equal, false}} {
		b := edited(t, "b", exactText, `"makespan_s": 10`, `"makespan_s": `+c.makespan)
		got := compared(t, a, b, Options{Gate: true, Threshold: c.threshold})
		if d := got.Makespan; d.Verdict != c.verdict || got.Worse != c.worse || d.P != nil || d.Interval != nil {
			t.Errorf("10 to %s at %g: worse %t, %+v", c.makespan, c.threshold, got.Worse, d)
		}
	}
}

// TestParts: a part that one of the two does not have takes no time there.
func TestParts(t *testing.T) {
	a := readText(t, "a", exactText)
	b := edited(t, "b", exactText, `"wait", "mean_s": 2`, `"recv", "mean_s": 3`)
	got := compared(t, a, b, Options{})
	var list []string
	for _, d := range got.ByKind {
		list = append(list, fmt.Sprintf("%s %g %g %s", d.Name, d.A, d.B, d.Verdict))
	}
	if diff := cmp.Diff([]string{"compute 8 8 equal", "wait 2 0 less", "recv 0 3 more"}, list); diff != "" {
		t.Error(diff)
	}
}

// TestDevices: states and kernels of devices are parts as well.
func TestDevices(t *testing.T) {
	a := edited(t, "a", exactText, `"complete"`, `"device_by_state": [{"name": "busy", "mean_s": 8}], "device_time": [{"name": "dgemm", "mean_s": 7}], "complete"`)
	b := edited(t, "b", exactText, `"complete"`, `"device_by_state": [{"name": "busy", "mean_s": 9}], "device_time": [{"name": "dgemm", "mean_s": 7}], "complete"`)
	got := compared(t, a, b, Options{}).ByDevice
	if len(got) != 2 || got[0].Name != "busy" || got[0].Difference != 1 || got[1].Name != "dgemm" || got[1].Verdict != Equal {
		t.Errorf("%+v", got)
	}
}

// TestPartsOfEstimates: a part that no window of an estimate saw may take some time all the same.
func TestPartsOfEstimates(t *testing.T) {
	a := edited(t, "a", estimateText, `"complete"`, `"time_by_kind": [{"name": "compute", "mean_s": 8, "interval_s": 0.1}], "complete"`)
	b := readText(t, "b", exactText)
	for _, c := range []struct {
		d    Difference
		want float64
	}{{compared(t, a, b, Options{}).ByKind[1], 2}, {compared(t, b, a, Options{}).ByKind[1], -2}} {
		if d := c.d; d.Name != "wait" || d.Difference != c.want || d.Verdict != Unclear || d.P != nil || d.Interval != nil {
			t.Errorf("want %g s of wait, unclear, got %+v", c.want, d)
		}
	}
}

// TestEstimates: the difference of 10 and 10.2 with half-widths of 0.1 each has one of
// sqrt(0.02) = 0.141421: it is seen, 0.06 to 0.34. The lower limit of the slowdown, by one tail of
// 5 %, is that k at which 10.2 - 10k is 1.644854 deviations of sqrt(1+k^2) * 0.1/1.959964: 0.8 %.
func TestEstimates(t *testing.T) {
	a := readText(t, "a", estimateText)
	b := edited(t, "b", estimateText, `"makespan_s": 10`, `"makespan_s": 10.2`)
	d := compared(t, a, b, Options{}).Makespan
	near(t, "low", d.Interval.Low, 0.0585786, 1e-6)
	near(t, "high", d.Interval.High, 0.3414214, 1e-6)
	// 10.2 - 10k = 1.644854 * 0.0510213 * sqrt(1+k^2) = 0.0839226 sqrt(1+k^2): k = 1.0081.
	near(t, "at least", *d.AtLeast, 0.0081, 5e-5)
	if d.Verdict != More {
		t.Error(d.Verdict)
	}
	if d := compared(t, a, a, Options{}).Makespan; d.Verdict != Unclear || *d.P != 1 {
		t.Errorf("%+v", d)
	}
}

// TestPaired: the same seeds in another order; 10 and 12 s become 10.1 and 12.1, a difference of
// 0.1 without any noise, which is invisible otherwise.
func TestPaired(t *testing.T) {
	a := readText(t, "a", runsText)
	b := readText(t, "b", `{"makespan_s": {}, "runs": [{"seed": 2, "makespan_s": 12.1, "gflops": 1.7}, {"seed": 1, "makespan_s": 10.1, "gflops": 2.1}]}`)
	got := compared(t, a, b, Options{Paired: true})
	near(t, "difference", got.Makespan.Difference, 0.1, 1e-12)
	if got.Makespan.Verdict != More {
		t.Errorf("%+v", got.Makespan)
	}
	if d := compared(t, a, b, Options{}).Makespan; d.Verdict != Unclear {
		t.Errorf("not paired: %+v", d)
	}
}

// TestRefused: what says nothing about each other, and options that do not fit.
func TestRefused(t *testing.T) {
	whole, runs := readText(t, "whole", exactText), readText(t, "runs", runsText)
	part := edited(t, "part", exactText, `"complete": true`, `"complete": false`)
	early := edited(t, "early", exactText, `"complete": true`, `"complete": false`, `"last_step": 9`, `"last_step": 4`)
	cut := edited(t, "cut", exactText, `"complete": true`, `"complete": false`, `"NB": "128"`, `"NB": "128", "part": "phase:MG to end"`)
	other := edited(t, "other", exactText, `"complete": true`, `"complete": false`, `"NB": "128"`, `"NB": "128", "part": "begin to end"`)
	others := edited(t, "others", runsText, `"seed": 2`, `"seed": 5`)
	for _, c := range []struct {
		a, b *Result
		o    Options
		want string
	}{
		{whole, edited(t, "other", exactText, `"hpl"`, `"lu"`), Options{}, `whole is of the program "hpl", other of "lu"`},
		{part, whole, Options{}, "whole is of a whole run, part of its steps 0:10: replay the same steps"},
		{part, early, Options{}, "part is of the steps 0:10, early of 0:5: replay the same steps"},
		// All of them are of the steps 0:10.
		{cut, whole, Options{}, `cut is of the part "phase:MG to end", whole of a whole run: replay the same part`},
		{part, cut, Options{}, `part is of the steps 0:10 of a whole run, cut of the part "phase:MG to end": replay the same part`},
		{cut, other, Options{}, `cut is of the part "phase:MG to end", other of the part "begin to end": replay the same part`},
		{whole, runs, Options{Paired: true}, "whole is a replay: only several seeds (--runs, --uncertainty) can be paired"},
		{runs, others, Options{Paired: true}, "runs has seeds 1 to 2, others seeds between 1 and 5: only the same seeds can be paired"},
		{runs, readText(t, "draws", drawsText), Options{Paired: true}, "runs is of runs, draws of uncertainty: they cannot be paired"},
		{runs, readText(t, "estimate", estimateText), Options{Test: Permutation}, "estimate is an estimate: only the seeds of --runs can be permuted; the test welch takes all results"},
	} {
		if _, err := Compare(c.a, []*Result{c.b}, c.o); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestWarnings says what makes a comparison doubtful, each time alone.
func TestWarnings(t *testing.T) {
	whole := readText(t, "whole", exactText)
	for _, c := range []struct {
		a, b *Result
		o    Options
		want []string
	}{
		{whole, whole, Options{}, []string{}},
		{whole, edited(t, "new", exactText, "v1", "v2"), Options{}, []string{"whole is by replay v1, new by replay v2: what differs may be the version"}},
		{whole, edited(t, "more", exactText, `"gflops": 2`, `"gflops": 3`), Options{}, []string{"whole does 20 Gflop, more 30: their makespans are of different work"}},
		{readText(t, "a", runsText), readText(t, "b", runsText), Options{}, []string{"a and b share seeds, and are compared as if they did not: --paired compares seed by seed"}},
		{readText(t, "a", runsText), readText(t, "b", runsText), Options{Paired: true}, []string{}},
		{whole, readText(t, "e", estimateText), Options{}, []string{"e does not say where the time went: parts are not compared"}},
		{whole, edited(t, "e", estimateText, `{"format"`, `{"seed": 4, "format"`), Options{}, []string{
			"the interval of e is that of the estimate, with noise of seed 4: it does not say what other seeds would give", "e does not say where the time went: parts are not compared"}},
	} {
		if diff := cmp.Diff(c.want, compared(t, c.a, c.b, c.o).Warnings); diff != "" {
			t.Errorf("%s and %s: %s", c.a.File, c.b.File, diff)
		}
	}
}

// TestText: 10 s become 10.5, of which waiting has 0.5.
func TestText(t *testing.T) {
	a := edited(t, "a.json", exactText, `"tool"`, `"trace": "x", "platform": "dahu", "tool"`)
	b := edited(t, "b.json", exactText, `"tool"`, `"trace": "x", "platform": "dahu", "tool"`, `"makespan_s": 10`, `"makespan_s": 10.5`, `"gflops": 2`, `"gflops": 1.9047619047619`, `"mean_s": 2`, `"mean_s": 2.5`, `"128"`, `"120"`)
	c, err := Compare(a, []*Result{b}, Options{Gate: true, Threshold: 0.01})
	noError(t, err)
	var out strings.Builder
	noError(t, c.WriteText(&out))
	want := `A  a.json: a replay, x on dahu
B  b.json: a replay, x on dahu

changed    A    B
NB       128  120

              A         B  change  95 % interval  p  B is
makespan, s  10      10.5  +5.00%              -  -  more
Gflops        2  1.904762  -4.76%              -  -  less

time of a rank, s  A    B  B - A  95 % interval  change  p (Holm)   B is
compute            8    8      =              -       =         -  equal
wait               2  2.5   +0.5              -  +25.0%         -   more

kernel, s  A  B  B - A  95 % interval  change  p (Holm)   B is
dgemm      7  7      =              -       =         -  equal

B takes 5.00 % longer than A.
WORSE: the slowdown is +5.00%; the threshold is 1.00 %.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	out.Reset()
	noError(t, c.WriteMarkdown(&out))
	want = `**B takes 5.00 % longer than A.**
**WORSE: the slowdown is +5.00%; the threshold is 1.00 %.**

- A  a.json: a replay, x on dahu
- B  b.json: a replay, x on dahu

| changed | A | B |
| --- | ---: | ---: |
| NB | 128 | 120 |

|  | A | B | change | 95 % interval | p | B is |
`
	if got := out.String(); len(got) < len(want) || cmp.Diff(want, got[:len(want)]) != "" {
		t.Error(cmp.Diff(want, got))
	}
}

// TestJSON: what is not known is not there, and lists are lists.
func TestJSON(t *testing.T) {
	c, err := Compare(readText(t, "a", drawText), []*Result{readText(t, "b", drawText)}, Options{})
	noError(t, err)
	var out strings.Builder
	noError(t, c.WriteJSON(&out))
	if strings.Contains(out.String(), "null") || strings.Contains(out.String(), "threshold") {
		t.Error(out.String())
	}
	var back Comparison
	noError(t, json.Unmarshal([]byte(out.String()), &back))
	if diff := cmp.Diff(c, &back); diff != "" {
		t.Error(diff)
	}
}
