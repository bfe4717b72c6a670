package trace

import (
	"bytes"
	"strings"
	"testing"

	pb "reprise/proto"
	"reprise/trace/vectors"
)

// generatedTrace is the example with a second vector, which a kind makes.
func generatedTrace(t *testing.T) *Trace {
	var buf bytes.Buffer
	w := must(NewWriter(&buf, exampleHeader(), WriterOptions{}))
	for step, v := range []Vector{{Values: []int64{5, 7}}, {Generated: vectors.PivotOwners{Seed: 2, Count: 3, Rows: 9, Block: 1, Owners: 1}.Generated()}} {
		check(t, w.Step(step))
		check(t, w.Call(&Call{Blocks: []int64{NoBlock, NoBlock}, Args: [][]int64{{0}, {w.Vector(v)}}}))
	}
	check(t, w.Close())
	return must(NewReader(&buf, "x"))
}

// The columns of generatedTrace's chunk: block by rank, bytes, vectors 0 and 1, then two
// vectors, a stated one of 2 elements and one of 3 that the chunk's first generator makes.
var generatedColumns = []byte{
	0, 0, 0, 0, 0, // no block: 2 ranks, 2 calls
	0, 0, 0, // bytes
	0, 0, 1, // vectors
	0, 0, 1, // kinds
	0, 2, 3, // counts
	0, 5, 7, // elements
	0, 2, 0, 0, 0, 9, 0, 1, 0, 1, // seed, first, rows, block, owners
}

func TestChunksWithBadVectors(t *testing.T) {
	pivots := "pivot-owners/1"
	for name, test := range map[string]struct {
		at         int // byte of the columns that changes
		to         byte
		generators []string
		want       string
	}{
		"good":               {0, 0, []string{pivots}, ""},
		"unknown kind":       {0, 0, []string{"pivot-owners/2"}, `generator "pivot-owners/2", which the features do not list`},
		"no kind":            {0, 0, nil, "vector 1: generator 0 of the chunk's, 0 seen so far of 0"},
		"kind twice":         {0, 0, []string{pivots, pivots}, "2 generators, but only 1 are used"},
		"kinds out of order": {13, 2, []string{pivots, "pivot-owners/2"}, "vector 1: generator 1 of the chunk's, 0 seen so far of 2"},
		"bad argument":       {25, 2, []string{pivots}, "vector 1: pivot-owners/1: columns [0,0+3) of 2 rows"},
		"too many elements":  {15, 127, []string{pivots}, "corrupt"},
	} {
		tr := generatedTrace(t)
		columns := bytes.Clone(generatedColumns)
		columns[test.at] = test.to
		plain, err := marshal(&pb.Chunk{Steps: []uint32{0, 1}, Shapes: []uint32{0, 0}, ShapeSizes: []uint32{1}, Sites: []uint32{0},
			Vectors: 2, Columns: columns, Generators: test.generators})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = tr.unpack.decode(plain, &frame{kind: kindChunk, count: 2, last: 1})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want …%s…", name, err, test.want)
		}
		if test.want == "" && tr.unpack.digest.sum() != tr.pending.hash {
			t.Errorf("%s: not the chunk of the trace", name)
		}
	}
}
