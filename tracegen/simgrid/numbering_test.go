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
	z, err := zip.OpenReader("../../testdata/oracle/smpi-replay.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	cases := map[string]map[string]string{}
	for _, f := range z.File {
		name := path.Base(f.Name)
		if name != "trace.index" && path.Ext(name) != ".ti" {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
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
	tr, err := open(t, files)
	if err != nil {
		t.Fatal(err)
	}
	if ahead {
		tr.ReadAhead()
		defer tr.Close()
	}
	all := make([][]trace.Action, tr.Ranks())
	for r := range all {
		if all[r], err = actions(tr, int32(r), 8); err != nil {
			t.Fatal(err)
		}
	}
	return all, fmt.Sprint(tr.Warnings())
}

// TestByActors: all recorded cases mean the same in the form of SimGrid 3.20 to 3.28, and
// none is taken for that in its own.
func TestByActors(t *testing.T) {
	rewritten := 0
	cases := oracleTexts(t)
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		if testing.Short() && i%4 > 0 {
			continue
		}
		files := cases[name]
		want, warnings := played(t, files, false)
		if strings.Contains(warnings, "actors") || strings.Contains(warnings, "names no") {
			t.Errorf("%s: warnings %s", name, warnings)
		}
		old, some := map[string]string{"trace.index": files["trace.index"]}, false
		for file, text := range files {
			if path.Ext(file) == ".ti" {
				text, has := byActors(text)
				old[file], some = text, some || has
			}
		}
		if !some {
			continue
		}
		rewritten++
		ahead := i/4%2 == 0
		got, warnings := played(t, old, ahead)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, ahead %t (-ranks +actors):\n%s", name, ahead, diff)
		}
		if !strings.Contains(warnings, "actors, which count from 1") {
			t.Errorf("%s, ahead %t: warnings %s", name, ahead, warnings)
		}
	}
	if rewritten < 20 {
		t.Errorf("only %d cases have such lines", rewritten)
	}
}

// randomText returns the files of a program without mistakes: messages between some
// ranks, sent and received with requests of few tags, waited for in any order.
func randomText(rng *rand.Rand) map[string]string {
	ranks := 2 + rng.IntN(5)
	pending := make([][]string, ranks) // waits, by rank
	texts := make([]strings.Builder, ranks)
	wait := func(r int) {
		i := rng.IntN(len(pending[r]))
		fmt.Fprintf(&texts[r], "%d wait %s\n", r, pending[r][i])
		pending[r] = slices.Delete(pending[r], i, i+1)
	}
	for range 1 + rng.IntN(30) {
		src, dst, tag := rng.IntN(ranks), rng.IntN(ranks), rng.IntN(2)
		if rng.IntN(3) == 0 {
			src = min(src, dst) // few senders
			dst = (src + 1) % ranks
		}
		request := fmt.Sprintf("%d %d %d", src, dst, tag)
		fmt.Fprintf(&texts[src], "%d isend %d %d 100\n", src, dst, tag)
		pending[src] = append(pending[src], request)
		fmt.Fprintf(&texts[dst], "%d irecv %d %d 100\n", dst, src, tag)
		pending[dst] = append(pending[dst], request)
		for _, r := range []int{src, dst} {
			for len(pending[r]) > rng.IntN(4) {
				wait(r)
			}
		}
	}
	files := map[string]string{}
	for r := range texts {
		for len(pending[r]) > 0 {
			wait(r)
		}
		name := fmt.Sprintf("%d.ti", r)
		files["trace.index"] += name + "\n"
		files[name] = fmt.Sprintf("%d init\n%s", r, texts[r].String())
	}
	return files
}

// TestByActorsAtRandom: so do random programs, in which any numbers are in range.
func TestByActorsAtRandom(t *testing.T) {
	for seed := range uint64(60) {
		files := randomText(rand.New(rand.NewPCG(seed, 1)))
		want, warnings := played(t, files, false)
		if warnings != "[]" {
			t.Fatalf("seed %d: warnings %s\n%v", seed, warnings, files)
		}
		old := map[string]string{}
		for file, text := range files {
			if old[file] = text; file != "trace.index" {
				old[file], _ = byActors(text)
			}
		}
		got, warnings := played(t, old, seed%2 == 1)
		if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(warnings, "actors") {
			t.Fatalf("seed %d (-ranks +actors):\n%s\nwarnings %s\n%v", seed, diff, warnings, old)
		}
	}
}
