package simgrid_test

import (
	"archive/zip"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace"
)

// oracleTexts returns the text files of the recorded cases, by case.
func oracleTexts(t *testing.T) map[string]map[string]string {
	z := must(zip.OpenReader("../../testdata/oracle/smpi-replay.zip"))
	defer z.Close()
	cases := map[string]map[string]string{}
	for _, f := range z.File {
		name := path.Base(f.Name)
		if name != "trace.index" && path.Ext(name) != ".ti" {
			continue
		}
		r := must(f.Open())
		text := must(io.ReadAll(r))
		folder := path.Dir(f.Name)
		if cases[folder] == nil {
			cases[folder] = map[string]string{}
		}
		cases[folder][name] = string(text)
	}
	return cases
}

// byActors rewrites a text as SimGrid 3.20 to 3.28 would have written it: with the numbers
// of actors, a rank's plus one, in wait, test and sendRecv. It returns whether there are
// any that name ranks.
func byActors(text string) (string, bool) {
	some := false
	rewritten := strings.Split(text, "\n")
	for i, line := range rewritten {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		var named []int
		switch fields[1] {
		case "wait", "test":
			named = []int{2, 3}
		case "sendRecv":
			named = []int{3, 5}
		}
		for _, j := range named {
			n, _ := strconv.Atoi(fields[j])
			fields[j] = strconv.Itoa(n + 1) // of -556 too, by which the replay of SimGrid 3.32 calls -555
			some = true
		}
		rewritten[i] = strings.Join(fields, " ")
	}
	return strings.Join(rewritten, "\n"), some
}

// played returns the actions of all ranks and the warnings after them.
func played(t *testing.T, files map[string]string, ahead bool) ([][]trace.Action, string) {
	t.Helper()
	tr := opened(t, files)
	if ahead {
		tr.ReadAhead()
		defer tr.Close()
	}
	all := make([][]trace.Action, tr.Ranks())
	for r := range all {
		var err error
		if all[r], err = actions(tr, int32(r), 8); err != nil {
			t.Fatal(err)
		}
	}
	return all, fmt.Sprint(tr.Warnings())
}

// sameByActors compares what files mean in their own form and in that of SimGrid 3.20 to 3.28, for which they must not
// be taken. It reports whether any line has another form there.
func sameByActors(t *testing.T, name string, files map[string]string, ahead bool) bool {
	t.Helper()
	want, warnings := played(t, files, false)
	if strings.Contains(warnings, "actors") || strings.Contains(warnings, "names no") {
		t.Errorf("%s: warnings %s", name, warnings)
	}
	old, some := map[string]string{}, false
	for file, text := range files {
		if old[file] = text; path.Ext(file) == ".ti" {
			var has bool
			old[file], has = byActors(text)
			some = some || has
		}
	}
	if !some {
		return false
	}
	got, warnings := played(t, old, ahead)
	if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(warnings, "actors, which count from 1") {
		t.Errorf("%s, ahead %t (-ranks +actors):\n%s\nwarnings %s\n%v", name, ahead, diff, warnings, old)
	}
	return true
}

// TestByActors: all recorded cases mean the same in the form of SimGrid 3.20 to 3.28, and so do random programs, in
// which any numbers are in range.
func TestByActors(t *testing.T) {
	rewritten := 0
	cases := oracleTexts(t)
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		if (!testing.Short() || i%4 == 0) && sameByActors(t, name, cases[name], i/4%2 == 0) {
			rewritten++
		}
	}
	if rewritten < 20 {
		t.Errorf("only %d cases have such lines", rewritten)
	}
	for seed := range uint64(60) {
		sameByActors(t, fmt.Sprint("seed ", seed), randomText(rand.New(rand.NewPCG(seed, 1))), seed%2 == 1)
	}
}

// randomText returns the files of a program without mistakes: messages between some
// ranks, sent and received with requests of few tags, waited for in any order.
func randomText(rng *rand.Rand) map[string]string {
	ranks := 2 + rng.IntN(5)
	pending := make([][]string, ranks) // waits, by rank
	lines := make([]string, ranks)
	wait := func(r int) {
		i := rng.IntN(len(pending[r]))
		lines[r] += fmt.Sprintf("%d wait %s\n", r, pending[r][i])
		pending[r] = slices.Delete(pending[r], i, i+1)
	}
	for range 1 + rng.IntN(30) {
		src, dst, tag := rng.IntN(ranks), rng.IntN(ranks), rng.IntN(2)
		if rng.IntN(3) == 0 {
			src = min(src, dst) // few senders
			dst = (src + 1) % ranks
		}
		request := fmt.Sprintf("%d %d %d", src, dst, tag)
		lines[src] += fmt.Sprintf("%d isend %d %d 100\n", src, dst, tag)
		pending[src] = append(pending[src], request)
		lines[dst] += fmt.Sprintf("%d irecv %d %d 100\n", dst, src, tag)
		pending[dst] = append(pending[dst], request)
		for _, r := range []int{src, dst} {
			for len(pending[r]) > rng.IntN(4) {
				wait(r)
			}
		}
	}
	for r := range lines {
		for len(pending[r]) > 0 {
			wait(r)
		}
		lines[r] = fmt.Sprintf("%d init\n%s", r, lines[r])
	}
	return texts(lines...)
}

// TestOldText: a text of SimGrid before 3.20, by what the replay of SimGrid 3.19 did: requests
// are on a stack, other datatypes than its seven are the default, roots and datatypes may be left out.
func TestOldText(t *testing.T) {
	got, warnings := played(t, texts(
		"0 init\n0 Irecv 1 1000\n0 Irecv 1 30 1\n0 Isend 1 5 0\n0 wait\n0 test\n0 wait\n0 irecv -333 7 -1\n0 waitAll 2\n0 wait\n"+
			"0 allReduce 5e4 5e8\n0 reduce 10 7 1 5\n0 bcast 8\n0 allToAllV 100 1 40 100 1 80\n0 gather 68 68 0 0 -1\n0 Isend 1 9\n0 Isend 1 9\n0 finalize\n",
		"1 init\n1 send 0 1000 -1\n1 Recv 0 -1\n1 compute 3\n"), false)
	sum := func(kind trace.CollectiveKind, c trace.Collective) trace.Action {
		a := trace.Action{}
		c.Kind = kind
		a.SetCollective(&c)
		return a
	}
	want := [][]trace.Action{{
		{Kind: trace.KindIrecv, Peer: 1, X: [4]int64{1000}}, {Kind: trace.KindIrecv, Peer: 1, Req: 1, X: [4]int64{4 * 30}}, {Kind: trace.KindIsend, Peer: 1, Req: 2, X: [4]int64{8 * 5}},
		{Kind: trace.KindWait, Req: 2}, {Kind: trace.KindTest, Req: 1}, {Kind: trace.KindWait, Req: 1},
		{Kind: trace.KindIrecv, Peer: trace.AnySource, Req: 1, X: [4]int64{7}}, {Kind: trace.KindWaitAll}, // the wait behind it has nothing to wait for
		sum(trace.CollAllreduce, trace.Collective{Send: 50000, SendSize: 1, RecvSize: 1, Flops: 5e8}),
		sum(trace.CollReduce, trace.Collective{Send: 10, SendSize: 4, RecvSize: 1, Flops: 7, Root: 1}),
		sum(trace.CollBcast, trace.Collective{Send: 8, SendSize: 1, RecvSize: 1}),
		sum(trace.CollAlltoallv, trace.Collective{SendSize: 1, RecvSize: 1, Recv: 1}), // lists of counts 0 and 1
		sum(trace.CollGather, trace.Collective{Send: 68, Recv: 68, SendSize: 8, RecvSize: 1}),
		{Kind: trace.KindIsend, Peer: 1, X: [4]int64{9}}, {Kind: trace.KindIsend, Peer: 1, Req: 1, X: [4]int64{9}},
		{Kind: trace.KindWaitAll}, // for both: the requests have no names
	}, {
		{Kind: trace.KindSend, X: [4]int64{1000}}, {Kind: trace.KindRecv, X: [4]int64{-1}}, {Kind: trace.KindFlops, X: [4]int64{trace.FloatArg(3)}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !inOrder(place.ReplaceAllString(warnings, ""), strings.Split("[trace.index: a text of SimGrid before 3.20 (see 0.ti:2)~ 0.ti:10: wait: no request is pending, so it waits for nothing (1 line)]", "~")) {
		t.Errorf("warnings %s", warnings)
	}
}

// TestOldForm: which form a text has is decided by the first line that is possible in one form
// only, wherever it is, and lines that both forms have mean what that form says.
func TestOldForm(t *testing.T) {
	far := strings.Repeat("0 compute 100\n", 10000) // more than is read at first
	for name, c := range map[string]struct {
		files map[string]string
		old   bool
	}{
		"two fields":        {texts("0 send 1 5 1\n0 send 1 5\n", "1 recv 0 5 1\n"), true},
		"by the other rank": {texts("0 send 1 5 1\n", "1 irecv 0 5 1\n1 wait\n"), true},
		"far away":          {texts("0 send 1 5 1\n"+far+"0 allToAll 5 5\n", "1 recv 0 5 1\n"), true},
		"lower case":        {texts("0 isend 1 5 1\n0 waitall\n", "1 irecv 0 5 1\n1 wait\n"), true},
		"upper case":        {texts("0 SEND 1 5 1\n", "1 RECV 0 5 1\n"), true},
		"shared":            {map[string]string{"trace.index": "all.ti\n", "all.ti": "0 send 1 5 1\n1 recv 0 5 1\n1 barrier\n0 reduceScatter 1 1 4\n"}, true},
		"four fields":       {texts("0 send 1 5 1\n0 send 1 5 1 6\n", "1 recv 0 5 1\n"), false},
		"no type":           {texts("0 send 1 5 1\n0 send 1 5 100\n", "1 recv 0 5 1\n"), false},
		"named wait":        {texts("0 isend 1 5 1\n0 wait 0 1 5\n", "1 recv 0 5 1\n"), false},
		"far named wait":    {texts("0 isend 1 5 1\n"+far+"0 wait 0 1 5\n", "1 recv 0 5 1\n"), false},
		"nothing tells":     {texts("0 send 1 5 1\n", "1 recv 0 5 1\n"), false},
	} {
		for _, ahead := range []bool{false, true} {
			got, warnings := played(t, c.files, ahead)
			want := trace.Action{Kind: trace.KindSend, Peer: 1, Tag: 5, X: [4]int64{1}} // 1 byte
			if c.old {
				want = trace.Action{Kind: trace.KindSend, Peer: 1, X: [4]int64{5 * 4}} // 5 integers
			}
			first := got[0][0]
			if first.Kind == trace.KindIsend {
				first.Kind = trace.KindSend
			}
			if first != want || c.old != strings.Contains(warnings, "before 3.20") {
				t.Errorf("%s, ahead %t: %+v, want %+v; warnings %s", name, ahead, first, want, warnings)
			}
		}
	}
}

// TestOldTextsAtRandom: random texts of before SimGrid 3.20 mean what the same programs mean in the form of
// today: each message between two ranks has a tag of its own there, and each wait names the newest request.
func TestOldTextsAtRandom(t *testing.T) {
	verbs := map[string]string{"isend": "Isend", "irecv": "Irecv", "waitall": "waitAll", "allreduce": "allReduce"}
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 3))
		ranks := 2 + rng.IntN(4)
		old, today := make([]string, ranks), make([]string, ranks)
		pending := make([][]string, ranks) // by rank: what a wait of today says
		both := func(r int, verb, oldArgs, args string) {
			older := verb
			if s := verbs[verb]; s != "" && seed%3 > 0 { // SimGrid 3.10 to 3.13 wrote lower case
				older = s
			}
			old[r] += fmt.Sprintf("%d %s%s\n", r, older, oldArgs)
			today[r] += fmt.Sprintf("%d %s%s\n", r, verb, args)
		}
		wait := func(r int) {
			last := len(pending[r]) - 1
			both(r, "wait", "", pending[r][last])
			pending[r] = pending[r][:last]
		}
		for tag := range 5 + rng.IntN(30) {
			src := rng.IntN(ranks)
			dst := (src + 1 + rng.IntN(ranks-1)) % ranks
			size := rng.IntN(100000)
			for r, verb := range map[int]string{src: "send", dst: "recv"} {
				peer := src + dst - r
				if rng.IntN(3) > 0 {
					verb = "i" + verb
					pending[r] = append(pending[r], fmt.Sprintf(" %d %d %d", src, dst, tag))
				}
				both(r, verb, fmt.Sprintf(" %d %d", peer, size), fmt.Sprintf(" %d %d %d", peer, tag, size))
				for len(pending[r]) > rng.IntN(4) {
					wait(r)
				}
			}
			if rng.IntN(6) == 0 {
				for r := range ranks {
					both(r, "allreduce", " 8 0 0", " 8 0 0")
				}
				both(src, "waitall", "", "")
				pending[src] = nil
			}
		}
		got, warnings := played(t, texts(old...), seed%2 == 1)
		want, _ := played(t, texts(today...), false)
		for r := range want {
			for i := range want[r] {
				want[r][i].Tag = 0
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(warnings, "before 3.20") {
			t.Fatalf("seed %d (-today +old):\n%s\nwarnings %s\n%v", seed, diff, warnings, old)
		}
	}
}
