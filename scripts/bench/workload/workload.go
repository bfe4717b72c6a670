// Package workload writes the communication patterns that replay and SimGrid are
// timed on, as SimGrid's time-independent text.
package workload

import (
	"bytes"
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Message sizes in bytes.
const (
	smallest = 64 << 10
	largest  = 1 << 20
)

// Workload is a pattern of messages for a number of ranks. In three patterns all ranks go through rounds:
//
//	ring      a shift by another distance each round
//	pairwise  exchanges with every other rank in turn
//	binary    exchanges with the ranks whose numbers differ in one bit
//
// The others (Crowds) have many messages in flight at once:
//
//	alltoall  a message from each rank to each other one, all posted at once, with sizes and starts of their own
//	equal     the same with one size and start
//	incast    each rank sends to one rank in 32
//	bursts    each rank sends to 16 others by random permutations
type Workload struct {
	Pattern  string
	Ranks    int // a power of two, at least 32
	Messages int // a multiple of Ranks; crowds have as many as their pattern makes
	Seed     uint64
	InStep   bool   // all messages of a round have one size
	Uplinks  int    // of a leaf switch with its 16 hosts; 0: 8
	Topology string // "": a fat tree; "switch", "torus", "dragonfly"
}

// Crowds are the patterns with many messages in flight, and Topologies the machines.
var (
	Crowds     = []string{"alltoall", "equal", "incast", "bursts"}
	Topologies = []string{"", "switch", "torus", "dragonfly"}
)

// Platform returns a machine with a host per rank: a fat tree with 16 hosts to a leaf switch, and
// one uplink for two hosts, unless it is said otherwise.
func (w *Workload) Platform() string {
	groups, fly := w.Ranks/16, 4
	if w.Ranks >= 256 { // a dragonfly has as many blades in a chassis as groups, to join all of these
		fly = 8
	}
	topology := map[string]string{
		"":          fmt.Sprintf(`topology="FAT_TREE" topo_parameters="2;16,%d;1,%d;1,1"`, groups, cmp.Or(w.Uplinks, 8)),
		"switch":    `sharing_policy="SPLITDUPLEX"`,
		"torus":     fmt.Sprintf(`topology="TORUS" topo_parameters="4,4,%d" sharing_policy="SPLITDUPLEX"`, groups),
		"dragonfly": fmt.Sprintf(`topology="DRAGONFLY" topo_parameters="%d,2;%d,1;%[1]d,2;2" sharing_policy="SPLITDUPLEX"`, fly, w.Ranks/(2*fly*fly)),
	}[w.Topology]
	return fmt.Sprintf(`<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-%d" speed="1Gf" bw="12.5GBps" lat="1us"
           %s/>
</platform>
`, w.Ranks-1, topology)
}

// crowd returns what each rank of a pattern with crowds sends: the bytes by receiver, 0 for none.
func (w *Workload) crowd(random *rand.Rand) (bytes [][]int) {
	bytes = make([][]int, w.Ranks)
	for r := range bytes {
		bytes[r] = make([]int, w.Ranks)
	}
	send := func(from, to int) {
		if from != to {
			bytes[from][to] = 80000 + random.IntN(180001)
		}
	}
	switch w.Pattern {
	case "incast":
		for from := range w.Ranks {
			for to := range w.Ranks / 32 {
				send(from, 32*to)
			}
		}
	case "bursts":
		for range 16 {
			for from, to := range random.Perm(w.Ranks) {
				send(from, to)
			}
		}
	default:
		for from := range w.Ranks {
			for to := range w.Ranks {
				if send(from, to); from != to && w.Pattern == "equal" {
					bytes[from][to] = 160000
				}
			}
		}
	}
	return bytes
}

// Write stores platform, host file and traces in a directory.
func (w *Workload) Write(dir string) error {
	// A round is what all ranks do at once: each sends a message, to a rank at a distance (ring), or
	// exchanges one with the rank whose number differs by a mask.
	type round struct {
		shift int   // the distance, or the mask
		bytes []int // by sender
	}
	// The generator is the same for the same seed and size, on all machines: timings of two
	// programs are of one workload.
	random := rand.New(rand.NewPCG(w.Seed, uint64(w.Ranks)))
	size := func() int { return smallest + random.IntN(largest-smallest+1) }
	var rounds []round
	var crowd [][]int
	if slices.Contains(Crowds, w.Pattern) {
		crowd = w.crowd(random)
	} else {
		rounds = make([]round, w.Messages/w.Ranks)
	}
	for i := range rounds {
		x := round{bytes: make([]int, w.Ranks)}
		common := size()
		for r := range x.bytes {
			if x.bytes[r] = common; !w.InStep {
				x.bytes[r] = size()
			}
		}
		switch w.Pattern {
		case "ring":
			x.shift = 1 + random.IntN(w.Ranks-1)
		case "pairwise":
			x.shift = i%(w.Ranks-1) + 1
		case "binary":
			x.shift = 1 << (i % (bits.Len(uint(w.Ranks)) - 1))
		}
		rounds[i] = x
	}

	// A file for each rank: its actions, round by round.
	var hosts, index strings.Builder
	for r := range w.Ranks {
		fmt.Fprintf(&hosts, "n%d\n", r)
		fmt.Fprintf(&index, "rank-%d.ti\n", r)
		var out bytes.Buffer
		fmt.Fprintf(&out, "%d init\n", r)
		for i, x := range rounds {
			if w.Pattern != "ring" {
				// Exchanges are symmetric: the peer's number differs in the bits of the mask, so both name each other.
				peer := r ^ x.shift
				fmt.Fprintf(&out, "%d sendRecv %d %d %d %d 6 6\n", r, x.bytes[r], peer, x.bytes[peer], peer)
				continue
			}
			from, to := (r+w.Ranks-x.shift)%w.Ranks, (r+x.shift)%w.Ranks
			fmt.Fprintf(&out, "%d irecv %d %d %d\n%d isend %d %d %d\n", r, from, i, x.bytes[from], r, to, i, x.bytes[r])
			fmt.Fprintf(&out, "%d wait %d %d %d\n%d wait %d %d %d\n", r, from, r, i, r, r, to, i)
		}
		if crowd != nil && w.Pattern != "equal" {
			fmt.Fprintf(&out, "%d sleep %g\n", r, 1e-3+8e-3*random.Float64())
		}
		for i := 1; crowd != nil && i < w.Ranks; i++ {
			from, to := (r+w.Ranks-i)%w.Ranks, (r+i)%w.Ranks
			if n := crowd[from][r]; n > 0 {
				fmt.Fprintf(&out, "%d irecv %d 0 %d 6\n", r, from, n)
			}
			if n := crowd[r][to]; n > 0 {
				fmt.Fprintf(&out, "%d isend %d 0 %d 6\n", r, to, n)
			}
		}
		if crowd != nil {
			fmt.Fprintf(&out, "%d waitall\n", r)
		}
		fmt.Fprintf(&out, "%d finalize\n", r)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("rank-%d.ti", r)), out.Bytes(), 0o666); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"platform.xml": w.Platform(), "hostfile": hosts.String(),
		"trace.index": index.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
