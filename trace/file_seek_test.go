package trace

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"runtime"
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

func TestLastChunkIsMarked(t *testing.T) {
	data := spreadData(t)
	stream := must(NewReader(bytes.NewReader(data), "stream"))
	w, err := stream.start(0)
	for ; w != nil; w, err = stream.after(w) {
		if w.last != (w.number == 13) {
			t.Errorf("chunk %d: last is %v", w.number, w.last)
		}
		if next, err := stream.after(w); err != nil || next != w.next {
			t.Errorf("chunk %d is followed by another at the second call, %v", w.number, err)
		}
	}
	if err != nil {
		t.Error(err)
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
		tr.SetMaxOpenChunks(5)
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

func TestChunkInfos(t *testing.T) {
	data := spreadData(t)
	tr := must(NewReaderAt(bytes.NewReader(data), int64(len(data)), "x"))
	infos := tr.ChunkInfos()
	if len(infos) != 14 {
		t.Fatalf("%d chunks", len(infos))
	}
	for i, w := range infos {
		units := min(3, 40-3*i)
		if w.First != 3*i || w.Last != 3*i+units-1 || w.Units != units {
			t.Errorf("chunk %d: %+v", i, w)
		}
		if i > 0 && w.Offset < infos[i-1].Offset+frameSize+infos[i-1].Packed {
			t.Errorf("chunk %d at %d overlaps the one before", i, w.Offset)
		}
	}
	totals, ok := tr.Totals()
	if want := (Totals{Chunks: 14, Units: 40, Calls: 40 * 7}); totals != want || !ok {
		t.Errorf("totals %+v, want %+v", totals, want)
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

// TestPipe: writer and reader meet in a pipe, with no more than a chunk between.
func TestPipe(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		spread.write(t, w, 0)
		w.Close()
	}()
	tr := must(NewReader(r, "pipe"))
	if n, err := readAll(tr); n != 14 || err != nil {
		t.Errorf("%d chunks, %v", n, err)
	}
	if diff := cmp.Diff(14, len(tr.ChunkInfos())); diff != "" {
		t.Error(diff)
	}
}
