package text

import (
	"bytes"
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
	return must(ReadRecorded(strings.NewReader(text), "polls"))
}

// TestListingOfPolls lists rank 1 of tracetest.PollBlock: it polls once, then works on 10
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
			got := must(listingOf(t, tracetest.PollBlock(t, tracetest.GridHeader(), true), 1, test.rule))
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
			_, err := listingOf(t, tracetest.PollBlock(t, tracetest.GridHeader(), true), 1, recorded(t, test.polls))
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
		r2 := must(ReadRecorded(strings.NewReader(again.String()), "polls"))
		for i := range r.outcomes {
			r.outcomes[i].line, r2.outcomes[i].line = 0, 0
		}
		if diff := cmp.Diff(r, r2, cmp.AllowUnexported(Recorded{}, outcome{})); diff != "" {
			t.Error(diff)
		}
	})
}

// TestListingVerbs lists one action of each kind.
func TestListingVerbs(t *testing.T) {
	h := tracetest.GridHeader()
	h.Kernels = append(h.Kernels, trace.Kernel{Name: "swap", Attrs: []trace.Param{{Name: "SIDE", Value: "L"}}, Dims: []trace.Dim{{Name: "N"}, {Name: "ROLE", Enum: []string{"in", "out"}}}})
	h.CommFamilies = append(h.CommFamilies, trace.CommFamily{Groups: []trace.Group{{Start: 0, Stride: 1, Count: 6}}})
	b := trace.NewBuilder("verbs", 3)
	peer, tag := trace.Const(2), trace.Const(9)
	b.Mark(0, b.Param(1), b.Param(2), b.Param(2))
	b.Compute(1, b.Param(0), trace.Const(1))
	b.Message(trace.OpSend, 0, 0, peer, tag, trace.Const(8))
	b.Message(trace.OpSsend, 1, 0, peer, tag, trace.Const(0))
	b.Message(trace.OpRecv, 2, 0, peer, tag, trace.Const(-1))
	b.Message(trace.OpIsend, 0, 4, peer, tag, trace.Const(16))
	b.Message(trace.OpIssend, 0, 5, peer, tag, trace.Const(24))
	b.Message(trace.OpIrecv, 0, 6, peer, tag, trace.Const(32))
	b.Test(6)
	b.Wait(6)
	b.Wait(4)
	b.Free(5)
	b.WaitAll()
	b.Wait(5)
	b.Exchange(1, peer, tag, trace.Const(8), trace.Const(16))
	b.SyncExchange(1, peer, tag, trace.Const(8), trace.Const(0))
	b.Sendrecv(0, peer, tag, trace.Const(8), trace.Const(1), trace.Const(7), trace.Const(16))
	b.Iprobe(0, peer, tag)
	b.Probed(1, peer, tag)
	b.Flops(trace.Const(trace.FloatArg(1e6)))
	b.Flops(trace.Const(trace.FloatArg(0.1)))
	b.Sleep(trace.Const(trace.FloatArg(0.25)))
	b.Message(trace.OpRecv, 0, 0, trace.Const(trace.AnySource), trace.Const(trace.AnyTag), trace.Const(8))
	b.Collective(trace.CollBarrier, trace.CollectiveOperands{})
	b.Collective(trace.CollBcast, trace.CollectiveOperands{Send: trace.Const(100), SendSize: trace.Const(8), Root: peer})
	b.Collective(trace.CollAllreduce, trace.CollectiveOperands{Send: b.Param(0), SendSize: trace.Const(4), Flops: trace.Const(trace.FloatArg(40))})
	b.Collective(trace.CollGather, trace.CollectiveOperands{Send: trace.Const(1), SendSize: trace.Const(2), Recv: trace.Const(3), RecvSize: trace.Const(4), Root: trace.Const(0)})
	b.Mark(1)
	want := `# rank 0 myrow 0 mycol 0
begin work n=1 sums=0,5,5,12,13 list=5,0,7,1
swap L 10 out
send 2 8 9 row
ssend 2 0 9 col
recv 2 ? 9
isend 2 16 9 row
issend 2 24 9 row
irecv 2 32 9 row
test recv 2 32 9
wait recv 2 32 9
wait send 2 16 9
free send 2 24 9
waitall
wait request 5
irecv 2 16 9 col
send 2 8 9 col
wait recv 2 16 9
issend 2 8 9 col
recv 2 0 9 col
wait send 2 8 9
sendrecv 2 8 9 1 16 7 row
probe 2 9 row
iprobe 2 9 col
flops 1000000
flops 0.1
sleep 0.25
recv any 8 any row
barrier
bcast root 2 send 100x8
allreduce send 10x4 flops 40
gather root 0 send 1x2 recv 3x4
end work
`
	got := must(listingOf(t, tracetest.Traced(t, h, 1, b), 0, trace.Hit{}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestListingOfUnknownLabel(t *testing.T) {
	h := tracetest.GridHeader()
	h.Kernels[0].Dims[1].Enum = []string{"in", "out"}
	b := trace.NewBuilder("label", 3)
	b.Compute(0, trace.Const(1), trace.Const(2))
	_, err := listingOf(t, tracetest.Traced(t, h, 1, b), 0, trace.Hit{})
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
