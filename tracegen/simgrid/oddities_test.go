package simgrid_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"reprise/trace"
)

// texts makes files of the lines of each rank, and their index.
func texts(ranks ...string) map[string]string {
	files := map[string]string{}
	for r, lines := range ranks {
		name := fmt.Sprintf("%d.ti", r)
		files["trace.index"] += name + "\n"
		files[name] = lines
	}
	return files
}

// TestOddLines: what is odd in a text is told, with its place and how often, whether it
// is read ahead or not.
func TestOddLines(t *testing.T) {
	const post = "0 irecv 1 1 8\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string // between the brackets of the list; ~: something
	}{
		"healthy":      {texts(post+"0 wait 1 0 1\n", "1 send 0 1 8\n"), ""},
		"tested":       {texts(post+"0 test 1 0 1\n0 test 1 0 1\n0 wait 1 0 1\n", "1 send 0 1 8\n"), ""},
		"twice":        {texts(post+"0 wait 1 0 1\n0 wait 1 0 1\n0 wait 1 0 1\n", "1 send 0 1 8\n"), "0.ti:3: wait 1 0 1: names no request~(2 lines)"},
		"other tag":    {texts(post+"0 wait 1 0 2\n", "1 send 0 1 8\n"), "0.ti:2: wait 1 0 2: names no request~(1 line)"},
		"tests, too":   {texts(post+"0 wait 1 0 1\n0 test 1 0 1\n", "1 send 0 1 8\n"), "0.ti:3: test 1 0 1: names no request~"},
		"any, as SMPI": {texts("0 irecv -333 -444 8 6\n0 wait -333 0 -444\n", "1 send 0 1 8\n"), ""},
		"any, by name": {texts("0 irecv -555 1 8\n0 wait -555 0 1\n", "1 send 0 1 8\n"), "0.ti:2: wait -555 0 1: names no request~"},
		"actors":       {texts("0 irecv 1 1 8\n0 wait 2 1 1\n", "1 send 0 1 8\n", "2 init\n", "3 init\n"), "trace.index: waits and tests name actors~0.ti:2~"},
		"any actor":    {texts("0 irecv -555 -444 8\n0 wait -555 1 -444\n", "1 send 0 1 8\n"), "trace.index: waits and tests name actors~"},
		"mixed": {texts(post+"0 wait 1 0 1\n", "1 send 0 1 8\n1 isend 2 7 8\n1 wait 2 3 7\n", "2 recv 1 7 8\n", "3 init\n"),
			"1.ti:3: wait 2 3 7: names no request that is pending, though it would if its numbers were actors~"},
		"mixed, too": {texts(post+"0 wait 2 1 1\n", "1 send 0 1 8\n1 isend 2 7 8\n1 wait 1 2 7\n", "2 recv 1 7 8\n", "3 init\n"),
			"trace.index: waits and tests name actors~1.ti:3: wait 1 2 7: names no request that is pending, though it would if its numbers were ranks~"},
		"sendRecv":  {texts("0 sendRecv 1 2 1 3 0 0\n", "1 sendRecv 1 3 1 1 0 0\n", "2 sendRecv 1 1 1 2 0 0\n"), "trace.index: sendRecv names actors~"},
		"to nobody": {texts("0 isend -333 0 8 6\n0 wait 0 -333 0\n0 recv -666 0 8 6\n0 send -666 0 8 6\n", "1 init\n"), "0.ti:1: to -333: no rank (MPI_PROC_NULL)~(3 lines)"},
		"derived":   {texts("0 send 1 0 8 -1\n0 bcast 4 0 -1\n", "1 recv 0 0 8 -1\n1 bcast 4 0 -1\n"), "0.ti:1: datatype -1: a derived datatype~(4 lines)"},
		"comms":     {texts("0 init\n0 comm_size 2\n0 comm_split 3\n0 comm_dup 3\n", "1 comm_dup 4\n"), "0.ti:3: comm_split: communicators are passed over~(3 lines)"},
		"shared":    {map[string]string{"trace.index": "all.ti\n", "all.ti": "0 comm_dup 3\n1 send 0 1 8\n" + post + "0 wait 1 0 2\n"}, "all.ti:4: wait 1 0 2: names no request~ all.ti:1: comm_dup: communicators~"},
		"strays":    {texts("0 init\n1 init\n1 compute 3\n", "1 compute 1\n"), "trace.index: ignored 2 lines of other ranks, the first at 0.ti:2"},
	} {
		for _, ahead := range []bool{false, true} {
			_, got := played(t, c.files, ahead)
			got = place.ReplaceAllString(strings.TrimSuffix(strings.TrimPrefix(got, "["), "]"), "")
			if !inOrder(got, strings.Split(c.want, "~")) {
				t.Errorf("%s, ahead %t: warnings %q, want %q", name, ahead, got, c.want)
			}
		}
	}
}

// place is the folder of an index.
var place = regexp.MustCompile(`/\S*/`)

// inOrder reports whether a text is the parts, with anything between them.
func inOrder(text string, parts []string) bool {
	if len(parts) == 1 {
		return text == parts[0]
	}
	for i, p := range parts {
		at := strings.Index(text, p)
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		text = text[at+len(p):]
	}
	return text == "" || parts[len(parts)-1] == ""
}

// TestOddActions: what odd lines mean, and those with wildcards. SimGrid knows a receive from any source as one from
// -555, and a wait for it as one from -556; a wait from -555 finds nothing.
func TestOddActions(t *testing.T) {
	for _, c := range []struct {
		lines string
		want  []trace.Action
	}{
		{"0 irecv -333 -444 2 1\n0 isend -333 3 8 6\n0 wait 0 -333 3\n0 wait -333 0 -444\n0 send 1 0 8 -1\n0 recv -333 1 5\n", []trace.Action{
			{Kind: trace.KindIrecv, Peer: trace.AnySource, Tag: trace.AnyTag, X: [4]int64{8}}, {Kind: trace.KindWait},
			{Kind: trace.KindSend, Peer: 1}, {Kind: trace.KindRecv, Peer: trace.AnySource, Tag: 1, X: [4]int64{5}}}},
		{"0 irecv -555 7 4\n0 irecv 1 -444 4\n0 wait -555 0 7\n0 wait -556 0 7\n0 wait 1 0 -444\n", []trace.Action{
			{Kind: trace.KindIrecv, Peer: trace.AnySource, Tag: 7, X: [4]int64{4}},
			{Kind: trace.KindIrecv, Peer: 1, Tag: trace.AnyTag, Req: 1, X: [4]int64{4}},
			{Kind: trace.KindWait}, {Kind: trace.KindWait, Req: 1}}},
	} {
		got, _ := played(t, texts(c.lines, "1 init\n"), false)
		if diff := cmp.Diff(c.want, got[0]); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.lines, diff)
		}
	}
}

// TestWarningsSoFar: warnings speak of what has been given out, whatever has been read.
func TestWarningsSoFar(t *testing.T) {
	lines := strings.Repeat("0 compute 1\n", 20) + "0 comm_dup 1\n" + strings.Repeat("0 compute 1\n", 20) + "0 comm_dup 1\n"
	for _, ahead := range []bool{false, true} {
		tr := opened(t, texts(lines, "1 init\n"))
		if ahead {
			tr.ReadAhead()
			defer tr.Close()
		}
		buf := make([]trace.Action, 8)
		for fills, want := range []string{"", "", "(1 line)", "(1 line)", "(1 line)", "(2 lines)"} {
			if _, err := tr.Fill(0, buf); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(tr.Warnings()); want == "" && got != "[]" || !strings.Contains(got, want) {
				t.Errorf("ahead %t: after %d fills %s, want %q", ahead, fills+1, got, want)
			}
		}
	}
}

// TestRefusedTexts: what is no text of today is named, with what to do.
func TestRefusedTexts(t *testing.T) {
	var byName []string
	order := []int{0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, r := range order {
		byName = append(byName, fmt.Sprintf("%d init\n%d compute 1\n", r, r))
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"old verb":       {texts("0 send 1 0 8 6\n0 allReduce 5 0\n", "1 recv 0 0 8\n"), []string{"0.ti:2: ", `"allReduce"`, "before 3.20", "by 0.ti:1", "cannot be mixed"}},
		"no tag":         {texts("0 init\n", "1 recv 0 0 8\n1 send 0 1000\n"), []string{"1.ti:2: ", "count is missing", "by 1.ti:1", "cannot be mixed"}},
		"old wait":       {texts("0 irecv 1 0 50\n0 wait\n", "1 init\n"), []string{"0.ti:2: ", "names no request", "by 0.ti:1", "cannot be mixed"}},
		"new wait":       {texts("0 Irecv 1 5\n0 wait 1 0 0\n", "1 init\n"), []string{"0.ti:2: ", "names a request", "before 3.20", "by 0.ti:1", "cannot be mixed"}},
		"tag":            {texts("0 irecv 1 5\n", "1 isend 0 7 1000 6\n"), []string{"1.ti:1: ", "a tag before the count", "by 0.ti:1"}},
		"tag, no type":   {texts("0 irecv 1 5\n", "1 isend 0 7 1000\n"), []string{"1.ti:1: ", "a tag before the count", "by 0.ti:1"}},
		"new verbs":      {texts("0 recv 1 5\n0 sendRecv 1 1 1 1\n", "1 init\n"), []string{"0.ti:2: ", `"sendRecv"`, "by 0.ti:1"}},
		"new scan":       {texts("0 recv 1 5\n0 scan 1 1\n", "1 init\n"), []string{"0.ti:2: ", `"scan"`, "by 0.ti:1"}},
		"no source":      {texts("0 wait\n0 Irecv 1000\n", "1 init\n"), []string{"0.ti:2: ", "peer 1000 out of [0,1]"}},
		"no source, 1":   {texts("0 wait\n0 Irecv 1\n", "1 init\n"), []string{"0.ti:2: ", "count is missing", "3.19"}},
		"MSG":            {texts("p0 send p1 1e6\n", "p1 recv p0\n"), []string{"0.ti: ", "MSG or S4U", "number ranks"}},
		"MSG's own verb": {texts("p0 work 7\n", "p1 recv p0\n"), []string{"0.ti:1: ", `rank "p0"`, "MSG and S4U"}},
		"old test":       {texts("0 irecv 1 0 5\n0 test\n", "1 init\n"), []string{"0.ti:2: ", "names no request"}},
		"untraceable":    {texts("0 waitAny 3\n", "1 init\n"), []string{"0.ti:1: ", "waitAny", "SimGrid's replay"}},
		"out of range":   {texts("0 irecv 1 0 5\n0 wait 1 0 0\n", "1 isend 0 0 5\n1 wait 9 1 0\n"), []string{"1.ti:2: ", "9", "[0,1]"}},
		"sorted by name": {texts(byName...), []string{"trace.index", "file 3, 2.ti", "rank 2", "lines of rank 10", "by rank"}},
	} {
		for _, ahead := range []bool{false, true} {
			err := firstError(t, c.files, ahead)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s, ahead %t: error %v, want %q", name, ahead, err, want)
				}
			}
		}
	}
}

// firstError returns the first error by rank.
func firstError(t *testing.T, files map[string]string, ahead bool) error {
	tr, err := open(t, files)
	if err != nil {
		return err
	}
	if ahead {
		tr.ReadAhead()
		defer tr.Close()
	}
	for r := range tr.Ranks() {
		if _, err := actions(tr, int32(r), 8); err != nil {
			return err
		}
	}
	return nil
}
