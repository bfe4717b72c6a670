package simgrid_test

import (
	"fmt"
	"strings"
	"testing"

	"reprise/trace"
)

// ringFiles are ring shifts by changing distances, four lines per message.
func ringFiles(ranks, rounds int) map[string]string {
	return rankFiles(ranks, func(w *strings.Builder, r int) {
		for i := range rounds {
			to, from := (r+i%(ranks-1)+1)%ranks, (r+ranks-i%(ranks-1)-1)%ranks
			fmt.Fprintf(w, "%d irecv %d %d %d\n%d isend %d %d %d\n", r, from, i, size(from, i), r, to, i, size(r, i))
			fmt.Fprintf(w, "%d wait %d %d %d\n%d wait %d %d %d\n", r, from, r, i, r, r, to, i)
		}
	})
}

// size returns between 64 KiB and 1 MiB.
func size(rank, round int) int { return 64<<10 + (rank*7919+round*104729)%(960<<10) }

// rankFiles is an index and a file per rank, between init and finalize.
func rankFiles(ranks int, body func(*strings.Builder, int)) map[string]string {
	lines := make([]string, ranks)
	for r := range lines {
		var w strings.Builder
		fmt.Fprintf(&w, "%d init\n", r)
		body(&w, r)
		lines[r] = fmt.Sprintf("%s%d finalize\n", w.String(), r)
	}
	return texts(lines...)
}

// BenchmarkFill reads traces as a replay does: all ranks in turn, eight actions at a
// time, from files that the system has in memory.
func BenchmarkFill(b *testing.B) {
	for _, c := range []struct{ ranks, rounds int }{{64, 1563}, {1024, 98}} {
		b.Run(fmt.Sprintf("ranks=%d", c.ranks), func(b *testing.B) {
			dir := b.TempDir()
			b.SetBytes(writeFiles(b, dir, ringFiles(c.ranks, c.rounds)))
			b.ReportAllocs()
			for b.Loop() {
				t := openIn(b, dir)
				var buf [8]trace.Action
				for live := true; live; {
					live = false
					for r := range t.Ranks() {
						n, err := t.Fill(int32(r), buf[:])
						if err != nil {
							b.Fatal(err)
						}
						live = live || n > 0
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.ranks*c.rounds), "ns/message")
		})
	}
}
