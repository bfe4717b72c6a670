package measure

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"reprise/kernels/noise"
	"reprise/trace/warning"
)

// Plan is what is measured, in which order.
type Plan struct {
	Groups   [][]int // cores of each rank
	Kernels  []Kernel
	Calls    []Call // different ones
	Order    []int  // indices of Calls, as they are made, or notRecorded; the first WarmUp are not recorded either
	WarmUp   int
	Passes   int // how often each call is made, at most
	Warnings []warning.Warning

	program program
	shapes  []shape // of the runs of HPL
	space   space
	cached  int64 // elements that the caches hold for a process
}

// Call is a call that is timed again and again.
type Call struct {
	Kernel   int // index in Kernels
	Dims     [4]int64
	Operands Operands

	shape int     // that of the run it comes from: index in the plan's
	guess float64 // seconds, with all that is done for it
}

// space is the memory of each process, in elements, which is as large as the largest run needs.
type space struct{ matrix, triangles, work, swept, passed int64 }

func (s *space) bytes() int64 { return 8 * (s.matrix + s.triangles + s.work + s.swept + s.passed) }

// Numbers of sizes and passes.
const (
	fewestSizes = 5               // of a kernel
	mostSizes   = 80              // of a kernel that takes all of the run's time
	someSizes   = 10              // of one that takes none
	mostScale   = 1.5 * 1.5 * 1.5 // times as many sizes where the budget has room for all passes over them
	mostPasses  = 30
	aFewPasses  = 5
)

// callOverhead is what a call takes besides itself and its operands, in seconds.
const callOverhead = 20e-6

// useOrder is a use of random numbers.
const useOrder noise.Use = 0x6d656173

// OptionError is about options that do not go together on this machine.
type OptionError struct{ error }

// NewPlan plans what is timed of a run. Errors about options are an [OptionError], or [Options.Validate]'s.
//
// Of HPL it chooses sizes from the calls, as many of each kernel as its part of the
// run's time asks for and as have room in the budget, and an order: pass after pass over all of
// them, each in an order of its own, so that no drift of the machine passes for an effect of the size. Sizes that do
// not fit into memory or budget are made smaller.
//
// Of HPCG it takes the boxes and the order of the run: what is in the caches when a loop begins is what
// decides its time.
func NewPlan(run *RunCalls, o Options) (*Plan, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	p := &Plan{}
	var err error
	if p.Groups, err = coreGroups(&o); err != nil {
		return nil, err
	}
	total := p.leaveOut(run)
	known := run.timed()
	loops := 0
	for _, k := range known {
		if k.kernel.isLoop() {
			loops++
		}
	}
	switch {
	case len(known) == 0:
		return nil, errors.New("the run calls no kernel that can be timed")
	case loops == len(known):
		return p, p.planLoops(run, &o)
	case loops > 0:
		return nil, errors.New("kernels of HPL and of HPCG: measure for runs of the one and of the other by themselves, as other memory is read between them")
	}
	p.planBLAS(run, known, total, &o)
	return p, nil
}

// planBLAS plans the kernels of HPL, of a run that takes so many seconds in all.
func (p *Plan) planBLAS(run *RunCalls, known []*kernelCalls, total float64, o *Options) {
	p.program = blasProgram{p}
	for _, k := range known {
		p.Kernels = append(p.Kernels, k.kernel)
	}
	shapes := run.shapes // of the runs that were added, or of the only one
	if len(shapes) == 0 {
		shapes = []shape{run.shape()}
	}
	p.allot(shapes, o)
	for scale := mostScale; ; scale /= 1.5 {
		p.choose(known, total, scale, o)
		passes, enough := o.Budget.Seconds()/p.seconds(p.Calls), float64(aFewPasses)
		if scale > 1 {
			enough = mostPasses
		}
		if passes >= enough || scale < 0.05 {
			p.Passes = int(min(mostPasses, max(1, math.Ceil(2*passes)))) // the guess may be too high
			break
		}
	}
	p.shrink(known, o)
	p.order(noise.NewSource(o.Seed))
}

// leaveOut warns of kernels of the run that cannot be timed, and returns the guess of the
// time of all kernels, in seconds.
func (p *Plan) leaveOut(run *RunCalls) (total float64) {
	for _, k := range run.kernels {
		total += k.seconds()
	}
	for _, k := range run.kernels {
		if len(k.calls) > 0 && !k.omit && !k.kernel.CanTime() {
			p.Warnings = append(p.Warnings,
				warning.New("%v: no way to time it is known; about %.2g %% of the run's time: add its model to the kernel file by hand",
					&k.kernel, 100*k.seconds()/total))
		}
	}
	return total
}

// allot divides the memory of a process: matrices get what their runs have, or
// three eighths of what there is.
func (p *Plan) allot(shapes []shape, o *Options) {
	room := o.Memory / 8
	p.cached = min(o.cached(), room/16)
	p.space.passed = p.cached
	p.shapes = slices.Clone(shapes)
	for i := range p.shapes {
		s := &p.shapes[i]
		s.limit(room/8*3, int64(math.Sqrt(float64(room/16/int64(len(shapes))))))
		p.space.matrix = max(p.space.matrix, s.rows*s.columns)
		p.space.triangles += s.nb * s.nb
	}
	if slices.Contains(o.Operands, Cold) {
		p.space.swept = min(32*o.cached()+4<<20, o.Memory/4) / 8
	}
}

// choose takes sizes of each kernel, for each kind of operands.
func (p *Plan) choose(list []*kernelCalls, total, scale float64, o *Options) {
	p.Calls = nil
	for i, k := range list {
		share := k.seconds() / total
		n := int(scale * (someSizes + float64((mostSizes-someSizes)*math.Sqrt(share))))
		var last [4]int64
		for _, d := range k.choose(max(n, fewestSizes)) {
			shape := k.calls[d].run
			if d = p.fit(&k.kernel, d, &p.shapes[shape], o); d == last {
				continue
			}
			last = d
			for _, operands := range o.Operands {
				p.add(k, Call{Kernel: i, Dims: d, Operands: operands, shape: shape})
			}
		}
	}
}

// add adds a call with a guess of what it takes with all that is read before it, at some GB/s.
func (p *Plan) add(k *kernelCalls, c Call) {
	s := &p.shapes[c.shape]
	n := forms[k.kernel.Name].needs(&k.kernel, &c.Dims, s.nb)
	read := float64(n.work)
	if k.kernel.Name == "dcopy" || n.rows == 1 {
		read += float64(s.rows) * float64(n.columns) // of a panel
	}
	if n.columns > s.nb {
		read += 2 * float64(min(p.cached, s.rows*n.columns)) // of what remains at a step, and of what comes between
	}
	if c.Operands == Cold {
		read = float64(p.space.swept)
	}
	c.guess = k.guess(&c.Dims) + callOverhead + float64(read*2e-9)
	p.Calls = append(p.Calls, c)
}

// fit makes a size smaller until there is room for it: the dimension with the largest extent is halved, but
// never K, which is a block size.
func (p *Plan) fit(k *Kernel, d [4]int64, s *shape, o *Options) [4]int64 {
	for !s.hasRoom(k, &d, o.Memory/8/4) && halve(k, &d) {
	}
	return d
}

// halve halves the largest dimension, but for K while another is larger than 1.
func halve(k *Kernel, d *[4]int64) bool {
	at := -1
	for i, name := range k.Dims {
		if name != "K" && name != "ROLE" && d[i] > 1 && (at < 0 || d[i] > d[at]) {
			at = i
		}
	}
	if at < 0 {
		at = slices.Index(k.Dims, "K")
	}
	if at < 0 || d[at] <= 1 {
		return false
	}
	d[at] = (d[at] + 1) / 2
	return true
}

// shrink makes the longest calls shorter while a few passes do not fit into the budget, and
// takes the memory that the calls need.
func (p *Plan) shrink(list []*kernelCalls, o *Options) {
	smaller := 0
	for {
		longest := 0
		for i := range p.Calls {
			if p.Calls[i].guess > p.Calls[longest].guess {
				longest = i
			}
		}
		c := &p.Calls[longest]
		if 2*p.seconds(p.Calls) <= o.Budget.Seconds() || !halve(&p.Kernels[c.Kernel], &c.Dims) {
			break
		}
		k := list[c.Kernel]
		c.guess = k.guess(&c.Dims) + callOverhead
		smaller++
	}
	if smaller > 0 {
		p.Warnings = append(p.Warnings,
			warning.New("a budget of %v is short: %d times a size was halved; more budget measures what the run does", o.Budget,
				smaller))
	}
	for i := range p.Calls {
		k := &p.Kernels[p.Calls[i].Kernel]
		n := forms[k.Name].needs(k, &p.Calls[i].Dims, p.shapes[p.Calls[i].shape].nb)
		p.space.work = max(p.space.work, n.work+64)
	}
}

func (p *Plan) seconds(calls []Call) (sum float64) {
	for i := range calls {
		sum += calls[i].guess
	}
	return sum
}

// order sets the order of the calls: one of each kernel to warm up, then the passes.
func (p *Plan) order(source noise.Source) {
	for i := range p.Kernels {
		if at := slices.IndexFunc(p.Calls, func(c Call) bool { return c.Kernel == i }); at >= 0 {
			p.Order = append(p.Order, at)
		}
	}
	p.WarmUp = len(p.Order)
	for pass := range p.Passes {
		p.Order = append(p.Order, p.pass(source, uint32(pass))...)
	}
}

// pass returns the calls in an order of its own: run after run, so that what is in the caches is of the same run.
func (p *Plan) pass(source noise.Source, pass uint32) (list []int) {
	runs := make([]int, len(p.shapes))
	for i := range runs {
		runs[i] = i
	}
	shuffle(runs, source, pass, 0)
	for _, run := range runs {
		first := len(list)
		for i := range p.Calls {
			if p.Calls[i].shape == run {
				list = append(list, i)
			}
		}
		shuffle(list[first:], source, pass, 1+uint32(run))
	}
	return list
}

// shuffle puts the list into one of all orders, each as likely (Fisher and Yates;
// 64 random bits leave a bias of less than 2^-40).
func shuffle(list []int, source noise.Source, pass, part uint32) {
	for i := len(list) - 1; i > 0; i-- {
		bits := source.Draw(useOrder, part, pass, uint32(i))
		j := int((uint64(bits[0])<<32 | uint64(bits[1])) % uint64(i+1))
		list[i], list[j] = list[j], list[i]
	}
}

// write writes the plan as the program reads it.
func (p *Plan) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i := range p.shapes {
		s := &p.shapes[i]
		fmt.Fprintf(b, "%d %d %d %d %d\n", s.rows, s.columns, s.nb, flag(s.inPlace), flag(s.wholeRows))
	}
	for _, i := range p.Order {
		c := &p.Calls[i]
		k := &p.Kernels[c.Kernel]
		fmt.Fprintf(b, "%d %s %s %d %d %d %d %c\n", c.shape, k.Name, k.letters(), c.Dims[0], c.Dims[1], c.Dims[2], c.Dims[3],
			c.Operands[0])
	}
	return b.Flush()
}

// recorded returns how many timings of a rank are recorded.
func (p *Plan) recorded() (n int) {
	for _, number := range p.Order[p.WarmUp:] {
		if number != notRecorded {
			n++
		}
	}
	return n
}

// flag returns 1 for true.
func flag(is bool) int {
	if is {
		return 1
	}
	return 0
}

// Longest returns the guess of the longest call, in seconds.
func (p *Plan) Longest() float64 {
	return slices.MaxFunc(p.Calls, func(a, b Call) int { return cmp.Compare(a.guess, b.guess) }).guess
}

// Bytes returns the memory that all processes take.
func (p *Plan) Bytes() int64 { return times(int64(len(p.Groups)), p.program.bytes()) }

// shape is what a run's part of a process looks like: its kernels are timed in it.
type shape struct {
	rows, columns int64 // of the matrix; rows are its leading dimension
	nb            int64 // columns of a panel
	inPlace       bool  // rows are swapped in the matrix: the run has one process row
	wholeRows     bool  // a panel stays in the matrix: the run has one process column
}

// nearlyWhole is the part of the rows that a process has for sure, where the run has one process column:
// sizes of blocks do not divide.
const nearlyWhole = 0.9

// shape returns that of a run whose calls were added to r.
func (r *RunCalls) shape() shape {
	s := shape{nb: 1, inPlace: true}
	r.eachTimed(func(k *Kernel, d [4]int64) {
		if k.Name == "dgemm" {
			s.nb = max(s.nb, d[2])
		}
		s.inPlace = s.inPlace && !strings.HasPrefix(k.Name, "dlaswp01") && !strings.HasPrefix(k.Name, "dlaswp06")
	})
	r.eachTimed(func(k *Kernel, d [4]int64) {
		n := forms[k.Name].needs(k, &d, s.nb)
		s.rows, s.columns = max(s.rows, n.rows), max(s.columns, n.columns)
	})
	// Of N rows and columns on P x Q ranks a process has N/P and N/Q: their ratio is P/Q, which is P*Q where Q is 1.
	s.wholeRows = r.Ranks > 0 && float64(s.columns) >= nearlyWhole*float64(s.rows)*float64(r.Ranks)
	return s
}

func (r *RunCalls) eachTimed(f func(k *Kernel, d [4]int64)) {
	for _, k := range r.kernels {
		for d := range k.calls {
			if k.kernel.isHPL() {
				f(&k.kernel, d)
			}
		}
	}
}

// limit makes the matrix one of at most so many elements, and panels of at most so many columns.
func (s *shape) limit(elements, nb int64) {
	s.nb = min(s.nb, nb)
	s.rows = min(s.rows, elements/(2*s.nb+2))
	if s.rows = (s.rows + 7) / 8 * 8; s.rows&(s.rows-1) == 0 { // HPL avoids powers of two
		s.rows += 8
	}
	s.columns = max(2*s.nb+1, min(s.columns, elements/s.rows))
}

// hasRoom reports whether there is room for a call, which may have so many elements of work space.
func (s *shape) hasRoom(k *Kernel, d *[4]int64, work int64) bool {
	n := forms[k.Name].needs(k, d, s.nb)
	return n.rows <= s.rows && n.columns <= s.columns && n.order <= s.nb && n.work <= work
}

// largest returns the shape with the largest matrix.
func (p *Plan) largest() *shape {
	at := 0
	for i := range p.shapes {
		if p.shapes[i].rows*p.shapes[i].columns > p.shapes[at].rows*p.shapes[at].columns {
			at = i
		}
	}
	return &p.shapes[at]
}

// panels returns the different widths of panels.
func (p *Plan) panels() (list []int64) {
	for i := range p.shapes {
		list = append(list, p.shapes[i].nb)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// program is a C program of the directory helper that times the calls of a plan.
type program interface {
	source() string  // its file
	flags() []string // of the compiler, unless others are asked for
	arguments(f files, o *Options, rank, ranks int) ([]string, error)
	write(p *Plan, w io.Writer) error // the plan, as it reads it
	space() string                    // what calls work in, for people
	bytes() int64                     // of a process
	passes(p *Plan) string            // how often calls are made, for people
}

// files are what the processes have in common.
type files struct{ program, plan, shared string }

// seconds returns after how many of them no call begins.
func seconds(o *Options) string { return strconv.FormatFloat(o.Budget.Seconds(), 'g', -1, 64) }

// blasProgram times HPL's kernels: those of BLAS, and copies and row swaps.
type blasProgram struct{ *Plan }

func (blasProgram) source() string { return "kernels.c" }

// flags: HPL's copies are unrolled by hand, over pointers that may be equal, so that no compiler makes vectors of them.
func (blasProgram) flags() []string { return []string{"-O3", "-fno-tree-vectorize"} }

func (b blasProgram) bytes() int64 { return b.Plan.space.bytes() }

func (b blasProgram) arguments(f files, o *Options, rank, ranks int) ([]string, error) {
	library := o.BLAS
	if strings.ContainsRune(library, filepath.Separator) {
		if _, err := os.Stat(library); err != nil {
			return nil, fmt.Errorf("BLAS: %w", err)
		}
		var err error
		if library, err = filepath.Abs(library); err != nil {
			return nil, err
		}
	}
	list := []string{library, f.plan, f.shared, seconds(o), strconv.FormatUint(o.Seed, 10)}
	s := &b.Plan.space
	for _, n := range []int64{int64(rank), int64(ranks), int64(len(b.shapes)), s.work, s.swept, b.cached} {
		list = append(list, strconv.FormatInt(n, 10))
	}
	return list, nil
}

func (b blasProgram) write(p *Plan, w io.Writer) error { return p.write(w) }

func (blasProgram) passes(p *Plan) string {
	return fmt.Sprintf("at most %d times each on each rank, after %d calls to warm up", p.Passes, p.WarmUp)
}

func (b blasProgram) space() string {
	s := b.largest()
	text := fmt.Sprintf("in a matrix of %d x %d (%s), panels of %s columns", s.rows, s.columns,
		humanBytes(8*s.rows*s.columns), strings.ReplaceAll(strings.Trim(fmt.Sprint(b.panels()), "[]"), " ", ", "))
	if len(b.shapes) > 1 {
		text += fmt.Sprintf(", or as large as that of their run, of %d", len(b.shapes))
	}
	if swept := b.Plan.space.swept; swept > 0 {
		text += fmt.Sprintf("; %s are read before a call on cold ones", humanBytes(8*swept))
	}
	return text
}
