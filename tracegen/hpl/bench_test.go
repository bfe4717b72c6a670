package hpl

import (
	"context"
	"testing"
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

// counter counts the bytes written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
