package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"reprise/internal/mpiscript"
)

// This file checks collective operations on communicators, which SimGrid's text has none of: the
// programs are those of testdata/oracle/smpi-mpi, which smpirun executes as programs in C.

// operations are those of the language of these programs, with their arguments.
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
func (d dice) call(operation int, comm string, ranks int) string {
	o := &operations[operation]
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

// communicators is a case: a program with the machine that it runs on.
type communicators struct {
	name     string
	platform string
	hosts    []string // lines of the host file
	options  []string
	ranks    int
	text     string // of the program
}

// drawCommunicators draws a case: one to three lists of communicators, of 2 to 13 ranks each, and
// operations on them, blocking and not.
func (m *menu) drawCommunicators(number int) *communicators {
	d := newDice(m.seed, uint64(number)|2<<32)
	kind := machineKinds[number%len(machineKinds)]
	place := kind.draw(d)
	c := &communicators{name: fmt.Sprintf("%05d-%s-communicators", number, kind.name), ranks: d.ranks(place, false)}
	c.hosts = d.mapping(place, c.ranks)
	s := drawSettings(d)
	c.options = append(slices.DeleteFunc(append(s.model, s.list...), func(o string) bool {
		name, _, _ := strings.Cut(o, ":")
		return name == "smpi/init" || name == "smpi/finalization-barrier" || name == "smpi/async-small-thresh"
	}), "smpi/async-small-thresh:0", "smpi/coll-selector:"+pick(d, m.collectives...))
	c.platform = place.document(nil)
	program := &strings.Builder{}
	var comms []drawnComm
	for i := range d.between(1, 3) {
		comms = append(comms, d.comm(fmt.Sprintf("c%d", i), c.ranks, d.between(2, min(13, c.ranks)), d.chance(0.5)))
		fmt.Fprintln(program, comms[i].line)
	}
	comms = append(comms, drawnComm{name: "world", who: "*", least: c.ranks})
	for range d.between(1, 6) {
		if d.chance(0.4) {
			fmt.Fprintf(program, "* sleep %d.5e-6 %de-6\n", d.IntN(1000), d.IntN(300))
		}
		on := pick(d, comms...)
		call := d.call(d.IntN(len(operations)), on.name, on.least)
		for range pick(d, 1, 1, 2, 5) {
			if d.chance(0.9) {
				fmt.Fprintln(program, on.who, call)
			} else {
				fmt.Fprintf(program, "%s i%s @0\n%s wait @0\n", on.who, call, on.who)
			}
		}
	}
	c.text = fmt.Sprintf("case %s %d\n%s", c.name, c.ranks, program)
	return c
}

// drawnComm is a line comm, and who is in it.
type drawnComm struct {
	name, line, who string
	least           int // ranks of the smallest
}

// comm draws communicators of some ranks, in some order.
func (d dice) comm(name string, ranks, size int, split bool) drawnComm {
	members := d.shuffled(ranks)[:size]
	switch d.IntN(3) {
	case 0:
		slices.Sort(members)
	case 1:
		slices.Sort(members)
		slices.Reverse(members)
	}
	c := drawnComm{name: name, who: ranksOf(members), line: "comm " + name, least: len(members)}
	cut := 0
	if split && len(members) >= 4 {
		cut = d.between(2, len(members)-2)
		c.least = min(cut, len(members)-cut)
	}
	for i, r := range members {
		if i == cut && i > 0 {
			c.line += " |"
		}
		c.line += " " + strconv.Itoa(r)
	}
	return c
}

// ranksOf returns the word for ranks.
func ranksOf(members []int) string {
	var words []string
	for _, r := range members {
		words = append(words, strconv.Itoa(r))
	}
	return strings.Join(words, ",")
}

// recordedMachine is the machine of the recorded cases.
const recordedMachine = `<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-15" speed="1Gf" bw="12.5GBps" lat="1us" topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2"/>
</platform>
`

// layouts are the hosts of ranks 0, 1, ... by number: in their order, in that of their names, and
// several ranks on a host, side by side, dealt around, and unevenly.
var layouts = [][]int{
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{0, 1, 10, 11, 12, 13, 14, 15, 2, 3, 4, 5, 6, 7, 8, 9},
	{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7},
	{9, 4, 2, 0, 9, 4, 2, 0, 9, 4, 2, 0, 9, 4, 2, 0},
	{3, 3, 3, 1, 1, 1, 1, 1, 12, 7, 7, 7, 7, 12, 12, 8},
	{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5},
}

// product draws the cases to record, in as many tries each: each operation by each selection on
// communicators of every other size from 2 to 13 ranks, in the order of hosts or in that of their
// names, and of two sizes with several ranks on a host.
func (m *menu) product() (list [][]*communicators) {
	for operation, o := range operations {
		for s, selector := range m.collectives {
			for i := range 8 {
				ranks, layout := 2+(operation+s)%2+2*i, (i+operation)%2
				if i >= 6 {
					ranks, layout = 5+(operation*3+s*5+i*4)%8, 2+(operation+s+2*i)%4
				}
				var tries []*communicators
				for try := range uint64(8) {
					d := newDice(m.seed, uint64(operation)<<32|uint64(s)<<16|uint64(i)<<8|try)
					tries = append(tries, d.recorded(fmt.Sprintf("%s-%s-%d", selector, o.name, i), selector, operation, ranks, layouts[layout]))
				}
				list = append(list, tries)
			}
		}
	}
	return list
}

// recorded draws a case of three calls, of different sizes, on a communicator of so many ranks.
func (d dice) recorded(name, selector string, operation, ranks int, layout []int) *communicators {
	world := min(16, ranks+d.between(1, 3))
	c := &communicators{name: name, ranks: world, platform: recordedMachine, options: []string{"smpi/coll-selector:" + selector}}
	var numbers []string
	for _, h := range layout[:world] {
		c.hosts, numbers = append(c.hosts, fmt.Sprintf("n%d", h)), append(numbers, strconv.Itoa(h))
	}
	on := d.comm("sub", world, ranks, false)
	c.text = fmt.Sprintf("case %s %d hosts:%s %s\n%s\n%s sleep 1e-6 %de-6\n", name, world, strings.Join(numbers, ","), c.options[0], on.line, on.who, d.IntN(20))
	for range 3 {
		c.text += on.who + " " + d.call(operation, "sub", on.least) + "\n"
	}
	return c
}

// record writes the cases that are recorded into a directory, with their times: of each the first
// try that SimGrid plays.
func (o *config) record(t *tools, program string) error {
	list := o.product()
	texts, errs := make([][2]string, len(list)), make([]error, len(list))
	o.each(len(list), func(i int) {
		for _, c := range list[i] {
			ends, err := t.inDirectory(c, func(dir string) ([]float64, error) { return t.execute(dir, program, c) })
			if errs[i] = err; err != nil {
				continue
			}
			texts[i][0] = "\n" + c.text
			for r, end := range ends {
				texts[i][1] += fmt.Sprintf("%s %d %.12f\n", c.name, r, end+mpiscript.Begin)
			}
			break
		}
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	cases, times := "# Collective operations on communicators; scripts/crosscheck -product draws them.\n", ""
	for i := range texts {
		cases, times = cases+texts[i][0], times+texts[i][1]
	}
	for name, text := range map[string]string{"cases.txt": cases, "times.txt": times, "platform.xml": recordedMachine} {
		if err := os.WriteFile(filepath.Join(o.products, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// each calls f for 0, 1, ... n-1, for some at a time.
func (o *config) each(n int, f func(i int)) {
	slots := make(chan struct{}, max(1, o.jobs))
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	all.Wait()
}

// inDirectory writes a case into a directory of its own, in which f is called.
func (t *tools) inDirectory(c *communicators, f func(dir string) ([]float64, error)) ([]float64, error) {
	dir, err := os.MkdirTemp("", "crosscheck")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := c.write(dir); err != nil {
		return nil, err
	}
	return f(dir)
}

// compileProgram compiles the program that plays cases, into a directory.
func compileProgram(dir string) (string, error) {
	program := filepath.Join(dir, "program")
	out, err := exec.Command("smpicc", "-O1", "-o", program, filepath.Join(mpiscript.Dir(), "program.c")).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("smpicc program.c: %w\n%s", err, out)
	}
	return program, nil
}

// write stores a case in a directory.
func (c *communicators) write(dir string) error {
	data, err := mpiscript.Parse(c.text)[0].Trace()
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"cases.txt": c.text, "platform.xml": c.platform, "hostfile": lines(c.hosts), "cfg": lines(c.options), "trace.zst": string(data)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// execute returns when the ranks of a case end, from where they begin, by smpirun that executes the
// program in C.
func (t *tools) execute(dir, program string, c *communicators, options ...string) ([]float64, error) {
	args := []string{"-np", strconv.Itoa(c.ranks), "-platform", "platform.xml", "-hostfile", "hostfile", "--log=root.thres:error"}
	for _, o := range slices.Concat([]string{"smpi/simulate-computation:no", "smpi/wtime:0", "smpi/privatization:no", "smpi/host-speed:1Gf",
		"network/optim:Full", "cpu/optim:Full"}, c.options, options) {
		args = append(args, "--cfg="+o)
	}
	out, err := t.run(dir, []string{"TMPDIR=" + dir}, "smpirun", append(args, program, "cases.txt", c.name)...)
	if err != nil {
		return nil, err
	}
	ends := make([]float64, c.ranks)
	n := 0
	for l := range bytes.Lines(out) {
		name, rank, end := "", 0, 0.0
		if _, err := fmt.Sscan(string(l), &name, &rank, &end); err == nil && name == c.name {
			ends[rank] = end - mpiscript.Begin
			n++
		}
	}
	if n != c.ranks {
		return nil, fmt.Errorf("smpirun: %d of %d ranks end: %s", n, c.ranks, firstLines(string(out)))
	}
	return ends, nil
}

// replayTrace is execute by replay, of the trace.
func (t *tools) replayTrace(dir string, c *communicators, options ...string) ([]float64, error) {
	return t.replayed(dir, "trace.zst", slices.Concat([]string{"smpi/simulate-computation:no"}, c.options, options))
}

// outcome is what became of a case of communicators.
type outcome struct {
	refused, failed error
	worst           deviance
	sensitive       bool // off, but not with tighter tolerances of both simulators
}

func (t *tools) checkCommunicators(program string, c *communicators, keep string) (*outcome, error) {
	o := &outcome{}
	play := func(options ...string) {
		var theirs []float64
		theirs, o.refused = t.inDirectory(c, func(dir string) ([]float64, error) { return t.execute(dir, program, c, options...) })
		if o.refused != nil {
			return
		}
		ours, err := t.inDirectory(c, func(dir string) ([]float64, error) { return t.replayTrace(dir, c, options...) })
		if o.failed = err; err == nil {
			o.worst = compare(&timeline{ends: theirs}, &timeline{ends: ours})
		}
	}
	play()
	if o.refused != nil || o.failed == nil && o.worst.tolerances <= 1 {
		return o, nil
	}
	if first := o.worst; o.failed == nil {
		play("surf/precision:1e-13", "maxmin/precision:1e-9")
		o.sensitive = o.refused == nil && o.failed == nil && o.worst.tolerances <= 1
		o.refused, o.worst = nil, first
	}
	kept := filepath.Join(keep, c.name)
	if err := errors.Join(os.RemoveAll(kept), os.MkdirAll(kept, 0o755)); err != nil {
		return nil, err
	}
	return o, c.write(kept)
}

// listCommunicators returns the cases to check.
func (o *config) listCommunicators() (list []*communicators, err error) {
	for _, dir := range o.dirs {
		c := &communicators{}
		text := map[string]string{}
		for _, name := range []string{"cases.txt", "platform.xml", "hostfile", "cfg"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return nil, err
			}
			text[name] = string(b)
		}
		c.text, c.platform, c.hosts, c.options = text["cases.txt"], text["platform.xml"], strings.Fields(text["hostfile"]), strings.Fields(text["cfg"])
		parsed := mpiscript.Parse(c.text)[0]
		c.name, c.ranks = parsed.Name, parsed.Ranks
		list = append(list, c)
	}
	switch {
	case list != nil:
	case o.only >= 0:
		list = append(list, o.drawCommunicators(o.only))
	default:
		for i := range o.communicators {
			list = append(list, o.drawCommunicators(i))
		}
	}
	return list, nil
}

// checkCommunicators checks cases of communicators and reports, or records those of product.
func (o *config) checkCommunicators(t *tools, dir string, w io.Writer) error {
	t.patience = 20 * time.Second // some algorithms do not end
	program, err := compileProgram(dir)
	if err != nil {
		return err
	}
	if o.products != "" {
		return o.record(t, program)
	}
	cases, err := o.listCommunicators()
	if err != nil {
		return err
	}
	count := len(cases)
	outcomes, errs := make([]*outcome, count), make([]error, count)
	o.each(count, func(i int) { outcomes[i], errs[i] = t.checkCommunicators(program, cases[i], o.keep) })
	off, sensitive, refused, worst := 0, 0, 0, 0.0
	for i, v := range outcomes {
		if errs[i] != nil {
			return errs[i]
		}
		c := cases[i]
		switch {
		case v.refused != nil:
			refused++
			if o.verbose {
				fmt.Fprintf(w, "%s: refused: %.200s\n", c.name, strings.ReplaceAll(v.refused.Error(), "\n", " "))
			}
			continue
		case v.failed != nil:
			off++
			fmt.Fprintf(w, "%s: %v\n", c.name, v.failed)
			continue
		case v.sensitive:
			sensitive++
		case v.worst.tolerances > 1:
			off++
		default:
			worst = max(worst, v.worst.tolerances)
			continue
		}
		fmt.Fprintf(w, "%s: rank %d ends at %.12g, in SimGrid at %.12g: %.3g tolerances; sensitive: %v\n    go run ./scripts/crosscheck -communicators 1 %s\n",
			c.name, v.worst.rank, v.worst.ours, v.worst.theirs, v.worst.tolerances, v.sensitive, filepath.Join(o.keep, c.name))
	}
	fmt.Fprintf(w, "%d cases of communicators, %d off, %d sensitive, %d refused by smpirun, worst of the others %.2g of the tolerance\n", count, off, sensitive, refused, worst)
	switch {
	case off > 0:
		return fmt.Errorf("%d of %d cases of communicators are off", off, count)
	case 4*refused > count:
		return fmt.Errorf("%d of %d cases of communicators were refused by smpirun", refused, count)
	}
	return nil
}
