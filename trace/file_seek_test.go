package trace

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// spread has 40 steps in chunks of 3.
var spread = synthetic{n: 400, nb: 10, p: 2, q: 3, chunk: 3}

func spreadData(t testing.TB) []byte {
	var buf bytes.Buffer
	spread.write(t, &buf, 0)
	return buf.Bytes()
}

func TestStartAtAnyStep(t *testing.T) {
	data := spreadData(t)
	file := must(NewReaderAt(bytes.NewReader(data), int64(len(data)), "file"))
	for from := range 42 {
		stream := must(NewReader(bytes.NewReader(data), "stream"))
		for _, tr := range []*Trace{stream, file} {
			w, err := tr.start(from)
			if err != nil {
				t.Fatal(err)
			}
			if from >= 40 {
				if w != nil {
					t.Errorf("%s: step %d: chunk %d", tr.frames.name, from, w.number)
				}
				continue
			}
			if w.number != from/3 || w.units[0].Step != from/3*3 {
				t.Errorf("%s: step %d: chunk %d with step %d", tr.frames.name, from, w.number, w.units[0].Step)
			}
			n := 0
			for ; w != nil && err == nil; w, err = tr.after(w) {
				if w.last != (w.number == 13) {
					t.Errorf("%s: chunk %d: last is %t", tr.frames.name, w.number, w.last)
				}
				n++
			}
			if want := 14 - from/3; n != want || err != nil { // 40 steps: 14 chunks
				t.Errorf("%s: step %d: %d chunks, want %d, %v", tr.frames.name, from, n, want, err)
			}
		}
		if totals, ok := stream.Totals(); !ok || totals != file.totals {
			t.Errorf("step %d: totals %+v, want %+v", from, totals, file.totals)
		}
	}
}

func TestStreamStartsOnce(t *testing.T) {
	stream := must(NewReader(bytes.NewReader(spreadData(t)), "stream"))
	w := must(stream.start(0))
	if again, err := stream.start(0); err != nil || again != w {
		t.Errorf("second start while the first chunk is in use: %v, %v", again, err)
	}
	if _, err := stream.start(30); err == nil {
		t.Error("a stream that was started goes on elsewhere")
	}
	runtime.KeepAlive(w)
}

func TestOpenChunksAreBounded(t *testing.T) {
	data := spreadData(t)
	read := func(hold bool) error {
		tr := must(NewReader(bytes.NewReader(data), "x"))
		tr.maxOpen = 5
		first, err := tr.start(0)
		for w := first; w != nil && err == nil; w, err = tr.after(w) {
			if !hold {
				first = nil
			}
		}
		runtime.KeepAlive(first)
		return err
	}
	if err := read(false); err != nil {
		t.Errorf("one cursor: %v", err)
	}
	err := read(true)
	if want := "x: ranks are too far apart in the trace: 5 chunks are in use, from step 0 on"; !errors.Is(err, ErrOpenChunks) || err.Error() != want {
		t.Errorf("a cursor that stays behind: %v, want %s", err, want)
	}
}

// The names of chunks and of the trace do not depend on block numbers or on
// where definitions stand, but on what is called.
func TestHashesNameContent(t *testing.T) {
	write := func(first, second int64, m int64) *Trace {
		s := synthetic{n: 20, nb: 10, p: 2, q: 1}
		var buf bytes.Buffer
		w := must(NewWriter(&buf, s.header(), WriterOptions{}))
		blocks := map[int64]int64{}
		for _, size := range []int64{first, second} {
			b := NewBuilder("b", 3)
			b.Message(OpSend, 0, 0, Const(0), Const(0), Const(size))
			n := must(w.Program().Add(b))
			blocks[size] = int64(n)
		}
		check(t, w.Step(0))
		check(t, w.Call(&Call{Masks: [][]int64{{1}}, Blocks: []int64{blocks[8], blocks[16]}, Args: [][]int64{{m, 5}, {0}, {0}}}))
		check(t, w.Close())
		return must(NewReaderAt(bytes.NewReader(buf.Bytes()), int64(buf.Len()), "x"))
	}
	a, b, c := write(8, 16, 7), write(16, 8, 7), write(8, 16, 9)
	if a.ChunkInfos()[0].Hash != b.ChunkInfos()[0].Hash || a.hash != b.hash {
		t.Error("the order of definitions changes the hash")
	}
	if a.ChunkInfos()[0].Hash == c.ChunkInfos()[0].Hash || a.hash == c.hash {
		t.Error("an argument does not change the hash")
	}
	chain := sha256.New() // of the header's hash and those of the chunks
	chain.Write(a.head[:])
	hash := a.ChunkInfos()[0].Hash
	chain.Write(hash[:])
	if got, ok := a.Hash(); !ok || !bytes.Equal(got[:], chain.Sum(nil)) {
		t.Error("the trace's hash is not the chain of its chunks'")
	}
}

// A trace without steps is legal.
func TestEmptyTrace(t *testing.T) {
	var buf bytes.Buffer
	w := must(NewWriter(&buf, spread.header(), WriterOptions{}))
	check(t, w.Close())
	for way, read := range ways {
		if err := read(buf.Bytes()); err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
}

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
