package measure

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"reprise/internal/textutil"
	"reprise/kernels/noise"
	"reprise/trace/warning"
)

// This file plans a measurement (NewPlan): which calls are timed, and in which order.

// Plan holds the calls that are measured, and their order.
type Plan struct {
	Groups   [][]int // cores of each rank
	Kernels  []Kernel
	Calls    []Call // different ones
	Order    []Turn // calls as they are made, of which the first WarmUp are not recorded
	WarmUp   int
	Passes   int    // how often each call is made, at most
	Bytes    int64  // of memory that all processes take
	Repeats  string // how often calls are made, for people
	Space    string // the memory that the calls of a process work in, for people
	Warnings []warning.Warning

	source string   // file of the directory helper with the program that times
	flags  []string // of its compiler, unless the options have others

	// Of HPL: the matrices that calls work in, and the memory that holds them.
	shapes []shape // of the runs
	space  space
	cached int64 // elements that the caches hold for a process

	// Of HPCG: the boxes of the runs, and the sets of iterations in the order in which they are made.
	boxes []box
	sets  []loopSet
}

// Call is a call that is timed again and again. Its dimensions are in the order of its kernel.
type Call struct {
	Kernel   int // index in Kernels
	Dims     [4]int64
	Operands Operands

	shape int     // of the run that it comes from: index in the plan's shapes
	guess float64 // seconds, including the preparation of its operands
}

// Turn is a call that all ranks make at once, or the first one alone, while the others rest.
type Turn struct {
	Call  int // index of Calls, or notRecorded
	Alone bool
}

// aloneEvery is how many calls of all ranks there are for each of the first one alone. They stand between those of all,
// so that the two differ by what the ranks share, not by how quick the machine was some minutes earlier.
const aloneEvery = 5

// Planned returns the number of timings.
func (p *Plan) Planned() (n int) {
	for _, turn := range p.Order[p.WarmUp:] {
		switch {
		case turn.Call == notRecorded:
		case turn.Alone:
			n++
		default:
			n += len(p.Groups)
		}
	}
	return n
}

// space is the memory of each process, in elements of 8 bytes, as large as the largest run needs.
type space struct {
	matrix    int64 // the matrix of the run with the largest one
	triangles int64 // an NB x NB block for each run
	work      int64 // operands outside of the matrix
	swept     int64 // read before a call on cold operands, to displace everything from the caches
	passed    int64 // read before a call as in a run, in place of the calls that a run makes in between
}

func (s *space) bytes() int64 { return 8 * (s.matrix + s.triangles + s.work + s.swept + s.passed) }

// Numbers of sizes and passes.
const (
	fewestSizes = 5               // of a kernel
	mostSizes   = 80              // of a kernel that takes all of the run's time
	someSizes   = 10              // of a kernel that takes none of it
	mostScale   = 1.5 * 1.5 * 1.5 // times as many sizes where the budget has room for all passes over them
	mostPasses  = 30
	aFewPasses  = 5
)

// callOverhead is the time of a call besides its computation and the reading of its operands, in seconds.
const callOverhead = 20e-6

// useOrder is a use of random numbers, which no other package has.
const useOrder noise.Use = 0x6d656173

// OptionError is about options that do not go together on this machine.
type OptionError struct{ error }

// NewPlan plans the measurement of a run. Errors about options are an [OptionError], or [Options.Validate]'s.
//
// Of HPL it chooses sizes from the calls, as many of each kernel as its part of the run's time asks for and as have
// room in the budget, and an order: pass after pass over all of them, each in an order of its own, so that no drift of
// the machine passes for an effect of the size. Sizes that do not fit into memory or budget are made smaller.
//
// Of HPCG it takes the boxes and the order of the run: the content of the caches at the beginning
// of a loop decides its time.
func NewPlan(run *RunCalls, o Options) (plan *Plan, err error) {
	defer textutil.Stopped(&err)
	textutil.Check(o.Validate())
	p := &Plan{}

	// Each rank gets as many cores as it has threads, in the order of the cores.
	allowed, cores := textutil.Must(allowedCores()), textutil.Must(o.cores())
	for _, c := range cores {
		if !slices.Contains(allowed, c) {
			return nil, fmt.Errorf("core %d: this process may use %s only", c, numbers(allowed, ","))
		}
	}
	if need := o.Ranks * o.Threads; need > len(cores) {
		return nil, OptionError{fmt.Errorf("%d ranks of %d threads need %d cores, and there are %d: "+
			"measure with fewer --ranks-per-host or --threads, on a machine as that of the run",
			o.Ranks, o.Threads, need, len(cores))}
	}
	for i := range o.Ranks {
		p.Groups = append(p.Groups, cores[i*o.Threads:(i+1)*o.Threads])
	}

	// Kernels that nobody can time are named, with their part of the time of the run.
	// The guesses are of the right order only; here they divide the time among the kernels.
	total := 0.0 // seconds of all kernels that are wanted
	for _, k := range run.kernels {
		total += k.seconds()
	}
	var known []*kernelCalls
	hasHPL, hasLoops := false, false
	for _, k := range run.kernels {
		// Those can be timed that have the dimensions and attributes of one of HPL's or HPCG's.
		isHPL, isLoop := k.kernel.isHPL(), k.kernel.isLoop()
		switch {
		case len(k.calls) == 0 || k.omit:
		case !isHPL && !isLoop:
			p.Warnings = append(p.Warnings, warning.New("%v: no way to time it is known; about %.2g %% of the run's time: "+
				"add its model to the kernel file by hand", &k.kernel, 100*k.seconds()/total))
		default:
			known, p.Kernels = append(known, k), append(p.Kernels, k.kernel)
			hasHPL, hasLoops = hasHPL || isHPL, hasLoops || isLoop
		}
	}

	// HPL's calls are timed in random order, HPCG's in that of the run: one plan has calls of one of them.
	switch {
	case hasHPL && hasLoops:
		return nil, errors.New("kernels of HPL and of HPCG: measure for runs of the one and of the other by themselves, " +
			"as other memory is read between them")
	case hasHPL:
		p.planBLAS(run, known, total, &o)
	case hasLoops:
		return p, p.planLoops(run, known, &o)
	default:
		return nil, errors.New("the run calls no kernel that can be timed")
	}
	return p, nil
}

// planBLAS plans the kernels of HPL, of a run that takes so many seconds in all.
func (p *Plan) planBLAS(run *RunCalls, known []*kernelCalls, total float64, o *Options) {
	p.source = "kernels.c"
	// HPL's copies are unrolled by hand, over pointers that may be equal, so that no compiler makes vectors of them.
	p.flags = []string{"-O3", "-fno-tree-vectorize"}

	// The memory of a process is divided: matrices get what their runs have, or three eighths of what there is. The
	// rest is for operands outside of the matrix and for arrays that are read between calls.
	p.shapes = slices.Clone(run.shapes) // of the runs that were added, or of the only one
	if len(p.shapes) == 0 {
		p.shapes = []shape{run.shape()}
	}
	room := o.Memory / 8
	p.cached = min(o.cached(), room/16)
	p.space.passed = p.cached
	for i := range p.shapes {
		s := &p.shapes[i]
		s.nb = min(s.nb, int64(math.Sqrt(float64(room/16/int64(len(p.shapes))))))
		elements := room / 8 * 3
		s.rows = min(s.rows, elements/(2*s.nb+2))
		if s.rows = (s.rows + 7) / 8 * 8; s.rows&(s.rows-1) == 0 { // HPL avoids powers of two
			s.rows += 8
		}
		s.columns = max(2*s.nb+1, min(s.columns, elements/s.rows))
		p.space.matrix = max(p.space.matrix, s.rows*s.columns)
		p.space.triangles += s.nb * s.nb
	}
	// Cold operands need a sweep over twice a rank's part of the caches and 4 MiB, or a quarter of its memory.
	if slices.Contains(o.Operands, Cold) {
		p.space.swept = min(32*o.cached()+4<<20, o.Memory/4) / 8
	}

	// The number of sizes shrinks until the budget has room for some passes over them.
	for scale := mostScale; ; scale /= 1.5 {
		p.choose(known, total, scale, o)
		// More sizes than the time of a kernel asks for are taken only where all passes have room.
		passes, enough := o.Budget.Seconds()/p.seconds(), float64(aFewPasses)
		if scale > 1 {
			enough = mostPasses
		}
		if passes >= enough || scale < 0.05 {
			p.Passes = int(min(mostPasses, max(1, math.Ceil(2*passes)))) // the guess may be too high
			break
		}
	}

	// The longest calls get shorter as long as two passes do not fit.
	smaller := 0
	for 2*p.seconds() > o.Budget.Seconds() {
		c := &p.Calls[0]
		for i := range p.Calls {
			if p.Calls[i].guess > c.guess {
				c = &p.Calls[i]
			}
		}
		if !halve(&p.Kernels[c.Kernel], &c.Dims) {
			break
		}
		c.guess = known[c.Kernel].guess(&c.Dims) + callOverhead
		smaller++
	}
	if smaller > 0 {
		p.Warnings = append(p.Warnings, warning.New("a budget of %v is short: %d times a size was halved; "+
			"more budget measures what the run does", o.Budget, smaller))
	}
	for i := range p.Calls {
		p.space.work = max(p.space.work, p.needs(&p.Calls[i]).work+64)
	}

	// One call of each kernel warms up, as the first one loads its code, and wakes threads of the
	// BLAS; the passes come behind.
	source := noise.NewSource(o.Seed)
	for i := range p.Kernels {
		if at := slices.IndexFunc(p.Calls, func(c Call) bool { return c.Kernel == i }); at >= 0 {
			p.Order = append(p.Order, Turn{Call: at})
		}
	}
	p.WarmUp = len(p.Order)
	// A pass makes each call once, run after run, so that the caches hold data of the same run.
	// Runs have a random order, and so have the calls of each, a part of which the first rank then makes alone.
	runs := make([]int, len(p.shapes))
	for pass := range p.Passes {
		for i := range runs {
			runs[i] = i
		}
		shuffle(runs, source, uint32(pass), 0)
		for _, run := range runs {
			first := len(p.Order)
			for i := range p.Calls {
				if p.Calls[i].shape == run {
					p.Order = append(p.Order, Turn{Call: i})
				}
			}
			shuffle(p.Order[first:], source, uint32(pass), 1+uint32(run))
			for _, turn := range p.Order[first:] {
				if len(p.Groups) > 1 && (turn.Call+pass)%aloneEvery == 0 {
					p.Order = append(p.Order, Turn{turn.Call, true})
				}
			}
		}
	}

	// The description for people.
	p.Bytes = times(int64(len(p.Groups)), p.space.bytes())
	p.Repeats = fmt.Sprintf("at most %d times each on each rank, after %d calls to warm up", p.Passes, p.WarmUp)
	panels := map[int64]bool{} // their numbers of columns
	for i := range p.shapes {
		panels[p.shapes[i].nb] = true
	}
	largest := slices.MaxFunc(p.shapes, func(a, b shape) int { return cmp.Compare(a.rows*a.columns, b.rows*b.columns) })
	p.Space = fmt.Sprintf("in a matrix of %d x %d (%s), panels of %s columns", largest.rows, largest.columns,
		humanBytes(8*largest.rows*largest.columns), numbers(slices.Sorted(maps.Keys(panels)), ", "))
	if len(p.shapes) > 1 {
		p.Space += fmt.Sprintf(", or as large as that of their run, of %d", len(p.shapes))
	}
	if p.space.swept > 0 {
		p.Space += fmt.Sprintf("; %s are read before a call on cold ones", humanBytes(8*p.space.swept))
	}
}

// needs returns the memory that a call of the plan works on.
func (p *Plan) needs(c *Call) needs {
	k := &p.Kernels[c.Kernel]
	return forms[k.Name].needs(k, &c.Dims, p.shapes[c.shape].nb)
}

// choose takes sizes of each kernel, for each kind of operands. Sizes are made smaller until they
// fit into the matrix, and operands outside of it into a quarter of the memory.
func (p *Plan) choose(known []*kernelCalls, total, scale float64, o *Options) {
	p.Calls = nil
	for i, k := range known {
		// The number of sizes grows with the root of the share, so that short kernels get more than their share.
		share := k.seconds() / total
		n := int(scale * (someSizes + float64((mostSizes-someSizes)*math.Sqrt(share))))
		var last [4]int64
		for _, d := range k.choose(max(n, fewestSizes)) {
			c := Call{Kernel: i, Dims: d, shape: k.calls[d].run}
			s := &p.shapes[c.shape]
			n := p.needs(&c)
			for n.rows > s.rows || n.columns > s.columns || n.order > s.nb || n.work > o.Memory/8/4 {
				if !halve(&k.kernel, &c.Dims) {
					break
				}
				n = p.needs(&c)
			}
			if c.Dims == last {
				continue // the size before was made as small
			}
			last = c.Dims

			// The guess of a call includes all that is read before it, at some GB/s.
			read := float64(n.work)
			if k.kernel.Name == "dcopy" || n.rows == 1 {
				read += float64(s.rows) * float64(n.columns) // a panel
			}
			if n.columns > s.nb {
				read += 2 * float64(min(p.cached, s.rows*n.columns)) // the rest of the matrix, and calls in between
			}
			for _, c.Operands = range o.Operands {
				elements := read
				if c.Operands == Cold {
					elements = float64(p.space.swept)
				}
				c.guess = k.guess(&c.Dims) + callOverhead + float64(elements*2e-9)
				p.Calls = append(p.Calls, c)
			}
		}
	}
}

// halve halves the largest dimension, but never a label, and K, which is a block size, only where
// no other dimension is larger than 1. It reports whether there was one to halve.
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

// seconds returns the guess of the time of one pass.
func (p *Plan) seconds() (sum float64) {
	for i := range p.Calls {
		sum += p.Calls[i].guess
	}
	if len(p.Groups) > 1 {
		sum *= 1 + 1.0/aloneEvery
	}
	return sum
}

// shuffle puts the list into one of all orders, each as likely (Fisher and Yates;
// 64 random bits leave a bias of less than 2^-40).
func shuffle[T any](list []T, source noise.Source, pass, part uint32) {
	for i := len(list) - 1; i > 0; i-- {
		// The draw has a name of its own: part, pass and place.
		bits := source.Draw(useOrder, part, pass, uint32(i))
		j := int((uint64(bits[0])<<32 | uint64(bits[1])) % uint64(i+1))
		list[i], list[j] = list[j], list[i]
	}
}

// text returns the plan as its program reads it (helper/kernels.c, helper/loops.c): the matrices or
// boxes, then the calls in their order, each on a line.
func (p *Plan) text() []byte {
	b := &bytes.Buffer{}
	for _, x := range p.boxes {
		fmt.Fprintln(b, numbers(x.n[:], " "), numbers(x.near[:], " "))
	}
	flag := map[bool]int{true: 1}
	for _, s := range p.sets {
		for _, c := range s.calls {
			// Kernels on a matrix do not look at the number of elements, which is the first dimension of the others.
			fmt.Fprintln(b, s.box, c.kernel, c.level, c.vectors, c.dims[0], c.beta, flag[s.alone])
		}
	}
	if p.boxes != nil {
		return b.Bytes()
	}
	for i := range p.shapes {
		s := &p.shapes[i]
		fmt.Fprintln(b, s.rows, s.columns, s.nb, flag[s.inPlace], flag[s.wholeRows])
	}
	for _, turn := range p.Order {
		c := &p.Calls[turn.Call]
		k := &p.Kernels[c.Kernel]
		letters := "" // the attributes, in the order in which BLAS has them
		for _, name := range forms[k.Name].attrs {
			letters += k.attr(name)
		}
		fmt.Fprintln(b, c.shape, k.Name, cmp.Or(letters, "-"), numbers(c.Dims[:], " "), string(c.Operands[:1]), flag[turn.Alone])
	}
	return b.Bytes()
}

// shape describes a run's part of a process, in which its kernels are timed.
type shape struct {
	rows, columns int64 // of the matrix; rows are its leading dimension
	nb            int64 // columns of a panel
	inPlace       bool  // rows are swapped in the matrix: the run has one process row
	wholeRows     bool  // a panel stays in the matrix: the run has one process column
}

// nearlyWhole is the part of N/P rows that each process has at least, since N is mostly no multiple of the block size.
const nearlyWhole = 0.9

// shape returns the shape of a run whose calls were added to r.
func (r *RunCalls) shape() shape {
	s := shape{nb: 1, inPlace: true}
	// NB is the largest K of a product; only runs with several process rows swap rows between them.
	var known []*kernelCalls
	for _, k := range r.kernels {
		if !k.kernel.isHPL() || len(k.calls) == 0 {
			continue
		}
		known = append(known, k)
		for d := range k.calls {
			if k.kernel.Name == "dgemm" {
				s.nb = max(s.nb, d[2])
			}
		}
		swaps := strings.HasPrefix(k.kernel.Name, "dlaswp01") || strings.HasPrefix(k.kernel.Name, "dlaswp06")
		s.inPlace = s.inPlace && !swaps
	}
	// The matrix is as large as the largest call needs, given NB.
	for _, k := range known {
		for d := range k.calls {
			n := forms[k.kernel.Name].needs(&k.kernel, &d, s.nb)
			s.rows, s.columns = max(s.rows, n.rows), max(s.columns, n.columns)
		}
	}
	// Of N rows and columns on P x Q ranks a process has N/P and N/Q: their ratio is P/Q, which is P*Q where Q is 1.
	s.wholeRows = r.Ranks > 0 && float64(s.columns) >= nearlyWhole*float64(s.rows)*float64(r.Ranks)
	return s
}
