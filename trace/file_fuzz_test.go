package trace

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// rewrite writes chunks again, with the blocks and header of a program. Draws
// become vectors of values.
func rewrite(t *testing.T, p *Program, chunks []*Chunk) []byte {
	var buf bytes.Buffer
	w := must(NewWriter(&buf, p.header, WriterOptions{ChunkUnits: 2}))
	for i := range p.blocks {
		if n, err := w.Program().AddBlock(p.blocks[i]); err != nil || n != i {
			t.Fatalf("block %d becomes %d, %v", i, n, err)
		}
	}
	for _, win := range chunks {
		for _, u := range win.units {
			check(t, w.Step(u.Step))
			one := &Chunk{units: []Unit{u}, vectors: win.vectors}
			for _, s := range readChunk(p.header, one) {
				check(t, w.Call(restate(w, p.header, s)))
			}
		}
	}
	check(t, w.Close())
	return buf.Bytes()
}

// restate turns what was read into a call for w.
func restate(w *Writer, h *Header, s stated) *Call {
	c := s.Call
	c.Args = nil
	vectors := s.Vectors
	for i, p := range h.CallSites[c.Site].Params {
		vals := append([]int64{}, s.Call.Args[i]...)
		if p.Vector {
			for j := range vals {
				vals[j], vectors = w.Vector(Vector{Values: vectors[0]}), vectors[1:]
			}
		}
		c.Args = append(c.Args, vals)
	}
	return &c
}

// chunksOf reads all chunks of a trace, nil if it is refused.
func chunksOf(data []byte) (*Trace, []*Chunk, error) {
	tr, err := NewReader(bytes.NewReader(data), "fuzz")
	if err != nil {
		return nil, nil, err
	}
	var all []*Chunk
	w, err := tr.start(0)
	for ; w != nil && err == nil; w, err = tr.after(w) {
		all = append(all, w)
	}
	return tr, all, err
}

// FuzzReader: any bytes are refused, or are a trace that can be written again.
func FuzzReader(f *testing.F) {
	f.Add(small(f))
	f.Add(small(f)[:700])
	f.Add(appendPreamble(nil, Version+1))
	for seed := range uint64(4) {
		f.Add(newRandomTrace(seed).write(f))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, reseal(data)} {
			inFile, streamed := readFile(data), readStream(data)
			if (inFile == nil) != (streamed == nil) {
				t.Fatalf("file: %v; stream: %v", inFile, streamed)
			}
			if tr, chunks, err := chunksOf(data); err == nil {
				sameChunks(t, tr.prog, chunks, rewrite(t, tr.prog, chunks))
			}
		}
	})
}

func sameChunks(t *testing.T, p *Program, want []*Chunk, data []byte) {
	again, got, err := chunksOf(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.header, again.Header(), cmpopts.EquateEmpty()); diff != "" {
		t.Fatal(diff)
	}
	all := func(chunks []*Chunk) (s []stated) {
		for _, w := range chunks {
			s = append(s, readChunk(p.header, w)...)
		}
		return s
	}
	if diff := sameStated(p.header, all(want), all(got)); diff != "" {
		t.Fatal(diff)
	}
}

// FuzzChunk: the content of a chunk is refused, or can be written again.
func FuzzChunk(f *testing.F) {
	var traces []*Trace
	for seed := range 6 {
		data := small(f)
		if seed > 0 {
			data = newRandomTrace(uint64(seed)).write(f)
		}
		tr := must(NewReaderAt(bytes.NewReader(data), int64(len(data)), "seed"))
		traces = append(traces, tr)
		for _, i := range tr.chunks {
			e := tr.entries[i]
			plain := must(tr.contentAt(&e))
			f.Add(uint8(seed), e.count, e.first, e.last, bytes.Clone(plain))
		}
	}
	f.Fuzz(func(t *testing.T, seed uint8, count, first, last uint32, plain []byte) {
		tr := traces[int(seed)%len(traces)]
		w, _, err := tr.unpack.decode(plain, &frame{kind: kindChunk, count: count, first: first, last: last})
		if err == nil {
			sameChunks(t, tr.prog, []*Chunk{w}, rewrite(t, tr.prog, []*Chunk{w}))
		}
	})
}

// FuzzHeader: the content of a header is refused, or encodes to an equal one.
func FuzzHeader(f *testing.F) {
	for seed := range uint64(5) {
		plain := must(encodeHeader(newRandomTrace(seed).header, nil))
		f.Add(plain)
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		h, _, err := decodeHeader(plain)
		if err != nil || h.Ranks > 1<<16 {
			return
		}
		if _, err := NewProgram(h); err != nil {
			return
		}
		again := must(encodeHeader(h, nil))
		got, _, err := decodeHeader(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(h, got, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzDefinitions: the content of a definitions record is refused, or the blocks
// are the same when written again.
func FuzzDefinitions(f *testing.F) {
	header := newRandomTrace(1).header
	for seed := range uint64(5) {
		r := newRandomTrace(seed)
		r.header = header
		tr := must(NewReader(bytes.NewReader(r.write(f)), "seed"))
		must(readAll(tr))
		plain := must(encodeDefinitions(tr.prog.blocks, nil))
		f.Add(plain)
	}
	for _, b := range onTheWire() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		p := must(NewProgram(header))
		sameDefinitions(t, plain)
		blocks, _, err := decodeDefinitions(plain)
		if err != nil {
			return
		}
		for _, b := range blocks {
			if _, err := p.AddBlock(b); err != nil {
				return
			}
		}
		again := must(encodeDefinitions(p.blocks, nil))
		got, _, err := decodeDefinitions(again)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := encodeDefinitions(got, nil); err != nil || !bytes.Equal(back, again) { // cmp takes twice as long for each body in a body
			t.Fatalf("%+v is read as %+v (%v)", p.blocks, got, err)
		}
	})
}
