package testprogram

import (
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
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
		if words[0] != "case" {
			cases[len(cases)-1].add(words)
			continue
		}
		c := &Case{Name: words[1], Ranks: number(words[2])}
		for _, o := range words[3:] {
			list, placed := strings.CutPrefix(o, "hosts:")
			if !placed {
				c.Options = append(c.Options, o)
				continue
			}
			for _, h := range strings.Split(list, ",") {
				c.Hosts = append(c.Hosts, number(h))
			}
		}
		cases = append(cases, c)
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

func (c *Case) add(words []string) {
	if words[0] == "comm" {
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
		return
	}
	l := line{text: strings.Join(words, " "), ranks: make([]bool, c.Ranks), words: words[1:]}
	for _, part := range strings.Split(words[0], ",") {
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

func number(w string) int {
	n, err := strconv.Atoi(w)
	if err != nil {
		panic(fmt.Sprintf("testprogram: %q is no number", w))
	}
	return n
}

func float(w string) float64 {
	v, err := strconv.ParseFloat(w, 64)
	if err != nil {
		panic(fmt.Sprintf("testprogram: %q is no number", w))
	}
	return v
}
