package measure

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"reprise/noise"
)

// loopProgram times HPCG's kernels in the order of the run, which decides what is in the caches.
type loopProgram struct {
	boxes []box
	sets  []loopSet
}

// loopSet is a set of iterations on a box, or some of one, in the order in which they are made.
type loopSet struct {
	box   int
	calls []loopCall
}

// mostSets is how often a set of iterations is made on a box, at most.
const mostSets = 100

// guessTooHigh is how much quicker than the first guess loops may be, which counts on all cores of a node.
const guessTooHigh = 20

// notRecorded stands in the order for a call that is made but not recorded.
const notRecorded = -1

func (*loopProgram) source() string { return "loops.c" }

// flags are those with which HPCG's own files for Linux compile it. Without -ffast-math a dot product is a
// sum in order, which takes twice as long.
func (*loopProgram) flags() []string { return []string{"-O3", "-ffast-math"} }

func (l *loopProgram) bytes() (sum int64) {
	for _, b := range l.boxes {
		sum += b.bytes()
	}
	return sum
}

func (l *loopProgram) passes(p *Plan) string {
	return fmt.Sprintf("in at most %d sets of %d iterations on each rank and box", p.Passes, loopIterations)
}

func (l *loopProgram) space() string {
	text := "as " + strconv.Itoa(loopIterations) + " iterations of a run leave them, on boxes of"
	for i, b := range l.boxes {
		if i > 0 {
			text += ","
		}
		text += " " + b.String()
	}
	return text + " points (" + humanBytes(l.bytes()) + " a rank)"
}

func (l *loopProgram) arguments(f files, o *Options, rank, ranks int) ([]string, error) {
	return []string{f.plan, f.shared, seconds(o), strconv.Itoa(rank), strconv.Itoa(ranks), strconv.Itoa(len(l.boxes))}, nil
}

func (l *loopProgram) write(_ *Plan, w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, x := range l.boxes {
		fmt.Fprintf(b, "%d %d %d %d %d %d\n", x.n[0], x.n[1], x.n[2], x.near[0], x.near[1], x.near[2])
	}
	for _, s := range l.sets {
		for _, c := range s.calls {
			fmt.Fprintf(b, "%d %s %d %s %d %g\n", s.box, c.kernel, c.level, c.vectors, c.n, c.beta)
		}
	}
	return b.Flush()
}

// planLoops plans the loops of HPCG: sets of iterations, on one box after the other, each time in an order of its own. What the
// first iteration after another box takes is not recorded.
func (p *Plan) planLoops(run *RunCalls, o *Options) error {
	if !slices.Equal(o.Operands, []Operands{AsRun}) {
		return OptionError{errors.New("HPCG's kernels are timed in the order of the run, which decides what is in the caches: leave out --operands")}
	}
	boxes, err := run.boxesOfRuns()
	if err != nil {
		return err
	}
	l := &loopProgram{boxes: boxes}
	p.program = l
	if l.bytes() > o.Memory {
		return fmt.Errorf("the matrices of %s, %s a rank, do not fit into %s: give more --memory, or measure for a run of smaller boxes", l.space(), humanBytes(l.bytes()), humanBytes(o.Memory))
	}
	if len(boxes) == 0 {
		return errors.New("the run calls no symgs on the finest grid: the boxes of its ranks are not known")
	}
	calls := p.loopCalls(run, boxes)
	source := noise.NewSource(o.Seed)
	once := 0.0
	for _, b := range boxes {
		once += run.guessOfSet(b)
	}
	p.Passes = int(min(mostSets, max(1, math.Ceil(guessTooHigh*o.Budget.Seconds()/once))))
	last := -1
	order := make([]int, len(boxes))
	for i := range order {
		order[i] = i
	}
	for pass := range p.Passes {
		shuffle(order, source, uint32(pass), 0)
		for _, at := range order {
			p.addSet(l, at, at != last, calls)
			last = at
		}
	}
	return nil
}

// addSet adds a set on a box to the order, after an iteration that is not recorded if caches are those of another one.
func (p *Plan) addSet(l *loopProgram, at int, cold bool, calls map[loopKey]int) {
	list := l.boxes[at].set(loopIterations)
	if cold {
		warm := l.boxes[at].set(1)
		l.sets = append(l.sets, loopSet{at, warm})
		for range warm {
			p.Order = append(p.Order, notRecorded)
		}
	}
	l.sets = append(l.sets, loopSet{at, list})
	for _, c := range list {
		number, ok := calls[loopKey{c.kernel, c.dims}]
		if !ok {
			number = notRecorded
		}
		p.Order = append(p.Order, number)
	}
}

// loopKey tells calls apart.
type loopKey struct {
	kernel string
	dims   [4]int64
}

// loopCalls lists the different calls that are recorded: those of the kernels that are to be timed.
func (p *Plan) loopCalls(run *RunCalls, boxes []box) map[loopKey]int {
	numbers, guesses := map[string]int{}, map[string]func(*[4]int64) float64{}
	for _, k := range run.timed() {
		numbers[k.kernel.Name], guesses[k.kernel.Name] = len(p.Kernels), k.guess
		p.Kernels = append(p.Kernels, k.kernel)
	}
	index := map[loopKey]int{}
	for _, b := range boxes {
		for _, c := range b.set(2) {
			number, timed := numbers[c.kernel]
			key := loopKey{c.kernel, c.dims}
			if _, ok := index[key]; ok || !timed {
				continue
			}
			index[key] = len(p.Calls)
			p.Calls = append(p.Calls, Call{Kernel: number, Dims: c.dims, Operands: AsRun, guess: guesses[c.kernel](&c.dims)})
		}
	}
	return index
}

// guessOfSet returns a guess of what a set on a box takes, in seconds.
func (r *RunCalls) guessOfSet(b box) (sum float64) {
	for _, c := range b.set(loopIterations) {
		at := slices.IndexFunc(r.kernels, func(k *kernelCalls) bool { return k.kernel.Name == c.kernel })
		if at >= 0 {
			sum += r.kernels[at].guess(&c.dims)
		}
	}
	return sum
}

// boxesOfRuns returns the different boxes of the runs that were added, or of the only one.
func (r *RunCalls) boxesOfRuns() ([]box, error) {
	if len(r.shapes) == 0 {
		return r.boxes()
	}
	return r.runBoxes, nil
}
