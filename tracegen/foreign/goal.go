package foreign

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"reprise/internal/regular"
	"reprise/internal/textutil"
	"reprise/trace"
)

// This file reads GOAL, the schedules of LogGOPSim, as text and in the binary form of its txt2bin: for each rank a graph
// of computations, sends and receives.

// goal reads a schedule of either form.
func goal(name string) *recording {
	f := textutil.Must(regular.Open(name))
	defer f.Close()
	var magic [8]byte
	if n, _ := io.ReadFull(f, magic[:]); n == len(magic) {
		switch binary.LittleEndian.Uint64(magic[:]) {
		case 2342:
			textutil.Stop(fmt.Errorf("%s: LogGOPSim has consumed this schedule in its mode save-mem: make it anew", name))
		case 4223:
			return goalBinary(name, f)
		}
	}
	textutil.Must(f.Seek(0, io.SeekStart))
	g := &goalText{name: name, s: bufio.NewScanner(f)}
	g.s.Buffer(nil, 1<<20)
	defer placed(func() string { return fmt.Sprintf("%s:%d", name, max(g.line, 1)) })
	return g.read()
}

// goalText reads a schedule as text.
type goalText struct {
	name   string
	s      *bufio.Scanner
	line   int
	words  []string // of the line, that are left
	within bool     // a comment of several lines
}

// next reads the words of the next line that has any, and is false at the end.
func (g *goalText) next() bool {
	for {
		if !g.s.Scan() {
			textutil.Check(g.s.Err())
			return false
		}
		text := g.s.Text()
		g.line++
		for rest := text; ; { // comments, // and /* */
			if g.within {
				_, after, ends := strings.Cut(rest, "*/")
				if text = ""; !ends {
					break
				}
				g.within, text, rest = false, after, after
			}
			text, _, _ = strings.Cut(rest, "//")
			before, after, begins := strings.Cut(text, "/*")
			if !begins {
				break
			}
			g.words = append(g.words, strings.Fields(before)...)
			g.within, rest = true, after
		}
		if g.words = append(g.words, strings.Fields(text)...); len(g.words) > 0 {
			return true
		}
	}
}

// take takes the next word of the line, "" behind the last.
func (g *goalText) take() string {
	if len(g.words) == 0 {
		return ""
	}
	word := g.words[0]
	g.words = g.words[1:]
	return word
}

// want takes a word.
func (g *goalText) want(word string) {
	if got := g.take(); got != word {
		textutil.Stop(fmt.Errorf("%s, want %s", textutil.Quote(got), word))
	}
}

// number takes a number.
func (g *goalText) number(what string, least, most int64, unit string) int64 {
	return number(what, g.take(), unit, least, most)
}

// read reads the schedule.
func (g *goalText) read() *recording {
	if !g.next() {
		textutil.Stop(errors.New("want num_ranks N, and the file is empty"))
	}
	g.want("num_ranks")
	ranks := int(g.number("num_ranks", 1, maxRanks, ""))
	r := newRecording(g.name, ranks)
	for i := range r.ranks {
		if !g.next() {
			textutil.Stop(fmt.Errorf("rank %d of %d is missing", i, ranks))
		}
		g.want("rank")
		g.number("rank", int64(i), int64(i), "")
		g.want("{")
		g.rank(r.ranks[i], int64(ranks))
	}
	if g.next() {
		textutil.Stop(fmt.Errorf("%s behind the last rank", textutil.Quote(g.words[0])))
	}
	return r
}

// rank reads the operations of a rank.
func (g *goalText) rank(k *rank, ranks int64) {
	graph := &graph{at: func(n *node) { g.line = int(n.place) }}
	labels := map[string]int32{}
	label := func(word string) int32 {
		n, ok := labels[word]
		if !ok {
			textutil.Stop(fmt.Errorf("label %s is not defined before", textutil.Quote(word)))
		}
		return n
	}
	for {
		if len(g.words) == 0 && !g.next() {
			textutil.Stop(fmt.Errorf("the end of rank %d is missing: }", k.number))
		}
		word := g.take()
		if word == "}" {
			break
		}
		if name, ok := strings.CutSuffix(word, ":"); ok {
			if _, again := labels[name]; again {
				textutil.Stop(fmt.Errorf("label %s is defined twice", textutil.Quote(name)))
			}
			labels[name] = int32(len(graph.nodes))
			word = g.take()
		}
		n := node{place: int32(min(g.line, math.MaxInt32)), on: 1}
		switch word {
		case "calc":
			n.kind, n.amount = trace.KindFlops, g.number("calc", 0, maxNanoseconds, "")
		case "send":
			n.kind, n.amount = trace.KindSend, g.number("size", 0, maxBytes, "b")
			g.want("to")
			n.peer = int32(g.number("destination", 0, ranks-1, ""))
		case "recv":
			n.kind, n.amount = trace.KindRecv, g.number("size", 0, maxBytes, "b")
			g.want("from")
			n.peer = int32(g.number("source", trace.AnySource, ranks-1, ""))
		default:
			relation := g.take()
			if relation != "requires" && relation != "irequires" {
				textutil.Stop(fmt.Errorf("%s, want calc, send, recv, LABEL requires LABEL or LABEL irequires LABEL", textutil.Quote(word)))
			}
			graph.edges = append(graph.edges, edge{label(word), label(g.take()), relation == "irequires"})
			continue
		}
		for len(g.words) > 0 && g.words[0] != "}" {
			switch option := g.take(); {
			case option == "tag" && n.kind != trace.KindFlops:
				n.tag = int32(g.number("tag", -1, math.MaxInt32, ""))
			case option == "cpu":
				n.on = 1 + uint8(g.number("cpu", 0, maxCPU, ""))
			case option == "nic" && n.kind != trace.KindFlops:
				g.number("nic", 0, 255, "")
			default:
				textutil.Stop(fmt.Errorf("%s, want tag, cpu or nic", textutil.Quote(option)))
			}
		}
		if n.tag == -1 && n.kind == trace.KindRecv {
			n.tag = trace.AnyTag
		}
		graph.nodes = append(graph.nodes, n)
		graph.few(g.name)
	}
	graph.play(k)
}

// maxCPU is the highest processor of a rank; processors of a trace count from 1.
const maxCPU = 253

// few bounds the operations of a rank, whose numbers have 31 bits.
func (g *graph) few(name string) {
	if len(g.nodes) >= 1<<30 {
		textutil.Stop(fmt.Errorf("%s: more than %d operations of a rank", name, 1<<30))
	}
}

// The binary form, little endian: a magic number of 8 bytes; the number of ranks (4); the highest processor and network
// interface (1 each); for each rank the begin and the end of its section, from byte 8 on (8 each). A section has the
// number of its nodes, and the nodes without dependencies behind their number (4 each); a record for each node; and
// numbers of nodes (4 each), to which the records refer.
const (
	goalHead   = 14
	goalRecord = 39
)

// goalBinary reads a schedule in binary.
func goalBinary(name string, f *os.File) *recording {
	defer placed(func() string { return name })
	size := textutil.Must(f.Stat()).Size()
	read := func(at, n int64, what string) []byte {
		if at < 0 || n < 0 || at > size-n {
			textutil.Stop(fmt.Errorf("%s from byte %d to %d, and the file has %d", what, at, at+n, size))
		}
		b := make([]byte, n)
		textutil.Must(f.ReadAt(b, at))
		return b
	}
	ranks := int64(binary.LittleEndian.Uint32(read(8, 4, "number of ranks")))
	if ranks > size/16 {
		textutil.Stop(fmt.Errorf("%d ranks in a file of %d bytes", ranks, size))
	}
	table := read(goalHead, 16*ranks, "table of ranks")
	r := newRecording(name, int(ranks))
	for i, k := range r.ranks {
		begin := int64(binary.LittleEndian.Uint64(table[16*i:]))
		end := int64(binary.LittleEndian.Uint64(table[16*i+8:]))
		if begin < 0 || begin > size || end < begin {
			textutil.Stop(fmt.Errorf("section of rank %d from byte %d to %d, and the file has %d", i, begin, end, size))
		}
		goalSection(k, read(8+begin, end-begin, fmt.Sprintf("section of rank %d", i)), ranks)
	}
	return r
}

// goalSection reads the section of a rank.
func goalSection(k *rank, b []byte, ranks int64) {
	place := fmt.Sprintf("rank %d", k.number)
	defer placed(func() string { return place })
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	if len(b) < 8 {
		textutil.Stop(fmt.Errorf("section of %d bytes", len(b)))
	}
	nodes, roots := u32(0), u32(4)
	from := 8 + 4*roots
	if nodes > len(b)/goalRecord || roots > nodes || from+goalRecord*nodes > len(b) {
		textutil.Stop(fmt.Errorf("%d operations, of which %d depend on none, in %d bytes", nodes, roots, len(b)))
	}
	appendix := b[from+goalRecord*nodes:]
	g := &graph{at: func(n *node) { place += fmt.Sprintf(", operation %d", n.place) }}
	// dependents reads a list of nodes that depend on one.
	dependents := func(i int, at int, start bool) {
		count, first := u32(at), u32(at+4)
		if count == 0 {
			return
		}
		if first > len(appendix)/4 || count > len(appendix)/4-first || len(g.edges) > len(appendix)/4 {
			textutil.Stop(fmt.Errorf("operation %d: %d dependencies from number %d on, of %d", i, count, first, len(appendix)/4))
		}
		for j := range count {
			of := int(binary.LittleEndian.Uint32(appendix[4*(first+j):]))
			if of >= nodes {
				textutil.Stop(fmt.Errorf("operation %d: operation %d depends on it, of %d", i, of, nodes))
			}
			g.edges = append(g.edges, edge{int32(of), int32(i), start})
		}
	}
	for i := range nodes {
		at := from + goalRecord*i
		n := node{place: int32(i), on: 1 + min(b[at+21], maxCPU), peer: int32(u32(at + 5)), tag: int32(u32(at + 17)),
			amount: int64(binary.LittleEndian.Uint64(b[at+9:]))}
		most := int64(maxBytes)
		switch kind := b[at+4]; kind {
		case 1:
			n.kind = trace.KindSend
		case 2:
			n.kind = trace.KindRecv
		case 3:
			n.kind, n.peer, most = trace.KindFlops, 0, maxNanoseconds
		default:
			textutil.Stop(fmt.Errorf("operation %d is of kind %d, want 1 to 3", i, kind))
		}
		switch {
		case n.amount < 0 || n.amount > most:
			textutil.Stop(fmt.Errorf("operation %d of %d bytes or nanoseconds, want 0 to %d", i, uint64(n.amount), most))
		case n.peer < 0 && (n.peer != trace.AnySource || n.kind != trace.KindRecv) || int64(n.peer) >= ranks:
			textutil.Stop(fmt.Errorf("operation %d with rank %d of %d", i, uint32(n.peer), ranks))
		case n.tag < -1:
			textutil.Stop(fmt.Errorf("operation %d with tag %d, want at most %d", i, uint32(n.tag), math.MaxInt32))
		case n.tag == -1 && n.kind == trace.KindRecv:
			n.tag = trace.AnyTag
		}
		g.nodes = append(g.nodes, n)
		dependents(i, at+23, false)
		dependents(i, at+31, true)
	}
	g.play(k)
}
