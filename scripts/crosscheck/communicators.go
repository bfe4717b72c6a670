package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/internal/testprogram"
)

// This file draws cases of collectives on communicators (drawCommunicators), as text that the C program of
// testdata/oracle/smpi-mpi executes, and runs them under smpirun (execute).

// operations are those of the text, with their arguments.
var operations = []struct {
	name         string
	size         string // "": none; n: bytes; c: doubles; v: bytes, and how many more for the next rank; d: likewise doubles
	rooted       bool
	largest, all int // bytes of a block, and of those of all ranks
}{
	{"barrier", "", false, 0, 0},
	{"bcast", "n", true, 1 << 21, 0},
	{"reduce", "c", true, 1 << 21, 0},
	{"allreduce", "c", false, 1 << 21, 0},
	{"scan", "c", false, 1 << 18, 0},
	{"exscan", "c", false, 1 << 18, 0},
	{"alltoall", "n", false, 1 << 20, 1 << 23},
	{"allgather", "n", false, 1 << 20, 1 << 23},
	{"gather", "n", true, 1 << 20, 1 << 23},
	{"scatter", "n", true, 1 << 20, 1 << 23},
	{"gatherv", "v", true, 1 << 18, 1 << 21},
	{"scatterv", "v", true, 1 << 18, 1 << 21},
	{"allgatherv", "v", false, 1 << 20, 1 << 23},
	{"alltoallv", "v", false, 1 << 18, 1 << 21},
	{"reducescatter", "d", false, 1 << 20, 1 << 23},
}

// edges are sizes in bytes where a selection takes another algorithm; of one block, or of
// those of all ranks.
var edges = []int{2, 4, 8, 16, 64, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384, 32768, 65536, 81920, 131072, 262144, 524288, 1048576}

// call draws the words of a call by the ranks of a communicator of so many (the smallest, where
// there are several).
func (d source) call(comm string, ranks int) string {
	o := &operations[d.IntN(len(operations))]
	words := o.name + " " + comm
	bytes := pick(d, edges...)
	if d.chance(0.4) {
		bytes /= ranks
	}
	bytes += d.between(-1, 1)
	if d.chance(0.2) {
		bytes = int(d.logarithmic(1, 1e6))
	}
	if bytes = min(bytes, o.largest); o.all > 0 {
		bytes = min(bytes, o.all/ranks)
	}
	switch bytes = max(1, bytes); o.size {
	case "n":
		words += fmt.Sprintf(" %d", bytes)
	case "c":
		words += fmt.Sprintf(" %d", max(1, bytes/8+d.between(-1, 1)))
	case "v":
		words += fmt.Sprintf(" %d %d", bytes, pick(d, 0, 1, bytes/ranks))
	case "d":
		words += fmt.Sprintf(" %d %d", 1+bytes/8, pick(d, 0, 1, bytes/8/ranks))
	}
	if o.rooted {
		words += fmt.Sprintf(" %d", d.IntN(ranks))
	}
	return words
}

// drawCommunicators draws a case: one to three lists of communicators, of 2 to 13 ranks each, in order,
// reversed or mixed, and operations on them, blocking and not.
func (m *options) drawCommunicators(number int) *testCase {
	d := newSource(m.seed, uint64(number)|2<<32)
	kind := machineKinds[number%len(machineKinds)]
	place := &machine{source: d}
	kind.draw(place)
	ranks := d.ranks(place, short)
	c := &testCase{number: number, machine: kind.name, program: "communicators", platform: place.document(nil), hosts: d.mapping(place, ranks), lines: make([][]string, ranks)}
	s := drawSettings(d)
	c.options = append(slices.DeleteFunc(append(s.model, s.list...), func(o string) bool {
		name, _, _ := strings.Cut(o, ":")
		return name == "smpi/init" || name == "smpi/finalization-barrier" || name == "smpi/async-small-thresh"
	}), "smpi/async-small-thresh:0", "smpi/coll-selector:"+pick(d, m.collectives...))
	type comm struct {
		name, who string
		least     int // ranks of the smallest
	}
	comms := []comm{{"world", "*", ranks}}
	program := &strings.Builder{}
	fmt.Fprintf(program, "case %s %d\n", c.name(), ranks)
	for i := range d.between(1, 3) {
		size := d.between(2, min(13, ranks))
		members := d.Perm(ranks)[:size]
		if order := d.IntN(3); order < 2 {
			slices.Sort(members)
			if order == 1 {
				slices.Reverse(members)
			}
		}
		x, cut := comm{name: fmt.Sprintf("c%d", i), least: size}, 0
		if size >= 4 && d.chance(0.5) {
			cut = d.between(2, size-2)
			x.least = min(cut, size-cut)
		}
		fmt.Fprint(program, "comm ", x.name)
		var words []string
		for k, r := range members {
			if k == cut && k > 0 {
				fmt.Fprint(program, " |")
			}
			fmt.Fprint(program, " ", r)
			words = append(words, strconv.Itoa(r))
		}
		fmt.Fprintln(program)
		x.who = strings.Join(words, ",")
		comms = append(comms, x)
	}
	for range d.between(1, 6) {
		if d.chance(0.4) {
			fmt.Fprintf(program, "* sleep %d.5e-6 %de-6\n", d.IntN(1000), d.IntN(300))
		}
		on := pick(d, comms...)
		call := d.call(on.name, on.least)
		for range pick(d, 1, 1, 2, 5) {
			if d.chance(0.9) {
				fmt.Fprintln(program, on.who, call)
			} else {
				fmt.Fprintf(program, "%s i%s @0\n%s wait @0\n", on.who, call, on.who)
			}
		}
	}
	c.text = program.String()
	return c
}

// execute returns when the ranks of a case end, from where they begin, by smpirun that executes the
// program in C.
func (t *tools) execute(dir string, c *testCase) (*timeline, error) {
	args := []string{"-np", strconv.Itoa(len(c.lines)), "-platform", "platform.xml", "-hostfile", "hostfile", "--log=root.thres:error"}
	for _, o := range append([]string{"smpi/simulate-computation:no", "smpi/wtime:0", "smpi/privatization:no", "smpi/host-speed:1Gf",
		"network/optim:Full", "cpu/optim:Full"}, c.options...) {
		args = append(args, "--cfg="+o)
	}
	name := testprogram.Parse(c.text)[0].Name
	out, err := t.run(dir, []string{"TMPDIR=" + dir}, "smpirun", append(args, t.program, "cases.txt", name)...)
	if err != nil {
		return nil, err
	}
	ends := make([]float64, len(c.lines))
	n := 0
	for l := range bytes.Lines(out) {
		who, rank, end := "", 0, 0.0
		if _, err := fmt.Sscan(string(l), &who, &rank, &end); err == nil && who == name {
			ends[rank] = end - testprogram.Begin
			n++
		}
	}
	if n != len(ends) {
		return nil, fmt.Errorf("smpirun: %d of %d ranks end: %.400s", n, len(ends), out)
	}
	return &timeline{ends: ends}, nil
}

// compileProgram compiles the program in C.
func (t *tools) compileProgram(dir string) error {
	t.program, t.patience = filepath.Join(dir, "program"), 20*time.Second // some algorithms do not end
	out, err := exec.Command("smpicc", "-O1", "-o", t.program, filepath.Join(testprogram.Dir(), "program.c")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("smpicc program.c: %w\n%s", err, out)
	}
	return nil
}

// isSensitive reports whether a case that is off is not with tighter tolerances of both simulators.
func (t *tools) isSensitive(c *testCase) (bool, error) {
	tight := *c
	tight.options = append(slices.Clone(c.options), "surf/precision:1e-13", "maxmin/precision:1e-9")
	v, err := t.play(&tight, true)
	return err == nil && v.refused == nil && !v.bad(), err
}
