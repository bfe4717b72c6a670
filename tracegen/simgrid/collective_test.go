package simgrid_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace"
)

// sumsOf finds the sums of rank 0.
type sumsOf struct {
	sums func(rank int32, list int64) []int64
}

func (s sumsOf) Sums(list int64) []int64 { return s.sums(0, list) }

// TestCollectiveLines: each form of each line, by two ranks. Without a datatype an
// element has 1 byte; type 0 has 8 bytes, 1 has 4, 14 has 16.
func TestCollectiveLines(t *testing.T) {
	for _, c := range []struct {
		line string
		want trace.Collective
	}{
		{"barrier", trace.Collective{Kind: trace.CollBarrier, SendSize: 1, RecvSize: 1}},
		{"bcast 5", trace.Collective{Kind: trace.CollBcast, Send: 5, SendSize: 1, RecvSize: 1}},
		{"bcast 5 1 0", trace.Collective{Kind: trace.CollBcast, Send: 5, Root: 1, SendSize: 8, RecvSize: 1}},
		{"reduce 5 6.5", trace.Collective{Kind: trace.CollReduce, Send: 5, Flops: 6.5, SendSize: 1, RecvSize: 1}},
		{"reduce 5 6 1 14", trace.Collective{Kind: trace.CollReduce, Send: 5, Flops: 6, Root: 1, SendSize: 16, RecvSize: 1}},
		{"allreduce 5 6 1", trace.Collective{Kind: trace.CollAllreduce, Send: 5, Flops: 6, SendSize: 4, RecvSize: 1}},
		{"scan 5 6 1", trace.Collective{Kind: trace.CollScan, Send: 5, Flops: 6, SendSize: 4, RecvSize: 1}},
		{"exscan 5 0", trace.Collective{Kind: trace.CollExscan, Send: 5, SendSize: 1, RecvSize: 1}},
		{"alltoall 5 6 0 1", trace.Collective{Kind: trace.CollAlltoall, Send: 5, Recv: 6, SendSize: 8, RecvSize: 4}},
		{"allgather 5 6 0", trace.Collective{Kind: trace.CollAllgather, Send: 5, Recv: 6, SendSize: 8, RecvSize: 1}},
		{"gather 5 6 1", trace.Collective{Kind: trace.CollGather, Send: 5, Recv: 6, Root: 1, SendSize: 1, RecvSize: 1}},
		{"scatter 5 6 1 0 1", trace.Collective{Kind: trace.CollScatter, Send: 5, Recv: 6, Root: 1, SendSize: 8, RecvSize: 4}},
		{"alltoallv 9 1 2 9 3 4 0 1", trace.Collective{Kind: trace.CollAlltoallv, SendSums: []int64{0, 1, 3}, RecvSums: []int64{0, 3, 7}, SendSize: 8, RecvSize: 4}},
		{"gatherv 5 3 4 1 0", trace.Collective{Kind: trace.CollGatherv, Send: 5, RecvSums: []int64{0, 3, 7}, Root: 1, SendSize: 8, RecvSize: 1}},
		{"scatterv 3 4 5 1", trace.Collective{Kind: trace.CollScatterv, SendSums: []int64{0, 3, 7}, Recv: 5, Root: 1, SendSize: 1, RecvSize: 1}},
		{"reducescatter 3 4 6 0", trace.Collective{Kind: trace.CollReduceScatter, RecvSums: []int64{0, 3, 7}, Flops: 6, SendSize: 1, RecvSize: 8}},
		// Without displacements all blocks begin at 0: the longest spans the buffer.
		{"allgatherv 3 3 4", trace.Collective{Kind: trace.CollAllgatherv, Send: 3, RecvSums: []int64{0, 3, 7}, Span: 4, SendSize: 1, RecvSize: 1}},
		{"allgatherv 3 3 4 0 1", trace.Collective{Kind: trace.CollAllgatherv, Send: 3, RecvSums: []int64{0, 3, 7}, Span: 4, SendSize: 8, RecvSize: 4}},
		{"allgatherv 3 3 4 0 1 10 5", trace.Collective{Kind: trace.CollAllgatherv, Send: 3, RecvSums: []int64{0, 3, 7}, Span: 13, SendSize: 8, RecvSize: 4}},
	} {
		text, err := open(t, map[string]string{"trace.index": "a.ti\nb.ti\n", "a.ti": "0 init\n0 " + c.line + "\n", "b.ti": "1 init\n"})
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]trace.Action, 2)
		n, err := text.Fill(0, buf)
		if n != 1 || err != nil {
			t.Fatalf("%s: %d actions, error %v", c.line, n, err)
		}
		got := buf[0].Collective(sumsOf{text.Sums})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.line, diff)
		}
		if err := got.Check(2); err != nil {
			t.Errorf("%s: %v", c.line, err)
		}
	}
}

// TestSumsOfBatches: counts per rank are there until the next Fill, whether ranks
// share the file or not.
func TestSumsOfBatches(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"own":    {"trace.index": "a.ti\nb.ti\n", "a.ti": "0 reducescatter 1 2 0\n0 reducescatter 3 4 0\n0 reducescatter 5 6 0\n", "b.ti": "1 barrier\n"},
		"shared": {"trace.index": "a.ti\n", "a.ti": "1 reducescatter 7 7 0\n0 reducescatter 1 2 0\n0 reducescatter 3 4 0\n0 reducescatter 5 6 0\n"},
	} {
		text, err := open(t, files)
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]trace.Action, 2)
		var got [][]int64
		for n := 1; n > 0; {
			if n, err = text.Fill(0, buf); err != nil {
				t.Fatal(err)
			}
			for i := range buf[:n] {
				got = append(got, buf[i].Collective(sumsOf{text.Sums}).RecvSums)
			}
		}
		if diff := cmp.Diff([][]int64{{0, 1, 3}, {0, 3, 7}, {0, 5, 11}}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestWildcardLines: SimGrid knows a receive from any source as one from -555, and a wait
// for it as one from -556; a wait from -555 finds nothing.
func TestWildcardLines(t *testing.T) {
	text, err := open(t, map[string]string{"trace.index": "a.ti\nb.ti\n", "b.ti": "1 init\n",
		"a.ti": "0 irecv -555 7 4\n0 irecv 1 -444 4\n0 wait -555 0 7\n0 wait -556 0 7\n0 wait 1 0 -444\n"})
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]trace.Action, 8)
	n, err := text.Fill(0, buf)
	if err != nil {
		t.Fatal(err)
	}
	want := []trace.Action{
		{Kind: trace.KindIrecv, Peer: trace.AnySource, Tag: 7, X: [4]int64{4}},
		{Kind: trace.KindIrecv, Peer: 1, Tag: trace.AnyTag, Req: 1, X: [4]int64{4}},
		{Kind: trace.KindWait}, {Kind: trace.KindWait, Req: 1},
	}
	if diff := cmp.Diff(want, buf[:n]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
