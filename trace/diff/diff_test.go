package diff

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
)

// diffTrace writes steps of the ring, with changes.
type diffTrace struct {
	header func(h *trace.Header)
	build  func(w *trace.Writer, b *trace.Builder) // instead of ring
	call   func(step int, c *trace.Call)
	steps  int // 4 if 0
	chunk  int // units; 1 if 0
}

func (d diffTrace) open(t *testing.T) *trace.Trace {
	t.Helper()
	return tracetest.Open(t, d.file(t))
}

func (d diffTrace) file(t *testing.T) []byte {
	t.Helper()
	var buf bytes.Buffer
	h := tracetest.RingHeader()
	h.Params = []trace.Param{{Name: "N", Value: "10"}, {Name: "NB", Value: "2"}}
	if d.header != nil {
		d.header(h)
	}
	w := tracetest.Must(trace.NewWriter(&buf, h, trace.WriterOptions{ChunkUnits: max(1, d.chunk)}))
	b := trace.NewBuilder("ring", 3)
	if d.build == nil {
		d.build = func(_ *trace.Writer, b *trace.Builder) { tracetest.Ring(b) }
	}
	d.build(w, b)
	n := tracetest.Must(w.Program().Add(b))
	if d.steps == 0 {
		d.steps = 4
	}
	for step := range d.steps {
		c := tracetest.RingCall(n)
		if d.call != nil {
			d.call(step, c)
		}
		tracetest.Check(t, errors.Join(w.Step(step), w.Call(c)))
	}
	tracetest.Check(t, w.Close())
	return buf.Bytes()
}

func diffOf(t *testing.T, a, b diffTrace, o Options) *Difference {
	t.Helper()
	return tracetest.Must(Traces(a.open(t), b.open(t), o))
}

func TestDiffOfEqualMeaning(t *testing.T) {
	for name, b := range map[string]diffTrace{
		"same bytes":  {},
		"other tool":  {header: func(h *trace.Header) { h.Tool, h.Command = "other", "other command" }},
		"other chunk": {chunk: 3},
		"other blocks": {build: func(w *trace.Writer, b *trace.Builder) {
			callee := trace.NewBuilder("callee", 3)
			tracetest.Ring(callee)
			n := tracetest.Must(w.Program().Add(callee))
			b.Call(n, b.Param(0), b.Param(1), b.Param(2))
		}},
		"other numbers of symbols": {header: func(h *trace.Header) {
			slices.Reverse(h.Markers)
			h.Kernels = append([]trace.Kernel{{Name: "other"}}, h.Kernels...)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := diffOf(t, diffTrace{}, b, Options{Actions: true}); !d.Same || len(d.Ranks) > 0 {
				t.Errorf("differ: %+v", d)
			}
		})
	}
}

func TestDiffOfParameters(t *testing.T) {
	d := diffOf(t, diffTrace{}, diffTrace{header: func(h *trace.Header) { h.Params = []trace.Param{{Name: "NB", Value: "4"}, {Name: "Q", Value: "1"}} }}, Options{})
	want := []Change{{"N", "10", ""}, {"NB", "2", "4"}, {"Q", "", "1"}}
	if diff := cmp.Diff(want, d.Header); d.Same || diff != "" {
		t.Errorf("same %t, %s", d.Same, diff)
	}
}

// TestDiffOfActions changes what column 0 sends to column 1 in step 2, and leaves
// column 2 as it is.
func TestDiffOfActions(t *testing.T) {
	d := diffOf(t, diffTrace{}, diffTrace{call: func(step int, c *trace.Call) {
		if step == 2 {
			c.Args[1][0], c.Args[2][1] = 80, 80
		}
	}}, Options{Actions: true})
	if d.Same {
		t.Fatal("same")
	}
	var want []Divergence
	for row := range int32(2) {
		r := 3 * row
		line := func(format string, args ...any) string { return fmt.Sprintf(format, args...) }
		recv := line("irecv %d 24 5 row", r+2)
		wait := line("wait recv %d 24 5", r+2)
		send := line("send %d 8 5 row", r+1)
		changed := line("send %d 80 5 row", r+1)
		// Column 0: three actions a step; the send of step 2 differs. The context
		// begins with step 1.
		want = append(want, Divergence{Rank: r, Step: 2, Before: []string{send, wait, recv},
			A: []string{send, wait, recv, send}, B: []string{changed, wait, recv, send}})
		recv, wait = line("irecv %d 8 5 row", r), line("wait recv %d 8 5", r)
		send = line("send %d 16 5 row", r+2)
		want = append(want, Divergence{Rank: r + 1, Step: 2, Before: []string{recv, send, wait},
			A: []string{recv, send, wait, recv}, B: []string{line("irecv %d 80 5 row", r), send, line("wait recv %d 80 5", r), recv}})
	}
	if diff := cmp.Diff(want, d.Ranks); diff != "" {
		t.Error(diff)
	}
	// 2 ranks send 72 bytes more, of 2*4*(8+16+24) = 384.
	total := d.Totals[2]
	if total.Name != "bytes" || total.A != 384 || total.B != 528 || *total.Percent != 37.5 {
		t.Errorf("bytes %+v, want 384 and 528, 37.5%%", total)
	}
}

func TestDiffOfLengths(t *testing.T) {
	d := diffOf(t, diffTrace{}, diffTrace{steps: 5}, Options{Actions: true})
	if d.Same || len(d.Ranks) != 6 {
		t.Fatalf("same %t, %d ranks, want all 6", d.Same, len(d.Ranks))
	}
	if r := d.Ranks[0]; r.Step != 3 && r.Step != 4 || len(r.A) != 0 || len(r.B) != 3 {
		t.Errorf("rank 0: %+v, want A at its end and three lines of B", r)
	}
}

// TestDiffOfWhatCountsDoNotShow changes a tag only.
func TestDiffOfWhatCountsDoNotShow(t *testing.T) {
	other := diffTrace{build: func(_ *trace.Writer, b *trace.Builder) {
		b.Message(trace.OpIrecv, 0, 1, b.Member(0, b.Param(0).Plus(-1)), trace.Const(6), b.Param(2))
		b.Message(trace.OpSend, 0, 0, b.Member(0, b.Param(0).Plus(1)), trace.Const(6), b.Param(1))
		b.Wait(1)
	}}
	if d := diffOf(t, diffTrace{}, other, Options{}); d.Same || d.countsDiffer() {
		t.Errorf("same %t, counts differ %t; want neither", d.Same, d.countsDiffer())
	}
}

// TestDiffOfRequests changes the slot of a request only, which no listing shows.
func TestDiffOfRequests(t *testing.T) {
	other := diffTrace{build: func(_ *trace.Writer, b *trace.Builder) {
		b.Message(trace.OpIrecv, 0, 2, b.Member(0, b.Param(0).Plus(-1)), trace.Const(5), b.Param(2))
		b.Message(trace.OpSend, 0, 0, b.Member(0, b.Param(0).Plus(1)), trace.Const(5), b.Param(1))
		b.Wait(2)
	}}
	d := diffOf(t, diffTrace{}, other, Options{Actions: true})
	want := Divergence{Before: []string{}, A: []string{}, B: []string{}, Unlisted: true}
	if d.Same || len(d.Ranks) != 6 || cmp.Diff(want, d.Ranks[0]) != "" {
		t.Errorf("same %t, %d ranks, want 6 as %+v, found %+v", d.Same, len(d.Ranks), want, d.Ranks)
	}
	var out bytes.Buffer
	tracetest.Check(t, d.WriteText(&out, "a", "b"))
	if want := "ranks 0-5, step 0\n    (different request slots or flags, which a listing does not show)\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("%s, want %s", out.String(), want)
	}
}

// TestDiffSeesChunks compares traces that only differ in how work is cut while a
// poll fails.
func TestDiffSeesChunks(t *testing.T) {
	chunks := func(chunk int64) diffTrace {
		return diffTrace{header: func(h *trace.Header) { h.Kernels[0].Dims[1].Enum = nil }, build: func(w *trace.Writer, b *trace.Builder) {
			body := trace.NewBuilder("body", 0)
			bodyBlock := tracetest.Must(w.Program().Add(body))
			work := trace.NewBuilder("work", 1)
			work.Compute(0, work.Param(0), trace.Const(1))
			workBlock := tracetest.Must(w.Program().Add(work))
			b.DefineGuarded(0, 0, trace.Const(1), trace.Const(7), bodyBlock)
			b.Poll(0)
			b.Work(0, trace.Const(12), trace.Const(chunk), workBlock)
		}}
	}
	if d := diffOf(t, chunks(4), chunks(4), Options{Actions: true}); !d.Same {
		t.Error("equal chunks differ")
	}
	if d := diffOf(t, chunks(4), chunks(6), Options{Actions: true}); d.Same || len(d.Ranks) != 6 {
		t.Errorf("same %t, %d ranks; want 6 ranks that differ", d.Same, len(d.Ranks))
	}
}

func TestDiffText(t *testing.T) {
	d := diffOf(t, diffTrace{}, changed, Options{Actions: true})
	var out bytes.Buffer
	tracetest.Check(t, d.WriteText(&out, "old", "new"))
	// Bytes: 2 of the 24 are not sent, once: 384-48.
	want := `A  old
B  new

parameter  A  B
NB         2  4

count                       A    B  change
all actions                72   72       =
all messages               24   24       =
all bytes                 384  336  -12.5%
outside of phases: bytes  384  336  -12.5%

rank 0, step 3
    irecv 2 24 5 row
    send 1 8 5 row
    wait recv 2 24 5
  A irecv 2 24 5 row
  A send 1 8 5 row
  A wait recv 2 24 5
  B irecv 2 0 5 row
  B send 1 8 5 row
  B wait recv 2 0 5

rank 2, step 3
    send 0 24 5 row
    wait recv 1 16 5
    irecv 1 16 5 row
  A send 0 24 5 row
  A wait recv 1 16 5
  B send 0 0 5 row
  B wait recv 1 16 5

rank 3, step 3
`
	if got := out.String(); len(got) < len(want) || cmp.Diff(want, got[:len(want)]) != "" {
		t.Error(cmp.Diff(want, got))
	}
}

// A file whose index still tells the truth about hashes may be damaged all the same.
func TestDiffNoticesDamage(t *testing.T) {
	data := diffTrace{}.file(t)
	const preamble = 24 // bytes; damage there is no trace at all
	for i := preamble; i < len(data); i += 97 {
		bad := bytes.Clone(data)
		bad[i] ^= 4
		a := tracetest.Must(trace.NewReaderAt(bytes.NewReader(data), int64(len(data)), "a"))
		b, err := trace.NewReaderAt(bytes.NewReader(bad), int64(len(bad)), "b")
		if err == nil {
			_, err = Traces(a, b, Options{})
		}
		if !errors.Is(err, trace.ErrCorrupt) {
			t.Errorf("byte %d: %v, want a corrupt file", i, err)
		}
	}
}

func TestChangeText(t *testing.T) {
	for _, test := range []struct {
		a, b float64
		want string
	}{{5, 5, "="}, {0, 5, "new"}, {4, 5, "+25.0%"}, {1, 0, "-100.0%"}, {2, 500, "+24,900%"}, {1e6, 1e6 + 1, "+0.0001%"}, {1e9, 1e9 - 5e6, "-0.50%"}} {
		if got := changeText(countChange("x", test.a, test.b)); got != test.want {
			t.Errorf("%g to %g: %s, want %s", test.a, test.b, got, test.want)
		}
	}
}

func TestRankList(t *testing.T) {
	for _, test := range []struct {
		ranks []int32
		want  string
	}{{[]int32{4}, "rank 4"}, {[]int32{0, 1}, "ranks 0 1"}, {[]int32{0, 1, 2, 5, 7, 8, 9, 10}, "ranks 0-2 5 7-10"}} {
		if got := rankList(test.ranks); got != test.want {
			t.Errorf("%v: %s, want %s", test.ranks, got, test.want)
		}
	}
}

func TestDiffNeedsFiles(t *testing.T) {
	a := diffTrace{}.open(t)
	b := tracetest.Must(trace.NewReader(bytes.NewReader(diffTrace{}.file(t)), "pipe"))
	if _, err := Traces(a, b, Options{}); !errors.Is(err, trace.ErrStream) {
		t.Errorf("error %v, want %v", err, trace.ErrStream)
	}
}

// changed is a ring where in step 3 nobody sends to column 1, and NB is 4 instead of 2: two
// messages of 24 bytes, in two rows of one step, are empty.
var changed = diffTrace{header: func(h *trace.Header) { h.Params[1].Value = "4" }, call: func(step int, c *trace.Call) {
	if step == 3 {
		c.Args[1], c.Args[2] = []int64{8, 16, 0}, []int64{0, 8, 16}
	}
}}

func TestDiffMarkdown(t *testing.T) {
	d := diffOf(t, diffTrace{}, changed, Options{Actions: true})
	var out bytes.Buffer
	tracetest.Check(t, d.WriteMarkdown(&out, "old_one", "new"))
	want := "**A and B differ, first in step 3, rank 0.**\n\n- A old\\_one\n- B new\n" + `
| parameter | A | B |
| --- | ---: | ---: |
| NB | 2 | 4 |

| count | A | B | change |
| --- | ---: | ---: | ---: |
| all actions | 72 | 72 | = |
| all messages | 24 | 24 | = |
| all bytes | 384 | 336 | -12.5% |
| outside of phases: bytes | 384 | 336 | -12.5% |

rank 0, step 3:

` + "```" + `
    irecv 2 24 5 row
    send 1 8 5 row
    wait recv 2 24 5
  A irecv 2 24 5 row
`
	if got := out.String(); len(got) < len(want) || cmp.Diff(want, got[:len(want)]) != "" {
		t.Error(cmp.Diff(want, got))
	}
}

// TestDiffJUnit: all three checks fail, and pass where nothing differs.
func TestDiffJUnit(t *testing.T) {
	for _, c := range []struct {
		b    diffTrace
		want []string
	}{
		{changed, []string{"parameters: 1 parameter changed", "counts: counts changed", "actions: 4 ranks changed, first in step 3, rank 0"}},
		{diffTrace{}, []string{"parameters: ", "counts: ", "actions: "}},
	} {
		d := diffOf(t, diffTrace{}, c.b, Options{Actions: true, Summary: true})
		var out bytes.Buffer
		tracetest.Check(t, d.WriteJUnit(&out, "old", "new"))
		var read struct {
			Cases []struct {
				Name    string `xml:"name,attr"`
				Failure struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testsuite>testcase"`
		}
		tracetest.Check(t, xml.Unmarshal(out.Bytes(), &read))
		var got []string
		for _, c := range read.Cases {
			got = append(got, c.Name+": "+c.Failure.Message)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestDiffHTML: the page has what the text has, and asks for nothing from anywhere.
func TestDiffHTML(t *testing.T) {
	d := diffOf(t, diffTrace{}, changed, Options{Actions: true})
	var out bytes.Buffer
	tracetest.Check(t, d.WriteHTML(&out, "<old>", "new"))
	page := out.String()
	for _, want := range []string{
		"<h1>A and B differ, first in step 3, rank 0</h1>", "A &lt;old&gt;<br>B new", "<tr><td>NB</td><td>2</td><td>4</td></tr>",
		"<tr><td>all bytes</td><td>384</td><td>336</td><td>-12.5%</td></tr>", "<h2>rank 0, step 3</h2>", "<pre>irecv 2 24 5 row\nsend 1 8 5 row\nwait recv 2 24 5</pre>",
		"<pre class=\"b\">irecv 2 0 5 row\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in the page", want)
		}
	}
	for _, asks := range []string{"://", "src=", "href=", "url(", "@import", "<script"} {
		if strings.Contains(page, asks) {
			t.Errorf("the page has %s", asks)
		}
	}
}

// TestDiffOfManyGroups: a page shows the first twenty ways in which ranks diverge, by steps.
func TestDiffOfManyGroups(t *testing.T) {
	d := Difference{}
	for r := range int32(25) {
		d.Ranks = append(d.Ranks, Divergence{Rank: r, Step: int(30 - r), A: []string{fmt.Sprint(r)}})
	}
	groups, left := d.firstGroups()
	if len(groups) != 20 || groups[0].Step != 6 || left != "5 more divergences not shown; --actions prints all." {
		t.Errorf("%d groups, the first in step %d, %s", len(groups), groups[0].Step, left)
	}
	if first := d.first(); first.Rank != 24 {
		t.Errorf("the first is that of rank %d", first.Rank)
	}
}
