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
	"time"

	"reprise/internal/mpiscript"
)

// operations are those of the programs' language, that of testdata/oracle/smpi-mpi, with their arguments.
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
func (d dice) call(comm string, ranks int) string {
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

// communicators is a case: a program with the machine that it runs on.
type communicators struct {
	name     string
	platform string
	hosts    []string // lines of the host file
	options  []string
	ranks    int
	text     string // of the program
}

// drawCommunicators draws a case: one to three lists of communicators, of 2 to 13 ranks each, in order,
// reversed or mixed, and operations on them, blocking and not.
func (m *menu) drawCommunicators(number int) *communicators {
	d := newDice(m.seed, uint64(number)|2<<32)
	kind := machineKinds[number%len(machineKinds)]
	place := &machine{dice: d}
	kind.draw(place)
	c := &communicators{name: fmt.Sprintf("%05d-%s-communicators", number, kind.name), ranks: d.ranks(place, false), platform: place.document(nil)}
	c.hosts = d.mapping(place, c.ranks)
	s := drawSettings(d)
	c.options = append(slices.DeleteFunc(append(s.model, s.list...), func(o string) bool {
		name, _, _ := strings.Cut(o, ":")
		return name == "smpi/init" || name == "smpi/finalization-barrier" || name == "smpi/async-small-thresh"
	}), "smpi/async-small-thresh:0", "smpi/coll-selector:"+pick(d, m.collectives...))
	type comm struct {
		name, who string
		least     int // ranks of the smallest
	}
	comms := []comm{{"world", "*", c.ranks}}
	program := &strings.Builder{}
	fmt.Fprintf(program, "case %s %d\n", c.name, c.ranks)
	for i := range d.between(1, 3) {
		size := d.between(2, min(13, c.ranks))
		members := d.Perm(c.ranks)[:size]
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

// write stores a case in a directory.
func (c *communicators) write(dir string) error {
	data, err := mpiscript.Parse(c.text)[0].Trace()
	if err != nil {
		return err
	}
	return writeFiles(dir, map[string]string{"cases.txt": c.text, "platform.xml": c.platform, "hostfile": joinLines(c.hosts), "cfg": joinLines(c.options), "trace.zst": string(data)})
}

// loadCommunicators reads a case from a directory.
func loadCommunicators(dir string) (*communicators, error) {
	text, err := readFiles(dir, "cases.txt", "platform.xml", "hostfile", "cfg")
	if err != nil {
		return nil, err
	}
	parsed := mpiscript.Parse(text["cases.txt"])[0]
	return &communicators{parsed.Name, text["platform.xml"], strings.Fields(text["hostfile"]), strings.Fields(text["cfg"]), parsed.Ranks, text["cases.txt"]}, nil
}

// execute returns when the ranks of a case end, from where they begin, by smpirun that executes the
// program in C.
func (t *tools) execute(dir, program string, c *communicators, options []string) ([]float64, error) {
	args := []string{"-np", strconv.Itoa(c.ranks), "-platform", "platform.xml", "-hostfile", "hostfile", "--log=root.thres:error"}
	for _, o := range append([]string{"smpi/simulate-computation:no", "smpi/wtime:0", "smpi/privatization:no", "smpi/host-speed:1Gf",
		"network/optim:Full", "cpu/optim:Full"}, options...) {
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
		return nil, fmt.Errorf("smpirun: %d of %d ranks end: %.400s", n, c.ranks, out)
	}
	return ends, nil
}

// outcome is the result of a case of communicators.
type outcome struct {
	refused, failed error
	worst           deviance
	sensitive       bool // off, but not with tighter tolerances of both simulators
}

func (t *tools) checkCommunicators(program string, c *communicators, keep string) (o outcome, err error) {
	play := func(more ...string) (theirs, ours []float64, refused, failed error) {
		options := slices.Concat(c.options, more)
		err = errors.Join(err, inDirectory(c.write, func(dir string) {
			if theirs, refused = t.execute(dir, program, c, options); refused == nil {
				ours, failed = t.replayed(dir, "trace.zst", append([]string{"smpi/simulate-computation:no"}, options...))
			}
		}))
		return theirs, ours, refused, failed
	}
	theirs, ours, refused, failed := play()
	if o.refused, o.failed = refused, failed; err != nil || refused != nil {
		return o, err
	}
	if failed == nil {
		if o.worst, _ = compare(&timeline{ends: theirs}, &timeline{ends: ours}); o.worst.tolerances <= 1 {
			return o, nil
		}
		if theirs, ours, refused, failed = play("surf/precision:1e-13", "maxmin/precision:1e-9"); err == nil && refused == nil && failed == nil {
			tight, _ := compare(&timeline{ends: theirs}, &timeline{ends: ours})
			o.sensitive = tight.tolerances <= 1
		}
	}
	kept := filepath.Join(keep, c.name)
	return o, errors.Join(err, os.RemoveAll(kept), c.write(kept))
}

// checkCommunicators checks cases of communicators and reports.
func (o *config) checkCommunicators(t *tools, dir string, w io.Writer) error {
	t.patience = 20 * time.Second // some algorithms do not end
	program := filepath.Join(dir, "program")
	out, err := exec.Command("smpicc", "-O1", "-o", program, filepath.Join(mpiscript.Dir(), "program.c")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("smpicc program.c: %w\n%s", err, out)
	}
	var cases []*communicators
	for _, dir := range o.dirs {
		c, err := loadCommunicators(dir)
		if err != nil {
			return err
		}
		cases = append(cases, c)
	}
	for i := range o.communicators {
		if o.dirs == nil && (o.only < 0 || o.only == i) {
			cases = append(cases, o.drawCommunicators(i))
		}
	}
	outcomes, errs := make([]outcome, len(cases)), make([]error, len(cases))
	o.each(len(cases), func(i int) { outcomes[i], errs[i] = t.checkCommunicators(program, cases[i], o.keep) })
	if err := errors.Join(errs...); err != nil {
		return err
	}
	off, sensitive, refused, worst := 0, 0, 0, 0.0
	for i, v := range outcomes {
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
	fmt.Fprintf(w, "%d cases of communicators, %d off, %d sensitive, %d refused by smpirun, worst of the others %.2g of the tolerance\n",
		len(cases), off, sensitive, refused, worst)
	return judge(len(cases), off, refused)
}
