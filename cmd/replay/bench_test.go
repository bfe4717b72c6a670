package main

import (
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"reprise/scripts/bench/workload"
	"reprise/tracegen/hpl"
)

// BenchmarkPatterns replays the workloads of scripts/bench, at a tenth of their
// length, reading included.
func BenchmarkPatterns(b *testing.B) {
	for _, pattern := range []string{"ring", "pairwise", "binary"} {
		for _, ranks := range []int{64, 256, 1024} {
			b.Run(fmt.Sprint(pattern, "-", ranks), func(b *testing.B) {
				w := workload.Workload{Pattern: pattern, Ranks: ranks, Messages: 10240, Seed: 1}
				dir := b.TempDir()
				noError(b, w.Write(dir))
				b.Chdir(dir)
				benchmarkCommand(b, w.Messages, "--platform", "platform.xml", "--hostfile", "hostfile", "trace.index")
			})
		}
	}
}

// BenchmarkCrowds replays all-to-alls whose messages all meet, and whose beginnings cost time.
func BenchmarkCrowds(b *testing.B) {
	for _, pattern := range []string{"alltoall", "equal"} {
		b.Run(pattern, func(b *testing.B) {
			w := workload.Workload{Pattern: pattern, Ranks: 128, Seed: 1}
			dir := b.TempDir()
			noError(b, w.Write(dir))
			b.Chdir(dir)
			benchmarkCommand(b, w.Ranks*(w.Ranks-1), "--platform", "platform.xml", "--hostfile", "hostfile", "--cfg", "smpi/ois:0:1e-6:0", "trace.index")
		})
	}
}

// BenchmarkStampede replays a step of HPL on Stampede: the roll of the long broadcast
// on 6,006 ranks and what comes with it, some 900,000 messages.
func BenchmarkStampede(b *testing.B) {
	p := hpl.DefaultParams(1000000, 77, 78)
	p.NB, p.PMap, p.Bcast, p.Depth, p.Swap = 1024, hpl.ColumnMajor, hpl.LongM, 0, hpl.BinaryExchange
	benchmarkCommand(b, 0, "--platform", "stampede", "--steps", "1:2", hplOf(b, p))
}

// BenchmarkDahu replays forty steps of HPL on the 1,024 ranks of Dahu, with polls: alone, and while
// it records the critical path, or all that a report shows.
func BenchmarkDahu(b *testing.B) {
	p := hpl.DefaultParams(50000, 32, 32)
	p.NB, p.Bcast = 128, hpl.TwoRing
	trace := hplOf(b, p)
	for _, c := range []struct {
		name   string
		record []string
	}{
		{"alone", nil},
		{"path", []string{"--critical-path"}},
		{"report", []string{"--report", filepath.Join(b.TempDir(), "report.html")}},
	} {
		b.Run(c.name, func(b *testing.B) {
			benchmarkCommand(b, 0, append(append([]string{"--platform", "dahu", "--steps", "100:140"}, c.record...), trace)...)
		})
	}
}

// benchmarkCommand runs the command again and again.
func benchmarkCommand(b *testing.B, messages int, args ...string) {
	args = append([]string{"replay", "--quiet", "--json"}, args...)
	for b.Loop() {
		noError(b, run(b.Context(), args, nil, io.Discard, io.Discard))
	}
	if messages > 0 {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(messages), "ns/message")
	}
}
