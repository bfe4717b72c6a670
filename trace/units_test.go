package trace

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestChunks reads steps of a trace of 8, in chunks of 3.
func TestChunks(t *testing.T) {
	for _, test := range []struct {
		from, to int
		want     []int // numbers of the chunks
	}{{0, 0, []int{0, 1, 2}}, {3, 0, []int{1, 2}}, {4, 6, []int{1}}, {2, 4, []int{0, 1}}, {9, 0, nil}} {
		tr := chunked(t, 8, 3)
		var got []int
		for chunk, err := range tr.Chunks(test.from, test.to) {
			if err != nil {
				t.Fatal(err)
			}
			if first := chunk.Units()[0].Step; first != 3*chunk.Number() {
				t.Errorf("chunk %d begins with step %d, want %d", chunk.Number(), first, 3*chunk.Number())
			}
			got = append(got, chunk.Number())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("steps [%d,%d): chunks %v, want %v", test.from, test.to, got, test.want)
		}
	}
}

func TestChunkSums(t *testing.T) {
	for chunk, err := range chunked(t, 1, 1).Chunks(0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if got := chunk.Sums(0); chunk.Vectors() != 1 || !slices.Equal(got, []int64{0, 5, 5, 12, 13}) {
			t.Errorf("%d vectors, sums %v, want 1 and those of 5, 0, 7, 1", chunk.Vectors(), got)
		}
		if chunk.Sums(1) != nil || chunk.Sums(-1) != nil {
			t.Error("sums of vectors that there are not")
		}
		// 7 + 1 + 5: indices modulo the length.
		if got, err := chunk.Sum(0, 2, 5); got != 13 || err != nil {
			t.Errorf("sum of elements 2 to 4: %d, %v, want 13", got, err)
		}
		for _, bad := range [][3]int64{{1, 0, 1}, {-1, 0, 1}, {0, 2, 1}, {0, 0, 5}} {
			if _, err := chunk.Sum(bad[0], bad[1], bad[2]); !errors.Is(err, ErrAction) {
				t.Errorf("sum %v: %v, want an ErrAction", bad, err)
			}
		}
	}
}

// chunked writes so many steps of one call, so many to a chunk.
func chunked(t *testing.T, steps, perChunk int) *Trace {
	t.Helper()
	h := gridHeader()
	h.Steps = steps
	var file bytes.Buffer
	w := must(NewWriter(&file, h, WriterOptions{ChunkUnits: perChunk}))
	block := must(w.Program().Add(NewBuilder("nothing", 0)))
	n := int64(block)
	for step := range steps {
		v := w.Vector(Vector{Values: []int64{5, 0, 7, 1}})
		c := &Call{Masks: [][]int64{{1, 1, 1}}, Blocks: []int64{n, n}, Args: [][]int64{{1, 2}, {1, 2, 3}, {v}}}
		check(t, errors.Join(w.Step(step), w.Call(c)))
	}
	check(t, w.Close())
	return must(NewReaderAt(bytes.NewReader(file.Bytes()), int64(file.Len()), "chunked"))
}

// TestPart: a part of a part says what it is a part of, and its whole is as it was.
func TestPart(t *testing.T) {
	whole := Header{Params: []Param{{"N", "7"}}, Result: []Column{{"N", "7"}}, Flops: 343}
	part := whole
	part.SetPart("step:2 to end")
	of := part
	of.SetPart("step:3 to step:5")
	for _, c := range []struct {
		h    Header
		want string
	}{{whole, ""}, {part, "step:2 to end"}, {of, "step:3 to step:5 of step:2 to end"}} {
		if got := c.h.Part(); got != c.want {
			t.Errorf("part %q, want %q", got, c.want)
		}
	}
	want := Header{Params: []Param{{"N", "7"}, {"part", "step:3 to step:5 of step:2 to end"}}}
	if diff := cmp.Diff(want, of); diff != "" {
		t.Error(diff)
	}
}
