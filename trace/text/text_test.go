package text

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/tracetest"
	"reprise/trace"
)

// listingOf returns the listing of a rank.
func listingOf(t *testing.T, tr *trace.Trace, rank int32, rule trace.PollAnswers) (string, error) {
	t.Helper()
	c, err := tr.Cursors([]int32{rank}, trace.CursorOptions{Markers: true})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = WriteListing(&out, &c[0], rule, Words{})
	return out.String(), err
}

func recorded(t *testing.T, text string) *Recorded {
	t.Helper()
	return tracetest.Must(ReadRecorded(strings.NewReader(text), "polls"))
}

// traced is a trace of steps of one call each, of the block that add makes: process rows have 10 and 20, process columns
// 1, 2 and 3.
func traced(t *testing.T, h *trace.Header, steps int, vector, mask []int64,
	add func(p *trace.Program) *trace.Builder) *trace.Trace {
	t.Helper()
	var file bytes.Buffer
	w := tracetest.Must(trace.NewWriter(&file, h, trace.WriterOptions{}))
	n := int64(tracetest.Must(w.Program().Add(add(w.Program()))))
	v := w.Vector(trace.Vector{Values: vector})
	for s := range steps {
		tracetest.Check(t, errors.Join(w.Step(s), w.Call(&trace.Call{Masks: [][]int64{mask}, Blocks: []int64{n, n},
			Args: [][]int64{{10, 20}, {1, 2, 3}, {v}}})))
	}
	tracetest.Check(t, w.Close())
	return tracetest.Must(trace.NewReader(&file, "test.trace.zst"))
}

// blockTraced is a trace of a block, which process columns 0 and 1 call in each step.
func blockTraced(t *testing.T, h *trace.Header, steps int, b *trace.Builder) *trace.Trace {
	t.Helper()
	return traced(t, h, steps, []int64{5, 0, 7, 1}, []int64{1, 1, 0}, func(*trace.Program) *trace.Builder { return b })
}

// pollBlock is a trace that defines a pollable, guarded by a message from rank 5, whose body computes (99, arg), polls
// it once, and works 10 columns in chunks of 4.
func pollBlock(t *testing.T) *trace.Trace {
	t.Helper()
	return traced(t, tracetest.GridHeader(), 1, []int64{1}, []int64{1, 1, 1}, func(p *trace.Program) *trace.Builder {
		body, work := trace.NewBuilder("body", 1), trace.NewBuilder("work", 2)
		body.Compute(0, trace.Const(99), body.Param(0))
		work.Compute(0, work.Param(0), work.Param(1))
		bodyBlock, workBlock := tracetest.Must(p.Add(body)), tracetest.Must(p.Add(work))
		b := trace.NewBuilder("polls", 3)
		b.DefineGuarded(0, 0, trace.Const(5), trace.Const(77), bodyBlock, b.Param(0))
		b.Compute(0, trace.Const(1), trace.Const(1))
		b.Poll(0)
		b.Compute(0, trace.Const(2), trace.Const(2))
		b.Work(0, b.Param(1).Plus(8), trace.Const(4), workBlock, b.Param(1))
		b.PollWait(0)
		b.Poll(0)
		return b
	})
}

// TestListingOfPolls lists rank 1 of pollBlock: it polls once, then works on 10
// columns in chunks of 4.
func TestListingOfPolls(t *testing.T) {
	for _, test := range []struct {
		name string
		rule trace.PollAnswers
		want []string
	}{
		{"hit", trace.Hit{}, []string{"k 1 1", "k 99 10", "k 2 2", "k 10 2"}},
		{"late", trace.Late{}, []string{"k 1 1", "miss 5 77 row x1", "k 2 2", "k 4 2", "miss 5 77 row x1", "k 4 2", "miss 5 77 row x1", "k 2 2", "k 99 10"}},
		{"second poll", recorded(t, "miss 5 77 row x1\niprobe 5 77 row\n"),
			[]string{"k 1 1", "miss 5 77 row x1", "k 2 2", "k 4 2", "k 99 10", "k 6 2"}},
		// The columns are gone after three chunks; then two empty chunks fail, a third
		// finds the message.
		{"spin", recorded(t, "# rank 1\n\nmiss 5 77 row x4\nmiss 5 77 row x2\niprobe 5 77\n"),
			[]string{"k 1 1", "miss 5 77 row x1", "k 2 2", "k 4 2", "miss 5 77 row x1", "k 4 2", "miss 5 77 row x1", "k 2 2",
				"miss 5 77 row x1", "k 0 2", "miss 5 77 row x2", "k 0 2", "k 99 10"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := tracetest.Must(listingOf(t, pollBlock(t), 1, test.rule))
			want := "# rank 1 myrow 0 mycol 1\n" + strings.Join(test.want, "\n") + "\n"
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRecordedOutcomesThatDoNotFit(t *testing.T) {
	for _, test := range []struct{ name, polls, want string }{
		{"too few", "miss 5 77 row x2\n", "rank 1 step 0: polls: no outcome left for the poll of rank 5 with tag 77"},
		{"too many", "iprobe 5 77 row\niprobe 5 77 row\n", "rank 1: polls:2: iprobe 5 77 is left over: the rank polls no more"},
		{"other peer", "iprobe 4 77 row\n", "rank 1 step 0: polls:1: iprobe 4 77, but the poll is of rank 5 with tag 77"},
		{"other tag", "miss 5 78 row x3\n", "rank 1 step 0: polls:1: miss 5 78 x3, but the poll is of rank 5 with tag 77"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := listingOf(t, pollBlock(t), 1, recorded(t, test.polls))
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestReadRecordedErrors(t *testing.T) {
	for text, want := range map[string]string{
		"iprobe 5 77 row\nsend 1 8 5 row\n": `p:2: "send", want iprobe or miss`,
		"miss 5 77 row\n":                   `p:1: count "row", want x and a number from 1`,
		"miss 5 77 row x0\n":                `p:1: count "x0", want x and a number from 1`,
		"miss x1\n":                         `p:1: miss with 0 fields, want PEER TAG and at most COMM`,
		"miss\n":                            `p:1: count "miss", want x and a number from 1`,
		"iprobe 5\n":                        `p:1: iprobe with 1 fields, want PEER TAG and at most COMM`,
		"iprobe -1 77\n":                    `p:1: peer "-1", want a rank`,
		"iprobe 5 7.5\n":                    `p:1: tag "7.5", want an integer`,
	} {
		if _, err := ReadRecorded(strings.NewReader(text), "p"); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

func FuzzReadRecorded(f *testing.F) {
	f.Add("miss 3 2007 row x12\niprobe 3 2007 row\n")
	f.Add("# rank 0\n\nmiss 0 -1 x1")
	f.Add("miss 5 77 row x99999999999999999999")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ReadRecorded(strings.NewReader(text), "polls")
		if err != nil {
			return
		}
		var again strings.Builder
		for i := range r.outcomes {
			again.WriteString(r.outcomes[i].String() + "\n")
		}
		r2 := tracetest.Must(ReadRecorded(strings.NewReader(again.String()), "polls"))
		for i := range r.outcomes {
			r.outcomes[i].line, r2.outcomes[i].line = 0, 0
		}
		if diff := cmp.Diff(r, r2, cmp.AllowUnexported(Recorded{}, outcome{})); diff != "" {
			t.Error(diff)
		}
	})
}

// TestListingOfEarlierRequest: a wait names the slot of a request that began before the listing. All other
// verbs are in the listings of the golden files.
func TestListingOfEarlierRequest(t *testing.T) {
	b := trace.NewBuilder("wait", 3)
	b.Wait(5)
	got := tracetest.Must(listingOf(t, blockTraced(t, tracetest.GridHeader(), 1, b), 0, trace.Hit{}))
	if want := "# rank 0 myrow 0 mycol 0\nwait request 5\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestListingOfUnknownLabel(t *testing.T) {
	h := tracetest.GridHeader()
	h.Kernels[0].Dims[1].Enum = []string{"in", "out"}
	b := trace.NewBuilder("label", 3)
	b.Compute(0, trace.Const(1), trace.Const(2))
	_, err := listingOf(t, blockTraced(t, h, 1, b), 0, trace.Hit{})
	if want := "rank 0 step 0: kernel k: N is 2, allowed 0 to 1"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestListingOfCountsPerRank(t *testing.T) {
	var l listing
	l.elements(0, []int64{0, 1, 3, 3, 13}, 8)
	l.elements(7, nil, 16)
	if got, want := string(l.out), " 1,2,0,10x8 7x16"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestColumnText(t *testing.T) {
	for _, test := range []struct {
		values []int64
		want   string
	}{
		{nil, ""},
		{[]int64{7}, "7"},
		{[]int64{7, 7}, "7*2"},
		{[]int64{1, 2, 3}, "1 2 3"},
		{[]int64{1, 2, 3, 4}, "1..4"},
		{[]int64{8, 6, 4, 2, 0}, "8..0 by -2"},
		{[]int64{1, 5, 5, 5, 2, 9}, "1 5*3 2 9"},
		{[]int64{0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169}, "0 1 4 9 16 25 36 49 64 81 100 121 ... (14 values)"},
	} {
		if got := valuesText(test.values); got != test.want {
			t.Errorf("%v: %q, want %q", test.values, got, test.want)
		}
	}
}

func TestStructure(t *testing.T) {
	h := tracetest.GridHeader()
	h.Params = []trace.Param{{Name: "N", Value: "10"}}
	b := trace.NewBuilder("all of it", 3)
	m, n, v := b.Param(0), b.Param(1), b.Param(2)
	peer := b.Member(0, n.Plus(1))
	b.Compute(0, b.Affine([]int64{2, -3}, m, n), b.Mul(m, n.Plus(4)))
	b.If(n, func() {
		b.Loop(trace.Const(3), func() { b.Exchange(1, peer, trace.Const(9), b.VectorAt(v, n), b.Max(m, n)) })
	})
	b.Message(trace.OpIrecv, 0, 2, peer, trace.Const(1), trace.Const(8))
	b.Wait(2)
	b.Poll(0)
	b.Mark(1)
	tr := blockTraced(t, h, 2, b)
	var out bytes.Buffer
	tracetest.Check(t, WriteStructure(&out, tr, 1, 0))
	hash := tr.Program().BlockHash(0)
	want := `program test
param N = 10
ranks 6
steps 3
family 0 row: 2 groups, 0 1 2, 3 4 5
family 1 col: 3 groups, 0 3, 1 4, 2 5
axis 0 all: 1 class
axis 1 row: 2 classes
axis 2 col: 3 classes
axis 3 rank: 6 classes
phase 0 work
kernel 0 k (M, N)
marker 0 begin work n={} sums={sums} list={list}
marker 1 end work
call site 0 t: block by row, mask by col, m by row, n by col, v by all (vector)
feature polls
feature requests
feature vectors

block 0 all of it(r1, r2, r3) ` + fmt.Sprintf("%x", hash[:8]) + `
    r4 = member r2+1 of row
    r5 = 2*r1 + -3*r2
    r6 = mul(r1, r2+4)
    k(r5, r6)
    if r2 {
        loop 3 {
            r7 = sum of r3[r2, r2+1)
            r8 = max(r1, r2)
            exchange peer r4 tag 9 out r7 in r8 col
        }
    }
    irecv request 2 peer r4 tag 1 bytes 8 row
    wait request 2
    poll 0
    "end work"()

step 1
    t: blocks 0*2; mask by col 1*2 0; m 10 20; n 1 2 3; v [5 0 7 1]
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
