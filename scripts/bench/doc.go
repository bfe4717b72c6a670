// Bench measures how fast replay is, side by side with SimGrid's trace replay.
//
//	go run ./scripts/bench [-smpirun] [-optim Lazy|Full] [-messages N] [-ranks 64,256,1024] [-runs 5] [-in-step]
//
// It writes three communication patterns as SimGrid text traces, on a two-level
// fat tree with SMPI's default options, cross traffic included, and plays each
// with replay and, if asked, with smpirun -replay: in its default mode, which is
// its fastest, or in the one whose times are replay's (docs/deviations.md, 2). The
// two take turns. It prints a Markdown table: medians of the wall times of whole
// processes, as messages per second, peak memory, ratios, and the difference of the
// two predictions.
//
// Each message has a size of its own, of 64 KiB to 1 MiB, so that the ranks drift
// apart and messages of several rounds overlap; with -in-step all those of a round
// have one size, and many begin and end together. The patterns:
//
//   - ring: every rank sends to the one d places on, d drawn anew for each round;
//     irecv, isend and two waits.
//   - pairwise: round i exchanges with rank xor (i mod (ranks-1) + 1), by sendRecv.
//   - binary: round i exchanges with rank xor 2^(i mod log2(ranks)), by sendRecv.
package main
