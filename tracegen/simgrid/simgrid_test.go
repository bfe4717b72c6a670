package simgrid_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/internal/textutil"
	"reprise/trace"
	"reprise/tracegen/simgrid"
)

// open writes the files into a folder and opens the index, "trace.index".
func open(t testing.TB, files map[string]string) (*simgrid.Trace, error) {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, files)
	return simgrid.Open(filepath.Join(dir, "trace.index"), dir)
}

// opened is open of files whose index is good.
func opened(t testing.TB, files map[string]string) *simgrid.Trace {
	t.Helper()
	tr := must(open(t, files))
	return tr
}

// writeFiles writes files into dir and returns how many bytes they have together.
func writeFiles(t testing.TB, dir string, files map[string]string) (total int64) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		total += int64(len(text))
	}
	return total
}

// actions returns all actions of a rank, asked for n at a time.
func actions(t *simgrid.Trace, rank int32, n int) ([]trace.Action, error) {
	var all []trace.Action
	buf := make([]trace.Action, n)
	for {
		got, err := t.Fill(rank, buf)
		if all = append(all, buf[:got]...); got == 0 || err != nil {
			return all, err
		}
	}
}

var (
	second = trace.FloatArg(1)
	giga   = trace.FloatArg(1e9)
)

func TestActions(t *testing.T) {
	files := map[string]string{
		"trace.index": "a.ti\nb.ti\n",
		"a.ti": "# a comment\n\n0 init\n0 compute 1e9\n0\tsleep 1.0\r\n0 send 1 5 10 0\n0 isend 1 6 100.9 \n0 irecv 1 7 8 1\n0 recv 1 8 -1\n" +
			"1 sleep 3\n0 wait 1 0 7\n0 wait 1 0 99\n0 test 0 1 6\n0 waitall\n0 sendRecv 3 1 4 0 0 1\n0 location x.c 3\n0 comm_size 2\n0 finalize\n",
		"b.ti": "1 init\n1 irecv 0 1 8\n1 irecv 0 2 8\n1 irecv 0 1 9\n1 wait 0 1 2\n1 isend 0 3 70000",
	}
	want := [][]trace.Action{
		{
			{Kind: trace.KindFlops, X: [4]int64{giga}},
			{Kind: trace.KindSleep, X: [4]int64{second}},
			{Kind: trace.KindSend, Peer: 1, Tag: 5, X: [4]int64{80}},
			{Kind: trace.KindIsend, Peer: 1, Tag: 6, Req: 0, X: [4]int64{100}},
			{Kind: trace.KindIrecv, Peer: 1, Tag: 7, Req: 1, X: [4]int64{32}},
			{Kind: trace.KindRecv, Peer: 1, Tag: 8, X: [4]int64{-1}},
			{Kind: trace.KindWait, Req: 1}, // of source 1 with tag 7; there is none with tag 99
			{Kind: trace.KindTest, Req: 0},
			{Kind: trace.KindWaitAll},
			{Kind: trace.KindSendrecv, Peer: 1, X: [4]int64{24, 16, 0}},
		},
		{
			{Kind: trace.KindIrecv, Tag: 1, Req: 0, X: [4]int64{8}},
			{Kind: trace.KindIrecv, Tag: 2, Req: 1, X: [4]int64{8}},
			{Kind: trace.KindIrecv, Tag: 1, Req: 2, X: [4]int64{9}},
			{Kind: trace.KindWait, Req: 1},
			{Kind: trace.KindIsend, Tag: 3, Req: 1, X: [4]int64{70000}}, // in the slot that is free again
			{Kind: trace.KindFree, Req: 0},                              // of the two with tag 1 only the newest is waited for
			{Kind: trace.KindWaitAll},
		},
	}
	got, warnings := played(t, files, false)
	if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(warnings, "ignored 1 line of other ranks") {
		t.Errorf("warnings %s, actions (-want +got):\n%s", warnings, diff)
	}
}

// TestSharedFile: the same lines in one file mean the same, in whatever order the
// ranks ask.
func TestSharedFile(t *testing.T) {
	want, _ := played(t, texts("0 init double\n0 send 1 1 4\n0 irecv 1 2 5\n0 wait 1 0 2\n",
		"1 init double\n1 recv 0 1 4\n1 isend 0 2 5\n"), false)
	lines := "0 init double\n1 init double\n0 send 1 1 4\n1 recv 0 1 4\n1 isend 0 2 5\n0 irecv 1 2 5\n0 wait 1 0 2\n"
	for _, order := range [][]int32{{0, 1}, {1, 0}} {
		tr := opened(t, map[string]string{"trace.index": "all.ti\n", "all.ti": lines})
		got := make([][]trace.Action, tr.Ranks())
		for _, r := range order {
			var err error
			if got[r], err = actions(tr, r, 2); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || got[0][0].X[0] != 4*8 {
			t.Errorf("order %v (-want +got):\n%s", order, diff)
		}
	}
}

func TestBadLines(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"0 alltoallw 4", `a.ti:2: action "alltoallw" is not supported`},
		{"0 bcast", "a.ti:2: count is missing"},
		{"0 bcast 4 2", "a.ti:2: root 2 out of [0,1]"},
		{"0 bcast 4 1 99", `a.ti:2: datatype "99" is not known`},
		{"0 reduce 4", "a.ti:2: amount of flop is missing"},
		{"0 allreduce 4 -1", "a.ti:2: amount of flop -1 is negative"},
		{"0 gatherv 4 1", "a.ti:2: received count is missing"},
		{"0 alltoallv 8 1 -1 8 1 1", "a.ti:2: sent count -1 out of [0,"},
		{"0 allgatherv 4 1 1 0 0 7", "a.ti:2: displacement is missing"},
		{"0", "a.ti:2: action is missing"},
		{"x send 1 2 3", `a.ti:2: rank "x" is not a number`},
		{"0 send 2 0 1", "a.ti:2: peer 2 out of [0,1]"},
		{"0 send 1 0 7 6\n0 send 1 0", "a.ti:3: count is missing behind peer and tag; the text has the form of SimGrid from 3.20 on, by a.ti:2, "},
		{"0 send 1 0 -1", "a.ti:2: count -1 out of [0,"},
		{"0 recv 1 0 -2", "a.ti:2: count -2 out of [-1,"},
		{"0 send 1 0 1 99", `a.ti:2: datatype "99" is not known`},
		{"0 send 1 0 1 55", `a.ti:2: datatype "55" is not known`},
		{"0 init 1", "a.ti:2: counts mean doubles by this init and bytes by that of rank 1"},
		{"0 send 1 0 1e15 27", "a.ti:2: 1000000000000000 items of 32 bytes are too many"},
		{"0 send 1 1e10 1", "a.ti:2: tag 1e+10 out of [-2147483646,2147483647]"},
		{"0 compute -1", "a.ti:2: amount -1 is negative"},
		{"0 compute NaN", `a.ti:2: amount "NaN" is not a number`},
		{"0 compute 0x1_0p0", `a.ti:2: amount "0x1_0p0" is not a number`},
		{"0 sleep", "a.ti:2: duration is missing"},
		{"0 wait 0 1", "a.ti:2: tag is missing"},
		{"0 sendRecv 1 1 1 9 0 0", "a.ti:2: source 9 out of [0,1]"},
	} {
		files := map[string]string{"trace.index": "a.ti\nb.ti\n", "a.ti": "0 init\n" + c.line, "b.ti": "1 init\n"}
		if err := firstError(t, files, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.line, err, c.want)
		}
	}
}

// TestPairTypes: datatypes from 30 on, pairs and those of Fortran and C++, have the
// bytes that SimGrid 3.32 sends for one of them.
func TestPairTypes(t *testing.T) {
	for size, numbers := range map[int64][]int{
		1: {51, 57}, 2: {46}, 4: {38, 39, 45, 47}, 8: {30, 33, 34, 35, 40, 42, 48, 52, 58, 59},
		16: {31, 32, 36, 37, 41, 43, 44, 49, 53}, 32: {50, 54},
	} {
		for _, number := range numbers {
			got, _ := played(t, texts(fmt.Sprintf("0 init\n0 send 1 0 1000 %d\n", number), "1 init\n"), false)
			if got[0][0].X[0] != 1000*size {
				t.Errorf("datatype %d: %v, want %d bytes", number, got[0], 1000*size)
			}
		}
	}
}

func TestBadIndex(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"trace.index": "\n\n"}, "no trace files"},
		{map[string]string{"trace.index": "none.ti\nnone2.ti"}, `none2.ti": no such file`},
		{map[string]string{"trace.index": "none.ti\nb.ti\n", "b.ti": "1 init\n"}, "trace.index: file of rank 0: open "},
		{map[string]string{"trace.index": ".\n."}, "is a directory"},
		{map[string]string{"trace.index": "none.ti\nnone \u202e.ti"}, `none \u202e.ti": no such file`},
		{map[string]string{"trace.index": "\x28\xb5\x2f\xfe"}, "trace.index: not text: want an index, which is a list of files of actions"},
		{map[string]string{"trace.index": "0 init\n0 finalize\n"}, `trace.index:1: "0 init" is an action: want the index`},
		{map[string]string{"trace.index": "# comment\n12 compute 1e9"}, `trace.index:2: "12 compute 1e9" is an action: want the index`},
		{map[string]string{"trace.index": "0 init\n0 init", "0 init": "0 init\n1 init\n"}, ""},
		{map[string]string{"trace.index": "a.ti", "a.ti": "# nothing\n"}, "a.ti: no actions"},
		{map[string]string{"trace.index": "a.ti", "a.ti": "0 init\n1048576 init\n"}, "a.ti:2: rank"},
	} {
		if err := firstError(t, c.files, false); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// FuzzTrace reads a shared file: no panic, and what is accepted converts, or is refused with its place.
func FuzzTrace(f *testing.F) {
	f.Add("0 init\n0 compute 1e9\n0 isend 1 2 3\n1 recv 0 2 -1\n0 wait 0 1 2\n")
	f.Add("1 sendRecv 1 0 1 0 0 0\n0 test 0 0 0\n0 waitall")
	f.Add("# x\n\n0 sleep 1\n9 finalize")
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := open(t, map[string]string{"trace.index": "all.ti", "all.ti": text})
		if err != nil || tr.Ranks() > 1000 {
			return
		}
		if _, err := converted(t, tr); err != nil && !strings.Contains(err.Error(), "all.ti:") {
			t.Errorf("error without place: %v", err)
		}
	})
}

// manyLines is a trace of two ranks that needs several units and chunks.
func manyLines(shared bool) map[string]string {
	var files [2]strings.Builder
	for i := range 10000 {
		for r := range 2 {
			w := &files[r]
			if shared {
				w = &files[0]
			}
			fmt.Fprintf(w, "%d compute %d.5\n%d isend %d %d %d\n%d irecv %d %d 8\n%d wait %d %d %d\n",
				r, i, r, 1-r, i, i%99, r, 1-r, i, r, 1-r, r, i)
			if i%1000 == 7 {
				fmt.Fprintf(w, "%d sendRecv 8 %d 8 %d 6 6\n%d waitall\n%d sleep 0.25\n%d test 0 1 3\n%d send %d 1 1\n%d recv %d 1 1\n",
					r, 1-r, 1-r, r, r, r, r, 1-r, r, 1-r)
			}
		}
	}
	if shared {
		return map[string]string{"trace.index": "all.ti", "all.ti": files[0].String()}
	}
	return map[string]string{"trace.index": "a.ti\nb.ti", "a.ti": files[0].String(), "b.ti": files[1].String()}
}

// TestConvert: a converted trace yields the very actions that the text does.
func TestConvert(t *testing.T) {
	for _, shared := range []bool{false, true} {
		files := manyLines(shared)
		text := opened(t, files)
		tr := must(converted(t, text))
		cursors := must(tr.Cursors(nil, trace.CursorOptions{}))
		want, _ := played(t, files, false)
		for r := range cursors {
			var got []trace.Action
			rest := trace.NewActionReader(&cursors[r], trace.Hit{}, 0)
			for a := rest.Next(); a != nil; a = rest.Next() {
				got = append(got, *a)
			}
			if diff := cmp.Diff(want[r], got); diff != "" || rest.Err() != nil {
				t.Errorf("shared %v, rank %d (-want +got):\n%.2000s", shared, r, diff)
			}
		}
	}
}

// TestLongLine: lines may be longer than a chunk, within reason.
func TestLongLine(t *testing.T) {
	pad := strings.Repeat(" ", 100000)
	if got, _ := played(t, texts("0 sleep"+pad+"1\n0 sleep 1"+pad, ""), false); len(got[0]) != 2 {
		t.Errorf("%d actions", len(got[0]))
	}
	err := firstError(t, texts("0 sleep 1\n0 sleep"+strings.Repeat(pad, 90), ""), false)
	if err == nil || !strings.Contains(err.Error(), "0.ti:2: line longer than") {
		t.Error(err)
	}
}

// TestWindowEdges: wherever the windows through which a file is read end, and whether
// its last line does, the lines are the same.
func TestWindowEdges(t *testing.T) {
	const chunk = 16 << 10
	for length := chunk - 20; length < chunk+20; length++ {
		for _, tail := range []string{"", "\n", "\n\n", "\n0 sleep 3"} {
			lines := "0 sleep 1\n0 send 1 2 3" + tail
			text := "#" + strings.Repeat("x", length-len(lines)-2) + "\n" + lines
			for _, again := range []string{"", "#\n" + strings.Repeat(" ", chunk-2) + "\n"} {
				want := []trace.Action{{Kind: trace.KindSleep, X: [4]int64{second}}, {Kind: trace.KindSend, Peer: 1, Tag: 2, X: [4]int64{3}}}
				if len(tail) > 2 {
					want = append(want, trace.Action{Kind: trace.KindSleep, X: [4]int64{trace.FloatArg(3)}})
				}
				got, _ := played(t, texts(again+text, "1 init"), false)
				if diff := cmp.Diff(want, got[0]); diff != "" {
					t.Fatalf("%d bytes and %d, end %q (-want +got):\n%s", len(again), length, tail, diff)
				}
			}
		}
	}
}

// TestPendingOrder: a wait means the oldest request of its name, in whatever order the
// waits come. Each request keeps its slot until then, and slots count from 0.
func TestPendingOrder(t *testing.T) {
	const n = 100
	for name, tag := range map[string]func(i int) int{
		"oldest first": func(i int) int { return i },
		"newest first": func(i int) int { return n - 1 - i },
		"in strides":   func(i int) int { return 37 * i % n }, // 37 and 100 have no common factor
	} {
		var file strings.Builder
		for i := range n {
			fmt.Fprintf(&file, "0 irecv 1 %d 8\n", i)
		}
		want := make([]int32, n)
		for i := range n {
			fmt.Fprintf(&file, "0 wait 1 0 %d\n", tag(i))
			want[i] = int32(tag(i))
		}
		all, _ := played(t, texts(file.String(), "1 init"), false)
		if len(all[0]) != 2*n {
			t.Fatalf("%s: %d actions", name, len(all[0]))
		}
		var got []int32
		for _, a := range all[0][n:] {
			got = append(got, a.Req)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: slots (-want +got):\n%s", name, diff)
		}
	}
}

// TestFillAllocs: once a file has its window, its lines take no memory.
func TestFillAllocs(t *testing.T) {
	tr := opened(t, ringFiles(4, 5000))
	var buf [8]trace.Action
	got := testing.AllocsPerRun(100, func() {
		if n, err := tr.Fill(1, buf[:]); n != len(buf) || err != nil {
			t.Fatal(n, err)
		}
	})
	if got > 0.1 { // but for the name of the file, once a chunk
		t.Errorf("%v allocations per call", got)
	}
}

// TestIdleLines: a text may have long comments, and does not go on for ever without an
// action; nor does an index without a file.
func TestIdleLines(t *testing.T) {
	blank := strings.Repeat("\n# to be continued\n \n", textutil.MaxIdle/40) // half of what is allowed, and more
	for _, c := range []struct {
		index, action, last string
		refused             bool
	}{
		{"a\nb\n", blank + "0 compute 1\n" + blank, "1 compute 1\n", false},
		{"a\nb\n", blank + blank + "0 compute 1\n", "1 compute 1\n", true},
		{"a\nb\n", "0 compute 1\n", "1 compute 1\n" + blank + blank, true},
		{"a\n", "0 compute 1\n1 compute 1\n" + blank + blank, "", true},
		{"a\n" + blank + blank + "b\n", "0 compute 1\n", "1 compute 1\n", true},
	} {
		err := firstError(t, map[string]string{"trace.index": c.index, "a": c.action, "b": c.last}, false)
		if c.refused != errors.Is(err, textutil.ErrIdle) || !c.refused && err != nil {
			t.Errorf("%.20q, %.20q: %v", c.index, c.action, err)
		}
	}
}

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
		text := opened(t, map[string]string{"trace.index": "a.ti\nb.ti\n", "a.ti": "0 init\n0 " + c.line + "\n", "b.ti": "1 init\n"})
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
		text := opened(t, files)
		buf := make([]trace.Action, 2)
		var got [][]int64
		for n := 1; n > 0; {
			var err error
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

// must returns a value that tests need.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
