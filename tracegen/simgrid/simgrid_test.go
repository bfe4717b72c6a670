package simgrid_test

import (
	"bytes"
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
	tr, err := open(t, files)
	if err != nil {
		t.Fatal(err)
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
	for r := range want {
		got, err := actions(tr, int32(r), 3)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[r], got); diff != "" {
			t.Errorf("rank %d (-want +got):\n%s", r, diff)
		}
	}
	if got := fmt.Sprint(tr.Warnings()); !strings.Contains(got, "ignored 1 line of other ranks") {
		t.Errorf("warnings %s", got)
	}
}

// TestSharedFile: the same lines in one file mean the same, in whatever order the
// ranks ask.
func TestSharedFile(t *testing.T) {
	lines := "0 init double\n1 init double\n0 send 1 1 4\n1 recv 0 1 4\n1 isend 0 2 5\n0 irecv 1 2 5\n0 wait 1 0 2\n"
	for _, order := range [][]int32{{0, 1}, {1, 0}} {
		tr, err := open(t, map[string]string{"trace.index": "all.ti\n", "all.ti": lines})
		if err != nil {
			t.Fatal(err)
		}
		if tr.Ranks() != 2 {
			t.Fatalf("%d ranks", tr.Ranks())
		}
		got := make([][]trace.Action, 2)
		for _, r := range order {
			if got[r], err = actions(tr, r, 2); err != nil {
				t.Fatal(err)
			}
		}
		want := [][]trace.Action{
			{
				{Kind: trace.KindSend, Peer: 1, Tag: 1, X: [4]int64{32}},
				{Kind: trace.KindIrecv, Peer: 1, Tag: 2, X: [4]int64{40}},
				{Kind: trace.KindWait},
			},
			{
				{Kind: trace.KindRecv, Tag: 1, X: [4]int64{32}},
				{Kind: trace.KindIsend, Tag: 2, X: [4]int64{40}},
				{Kind: trace.KindWaitAll},
			},
		}
		if diff := cmp.Diff(want, got); diff != "" {
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
		tr, err := open(t, map[string]string{"trace.index": "a.ti\nb.ti\n", "a.ti": "0 init\n" + c.line, "b.ti": "1 init\n"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = actions(tr, 0, 4); err == nil || !strings.Contains(err.Error(), c.want) {
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
			tr, err := open(t, map[string]string{"trace.index": "a.ti\nb.ti\n", "a.ti": fmt.Sprintf("0 init\n0 send 1 0 1000 %d\n", number), "b.ti": "1 init\n"})
			if err != nil {
				t.Fatal(err)
			}
			got, err := actions(tr, 0, 4)
			if err != nil || got[0].X[0] != 1000*size {
				t.Errorf("datatype %d: %v, %v, want %d bytes", number, got, err, 1000*size)
			}
		}
	}
}

// TestMissingFile: a file that is not there is named, with the index and the rank.
func TestMissingFile(t *testing.T) {
	tr, err := open(t, map[string]string{"trace.index": "none.ti\nb.ti\n", "b.ti": "1 init\n"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = actions(tr, 0, 4)
	if err == nil || !strings.Contains(err.Error(), "trace.index: file of rank 0: open ") || !strings.Contains(err.Error(), `none.ti": no such file`) {
		t.Errorf("error %v, want index, rank and file", err)
	}
}

func TestBadIndex(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"trace.index": "\n\n"}, "no trace files"},
		{map[string]string{"trace.index": "none.ti\nnone2.ti"}, "no such file"},
		{map[string]string{"trace.index": ".\n."}, "is a directory"},
		{map[string]string{"trace.index": "none.ti\nnone \u202e.ti"}, `none \u202e.ti": no such file`},
		{map[string]string{"trace.index": "\x28\xb5\x2f\xfe"}, "trace.index: not text: want an index, which is a list of files of actions"},
		{map[string]string{"trace.index": "0 init\n0 finalize\n"}, `trace.index:1: "0 init" is an action: want the index`},
		{map[string]string{"trace.index": "# comment\n12 compute 1e9"}, `trace.index:2: "12 compute 1e9" is an action: want the index`},
		{map[string]string{"trace.index": "0 init\n0 init", "0 init": "0 init\n1 send\n"}, ""},
		{map[string]string{"trace.index": "a.ti", "a.ti": "# nothing\n"}, "a.ti: no actions"},
		{map[string]string{"trace.index": "a.ti", "a.ti": "0 init\n1048576 init\n"}, "a.ti:2: rank"},
	} {
		if _, err := open(t, c.files); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
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
		text, err := open(t, files)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := converted(t, text)
		if err != nil {
			t.Fatal(err)
		}
		cursors, err := tr.Cursors(nil, trace.CursorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		again, err := open(t, files)
		if err != nil {
			t.Fatal(err)
		}
		for r := range cursors {
			want, err := actions(again, int32(r), 100)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, rest(t, &cursors[r])); diff != "" {
				t.Errorf("shared %v, rank %d (-want +got):\n%.2000s", shared, r, diff)
			}
		}
	}
}

// rest returns all actions of a cursor but for steps.
func rest(t *testing.T, c *trace.Cursor) []trace.Action {
	t.Helper()
	var all []trace.Action
	buf := make([]trace.Action, 64)
	for {
		n, err := c.Fill(buf)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return all
		}
		for _, a := range buf[:n] {
			if a.Kind != trace.KindStep {
				all = append(all, a)
			}
		}
	}
}

// TestLongLine: lines may be longer than a chunk, within reason.
func TestLongLine(t *testing.T) {
	pad := strings.Repeat(" ", 100000)
	tr, err := open(t, map[string]string{"trace.index": "a.ti\nb.ti", "a.ti": "0 sleep" + pad + "1\n0 sleep 1" + pad, "b.ti": ""})
	if err != nil {
		t.Fatal(err)
	}
	got, err := actions(tr, 0, 8)
	if err != nil || len(got) != 2 {
		t.Errorf("%d actions, error %v", len(got), err)
	}
	tr, err = open(t, map[string]string{"trace.index": "a.ti\nb.ti", "a.ti": "0 sleep 1\n0 sleep" + strings.Repeat(pad, 90), "b.ti": ""})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = actions(tr, 0, 8); err == nil || !strings.Contains(err.Error(), "a.ti:2: line longer than") {
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
				tr, err := open(t, map[string]string{"trace.index": "a.ti\nb.ti", "a.ti": again + text, "b.ti": "1 init"})
				if err != nil {
					t.Fatal(err)
				}
				want := []trace.Action{{Kind: trace.KindSleep, X: [4]int64{second}}, {Kind: trace.KindSend, Peer: 1, Tag: 2, X: [4]int64{3}}}
				if len(tail) > 2 {
					want = append(want, trace.Action{Kind: trace.KindSleep, X: [4]int64{trace.FloatArg(3)}})
				}
				got, err := actions(tr, 0, 2)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Fatalf("%d bytes and %d, end %q: error %v (-want +got):\n%s", len(again), length, tail, err, diff)
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
		tr, err := open(t, map[string]string{"trace.index": "a.ti\nb.ti", "a.ti": file.String(), "b.ti": "1 init"})
		if err != nil {
			t.Fatal(err)
		}
		all, err := actions(tr, 0, 8)
		if err != nil || len(all) != 2*n {
			t.Fatalf("%s: %d actions, error %v", name, len(all), err)
		}
		var got []int32
		for _, a := range all[n:] {
			got = append(got, a.Req)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: slots (-want +got):\n%s", name, diff)
		}
	}
}

// TestFillAllocs: once a file has its window, its lines take no memory.
func TestFillAllocs(t *testing.T) {
	tr, err := open(t, ringFiles(4, 5000))
	if err != nil {
		t.Fatal(err)
	}
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

// FuzzTrace reads a shared file: no panic, and what is accepted converts.
func FuzzTrace(f *testing.F) {
	f.Add("0 init\n0 compute 1e9\n0 isend 1 2 3\n1 recv 0 2 -1\n0 wait 0 1 2\n")
	f.Add("1 sendRecv 1 0 1 0 0 0\n0 test 0 0 0\n0 waitall")
	f.Add("# x\n\n0 sleep 1\n9 finalize")
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := open(t, map[string]string{"trace.index": "all.ti", "all.ti": text})
		if err != nil || tr.Ranks() > 1000 {
			return
		}
		w, err := trace.NewWriter(&bytes.Buffer{}, tr.Header(), trace.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Convert(w, nil); err != nil {
			if !strings.Contains(err.Error(), "all.ti:") {
				t.Errorf("error without place: %v", err)
			}
			return
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
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
		dir := t.TempDir()
		for name, text := range map[string]string{"index": c.index, "a": c.action, "b": c.last} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		tr, err := simgrid.Open(filepath.Join(dir, "index"), dir)
		buf := make([]trace.Action, 8)
		for r := int32(0); err == nil && int(r) < tr.Ranks(); r++ {
			for n := 1; n > 0 && err == nil; {
				n, err = tr.Fill(r, buf)
			}
		}
		if c.refused != errors.Is(err, textutil.ErrIdle) || !c.refused && err != nil {
			t.Errorf("%.20q, %.20q: %v", c.index, c.action, err)
		}
	}
}
