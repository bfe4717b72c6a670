package main

import (
	"bufio"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// Message sizes in bytes.
const (
	smallest = 64 << 10
	largest  = 1 << 20
)

// workload is a pattern at a size. Ranks are a power of two, at least 32.
type workload struct {
	pattern  string
	ranks    int
	messages int // a multiple of ranks
	seed     uint64
	inStep   bool // all messages of a round have one size
}

// rounds returns how often each rank sends.
func (w *workload) rounds() int { return w.messages / w.ranks }

// platform returns a fat tree with a host per rank: 16 hosts to a leaf switch, and
// one uplink for two hosts.
func (w *workload) platform() string {
	return fmt.Sprintf(`<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-%d" speed="1Gf" bw="12.5GBps" lat="1us"
           topology="FAT_TREE" topo_parameters="2;16,%d;1,8;1,1"/>
</platform>
`, w.ranks-1, w.ranks/16)
}

// round is what all ranks do at once.
type round struct {
	shift int   // ring: distance; exchanges: mask
	bytes []int // by sender
}

func (w *workload) draw() []round {
	random := rand.New(rand.NewPCG(w.seed, uint64(w.ranks)))
	size := func() int { return smallest + random.IntN(largest-smallest+1) }
	list := make([]round, w.rounds())
	for i := range list {
		list[i].bytes = make([]int, w.ranks)
		common := size()
		for r := range list[i].bytes {
			if list[i].bytes[r] = common; !w.inStep {
				list[i].bytes[r] = size()
			}
		}
		switch w.pattern {
		case "ring":
			list[i].shift = 1 + random.IntN(w.ranks-1)
		case "pairwise":
			list[i].shift = i%(w.ranks-1) + 1
		case "binary":
			list[i].shift = 1 << (i % (bits.Len(uint(w.ranks)) - 1))
		}
	}
	return list
}

// write stores platform, host file and traces in a directory.
func (w *workload) write(dir string) error {
	var hosts, index strings.Builder
	rounds := w.draw()
	for r := range w.ranks {
		fmt.Fprintf(&hosts, "n%d\n", r)
		fmt.Fprintf(&index, "rank-%d.ti\n", r)
		if err := w.writeRank(filepath.Join(dir, fmt.Sprintf("rank-%d.ti", r)), r, rounds); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"platform.xml": w.platform(), "hostfile": hosts.String(), "trace.index": index.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (w *workload) writeRank(path string, r int, rounds []round) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	fmt.Fprintf(out, "%d init\n", r)
	for i, x := range rounds {
		if w.pattern != "ring" {
			peer := r ^ x.shift
			fmt.Fprintf(out, "%d sendRecv %d %d %d %d 6 6\n", r, x.bytes[r], peer, x.bytes[peer], peer)
			continue
		}
		from, to := (r+w.ranks-x.shift)%w.ranks, (r+x.shift)%w.ranks
		fmt.Fprintf(out, "%d irecv %d %d %d\n%d isend %d %d %d\n", r, from, i, x.bytes[from], r, to, i, x.bytes[r])
		fmt.Fprintf(out, "%d wait %d %d %d\n%d wait %d %d %d\n", r, from, r, i, r, r, to, i)
	}
	fmt.Fprintf(out, "%d finalize\n", r)
	if err := out.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
