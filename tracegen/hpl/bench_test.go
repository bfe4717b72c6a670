package hpl

import (
	"io"
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
			for b.Loop() {
				if err := Generate(b.Context(), io.Discard, p, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
