package trace

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	pb "reprise/proto"
	"reprise/trace/vectors"
)

// withFeatures returns the example with other features in its header.
func withFeatures(t *testing.T, features ...string) []byte {
	frames, plains := records(t, exampleTrace(t))
	var m pb.Header
	check(t, unmarshal(plains[0], &m))
	m.Features, m.Tool = features, "tracegen 9.1"
	plain := must(marshal(&m))
	plains[0], frames[0].hash = plain, sha256.Sum256(plain)
	return assemble(t, frames, plains)
}

func TestUnknownFeaturesAreRefusedByName(t *testing.T) {
	data := withFeatures(t, "tea", "vectors", "vectors:pivot-owners/2")
	for way, read := range ways {
		want := `x: offset 24: header: unknown feature "tea", "vectors:pivot-owners/2": made by a newer tracegen ("tracegen 9.1") than this program: use one as new`
		if err := read(data); !errors.Is(err, ErrFeature) || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", way, err, want)
		}
	}
}

func TestFeaturesThatAreWrong(t *testing.T) {
	for want, features := range map[string][]string{
		"uses vectors, which the features do not list":        {"polls"},
		`feature "polls" is listed again, or out of order`:    {"polls", "polls", "vectors"},
		`feature "vectors" is listed again, or out of order`:  {"vectors", "vectors"},
		`feature "requests" is listed again, or out of order`: {"vectors", "requests"},
	} {
		for way, read := range ways {
			if err := read(withFeatures(t, features...)); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want …%s…", way, err, want)
			}
		}
	}
}

// A trace whose first chunk needs nothing, the second a block that waits for requests,
// the third a generated vector.
func TestFeaturesAreListedBeforeTheyAreUsed(t *testing.T) {
	var buf bytes.Buffer
	w := must(NewWriter(&buf, exampleHeader(), WriterOptions{ChunkUnits: 1}))
	stated := w.Vector(Vector{Values: []int64{5}})
	made := w.Vector(Vector{Generated: vectors.PivotOwners{Count: 1, Rows: 2, Block: 1, Owners: 1}.Generated()})
	call := func(step int, block int64, vector int64) {
		t.Helper()
		check(t, w.Step(step))
		check(t, w.Call(&Call{Blocks: []int64{block, block}, Args: [][]int64{{0}, {vector}}}))
	}
	call(0, NoBlock, stated)
	waits := NewBuilder("waits", 0)
	waits.WaitAll()
	if err := w.Step(1); err != nil { // writes step 0
		t.Fatal(err)
	}
	n, err := w.Program().Add(waits)
	if err != nil {
		t.Fatal(err)
	}
	call(1, int64(n), stated)
	call(2, NoBlock, made)
	check(t, w.Close())
	if diff := cmp.Diff([]string{"requests", "vectors", "vectors:pivot-owners/1"}, listed(t, buf.Bytes())); diff != "" {
		t.Error(diff)
	}
	frames, plains := records(t, buf.Bytes())
	got := []string{}
	for i, f := range frames {
		var features []string
		switch f.kind {
		case kindHeader:
			_, features, err = decodeHeader(plains[i])
		case kindDefs:
			_, features, err = decodeDefinitions(plains[i])
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimSpace(string(f.kind[:])+" "+strings.Join(features, " ")))
	}
	want := []string{"HEAD vectors", "WIND", "DEFS requests", "WIND", "WIND", "DEFS vectors:pivot-owners/1", "WIND", "INDX", "END."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// listed returns the features of a file.
func listed(t *testing.T, data []byte) []string {
	tr := must(NewReaderAt(bytes.NewReader(data), int64(len(data)), "x"))
	return tr.Features()
}
