package hpl

import (
	"bytes"
	"context"
	"io"
	"testing"

	"reprise/trace"
)

// BenchmarkGenerate writes the whole trace of a run at scale: 6,006 ranks, 3,785
// steps.
func BenchmarkGenerate(b *testing.B) {
	for _, swap := range []Swap{BinaryExchange, SpreadRoll} {
		b.Run("swap="+swap.String(), func(b *testing.B) {
			p := DefaultParams(3875000, 77, 78)
			p.NB, p.PMap, p.Bcast, p.Depth, p.Swap = 1024, ColumnMajor, LongM, 0, swap
			b.ReportAllocs()
			var size counter
			for range b.N {
				size = 0
				if err := Generate(context.Background(), &size, p, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size), "file-bytes")
		})
	}
}

// BenchmarkExpand expands steps of Stampede's grid to flat actions, of all 6,006
// ranks: rank after rank in batches of 64 actions, and in turn with three actions a
// visit, as a replayer that switches at each receive would. A rank whose actions have
// ended is not visited again.
func BenchmarkExpand(b *testing.B) {
	p := DefaultParams(200000, 77, 78)
	p.NB, p.PMap, p.Bcast, p.Depth, p.Swap = 1024, ColumnMajor, LongM, 0, BinaryExchange
	var file bytes.Buffer
	if err := Generate(b.Context(), &file, p, Options{}); err != nil {
		b.Fatal(err)
	}
	data := file.Bytes()
	b.Run("buffered", func(b *testing.B) { expand(b, data, 64, 1<<62) })
	b.Run("in-turn", func(b *testing.B) { expand(b, data, 3, 1) })
}

// expand reads all actions of steps 10 to 14 in batches of size actions, with as many
// batches of a rank as asked for before the next rank's turn.
func expand(b *testing.B, file []byte, size, batches int) {
	buf := make([]trace.Action, size)
	actions := 0
	for b.Loop() {
		b.StopTimer()
		t, err := trace.NewReaderAt(bytes.NewReader(file), int64(len(file)), "bench")
		if err != nil {
			b.Fatal(err)
		}
		cursors, err := t.Cursors(nil, trace.CursorOptions{From: 10, To: 14})
		if err != nil {
			b.Fatal(err)
		}
		turn := make([]*trace.Cursor, len(cursors))
		for i := range cursors {
			turn[i] = &cursors[i]
		}
		b.StartTimer()
		for len(turn) > 0 {
			live := turn[:0]
			for _, c := range turn {
				n, err := visit(c, buf, batches)
				if err != nil {
					b.Fatal(err)
				}
				if actions += n; n > 0 {
					live = append(live, c)
				}
			}
			turn = live
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(actions), "ns/action")
}

// counter counts the bytes written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

var _ io.Writer = (*counter)(nil)

// visit reads up to so many batches of a rank's actions and returns how many these are.
func visit(c *trace.Cursor, buf []trace.Action, batches int) (int, error) {
	actions := 0
	for range batches {
		n, err := c.Fill(buf)
		actions += n
		if n == 0 || err != nil {
			return actions, err
		}
	}
	return actions, nil
}
