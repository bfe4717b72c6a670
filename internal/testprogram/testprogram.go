// Package testprogram reads the programs of testdata/oracle/smpi-mpi, which SimGrid's SMPI has
// executed as programs in C, and makes traces of them. Tests and scripts/crosscheck use it.
//
// # Language
//
// A text is lines of words; a line that begins with # is a comment. The lines of a case follow its first:
//
//	case NAME RANKS [OPTION:VALUE ...] [hosts:HOST,HOST,...]
//	comm NAME RANK ... [| RANK ...]
//	RANKS OPERATION OPERAND ...
//
// A comm makes communicators of the groups of ranks between the bars. In the other lines RANKS are those that make
// the call: *, or numbers and ranges with commas between, such as 0,2-3. The operations and their operands stand at
// the method do.
//
// Errors of a text are panics: the files belong to the repository, and a test that reads a wrong one shall stop.
//
// [Load] reads the cases with the times at which their ranks end in SimGrid, and [Case.Trace] makes the trace of
// one. The platform, the replay and the comparison are left to those who ask.
package testprogram

import (
	"bytes"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reprise/trace"
)

// Begin is the time at which the ranks of all cases begin, in seconds.
const Begin = 10.0

// Case is a program with the times at which its ranks end.
type Case struct {
	Name    string
	Ranks   int
	Hosts   []int     // by rank: the number of its host on the platform; nil: a rank on each
	Options []string  // SMPI's, NAME:VALUE
	Times   []float64 // by rank, seconds from its beginning

	comms []comm
	lines []line
}

// comm is a line comm: a communicator for each group of world ranks.
type comm struct {
	name   string
	groups [][]int32
}

// line is a call, and who makes it.
type line struct {
	text  string
	ranks []bool
	words []string // the operation first
}

// Dir is the directory of the recorded cases and of the program that plays them.
func Dir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "../../testdata/oracle/smpi-mpi")
}

// Load returns the cases of a file system with their times.
func Load(t testing.TB, dir fs.FS) []*Case {
	t.Helper()
	cases := Parse(readFile(t, dir, "cases.txt"))
	byName := map[string]*Case{}
	for _, c := range cases {
		byName[c.Name] = c
	}
	for words := range lines(readFile(t, dir, "times.txt")) {
		c := byName[words[0]]
		if c == nil || number(words[1]) != len(c.Times) {
			t.Fatalf("times.txt: case %s rank %s", words[0], words[1])
		}
		c.Times = append(c.Times, float(words[2])-Begin)
	}
	for _, c := range cases {
		if len(c.Times) != c.Ranks {
			t.Fatalf("case %s: %d times of %d ranks: scripts/record-mpi.sh records them", c.Name, len(c.Times), c.Ranks)
		}
	}
	return cases
}

// readFile returns a file of the cases as a text.
func readFile(t testing.TB, dir fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Parse returns the cases of a text, without times. It panics where the text is wrong.
func Parse(text string) (cases []*Case) {
	for words := range lines(text) {
		switch {
		case words[0] == "case":
			c := &Case{Name: words[1], Ranks: number(words[2])}
			for _, o := range words[3:] {
				list, placed := strings.CutPrefix(o, "hosts:")
				if !placed {
					c.Options = append(c.Options, o)
					continue
				}
				for h := range strings.SplitSeq(list, ",") {
					c.Hosts = append(c.Hosts, number(h))
				}
			}
			cases = append(cases, c)
		case words[0] == "comm": // a name, and groups with | between them
			c := cases[len(cases)-1]
			m := comm{name: words[1], groups: [][]int32{nil}}
			for _, w := range words[2:] {
				if w == "|" {
					m.groups = append(m.groups, nil)
					continue
				}
				last := &m.groups[len(m.groups)-1]
				*last = append(*last, int32(number(w)))
			}
			c.comms = append(c.comms, m)
		default: // ranks, as 0,2-3 or *, and their call
			c := cases[len(cases)-1]
			l := line{text: strings.Join(words, " "), ranks: make([]bool, c.Ranks), words: words[1:]}
			for part := range strings.SplitSeq(words[0], ",") {
				first, last, ok := strings.Cut(part, "-")
				switch {
				case part == "*":
					first, last = "0", strconv.Itoa(c.Ranks-1)
				case !ok:
					last = first
				}
				for r := number(first); r <= number(last); r++ {
					l.ranks[r] = true
				}
			}
			c.lines = append(c.lines, l)
		}
	}
	return cases
}

// lines yields the words of each line that has some.
func lines(text string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(text) {
			words := strings.Fields(line)
			if len(words) > 0 && !strings.HasPrefix(words[0], "#") && !yield(words) {
				return
			}
		}
	}
}

// number reads a whole number, or panics.
func number(w string) int {
	n, err := strconv.Atoi(w)
	if err != nil {
		panic(fmt.Sprintf("testprogram: %q is no number", w))
	}
	return n
}

// float reads a number, or panics.
func float(w string) float64 {
	v, err := strconv.ParseFloat(w, 64)
	if err != nil {
		panic(fmt.Sprintf("testprogram: %q is no number", w))
	}
	return v
}

// Trace returns the case as a trace: a step for each of its lines, a block for what a rank
// does in it, whose two parameters are vectors of what an operation sends and receives.
func (c *Case) Trace() ([]byte, error) {
	// Family 0 is the world. Then there is one for each line comm, with a group of its own for the ranks that are in
	// none of its groups.
	vector := func(name string) trace.ParamColumn { return trace.ParamColumn{Name: name, Axis: 0, Vector: true} }
	h := &trace.Header{
		Program: "testprogram", Ranks: c.Ranks, Steps: len(c.lines), Communicators: true,
		CommFamilies: []trace.CommFamily{{Name: "world", Groups: []trace.Group{{Stride: 1, Count: int32(c.Ranks)}}}},
		Axes:         []trace.Axis{{Name: "rank", Kind: trace.AxisRank}},
		CallSites: []trace.CallSite{{Name: "line", Counts: trace.NoAxis,
			Params: []trace.ParamColumn{vector("sent"), vector("received")}}},
	}
	for _, m := range c.comms {
		f := trace.CommFamily{Name: m.name}
		for _, g := range m.groups {
			f.Groups = append(f.Groups, trace.Group{Ranks: g})
		}
		var rest []int32
		for r := range int32(c.Ranks) {
			if !slices.ContainsFunc(m.groups, func(g []int32) bool { return slices.Contains(g, r) }) {
				rest = append(rest, r)
			}
		}
		if rest != nil {
			f.Groups = append(f.Groups, trace.Group{Ranks: rest})
		}
		h.CommFamilies = append(h.CommFamilies, f)
	}

	var file bytes.Buffer
	w, err := trace.NewWriter(&file, h, trace.WriterOptions{})
	if err != nil {
		return nil, err
	}
	p := &program{Case: c, persistent: map[key]persistent{}, windows: map[key]group{}}
	for i := range c.lines {
		l := &c.lines[i]
		failed := func(err error) ([]byte, error) { return nil, fmt.Errorf("case %s: %s: %w", c.Name, l.text, err) }
		if err := w.Step(i); err != nil {
			return failed(err)
		}
		call := trace.Call{Args: [][]int64{nil, nil}}
		none := w.Vector(trace.Vector{Values: []int64{0}})
		for r := range c.Ranks {
			block, vectors := int64(trace.NoBlock), [2]int64{none, none}
			if l.ranks[r] {
				o := &operation{program: p, line: l, rank: int32(r), words: l.words[1:], b: trace.NewBuilder("", 2)}
				o.do(l.words[0])
				n, err := w.Program().Add(o.b)
				if err != nil {
					return failed(err)
				}
				block = int64(n)
				for side, v := range o.vectors {
					if v != nil {
						vectors[side] = w.Vector(trace.Vector{Values: v})
					}
				}
			}
			call.Blocks = append(call.Blocks, block)
			for side := range vectors {
				call.Args[side] = append(call.Args[side], vectors[side])
			}
		}
		if err := w.Call(&call); err != nil {
			return failed(err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

// program is what the ranks of a case have made in the lines so far.
type program struct {
	*Case
	persistent map[key]persistent
	windows    map[key]group
}
