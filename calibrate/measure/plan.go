package measure

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reprise/noise"
)

// Plan is what is measured, in which order.
type Plan struct {
	Groups [][]int // cores of each worker
	Sizes  []Size
	Calls  []Call // of all workers, in random order; a worker makes its own in this order
}

// Call is one timing to be made.
type Call struct {
	Worker int // index in Groups
	Size   int // index in Sizes
}

// OptionError is about options that do not go together on this machine.
type OptionError struct{ error }

// NewPlan draws sizes and order. Every worker times every size as often; the
// timings of a size are spread over the whole time, so that no drift of the machine passes for one of its
// sizes. Errors about the options are of the type [OptionError], or [Options.Validate]'s.
func NewPlan(o Options) (*Plan, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	groups, err := coreGroups(&o)
	if err != nil {
		return nil, err
	}
	p := &Plan{Groups: groups, Sizes: o.Given}
	source := noise.NewSource(o.Seed)
	if len(p.Sizes) == 0 {
		for i := range o.Sizes {
			p.Sizes = append(p.Sizes, randomSize(source, i, &o))
		}
	}
	total := float64(len(p.Sizes)) * float64(o.Reps) * float64(len(groups))
	if total > maxTimings {
		return nil, OptionError{fmt.Errorf("%.0f timings, want at most %d", total, maxTimings)}
	}
	for worker := range groups {
		for size := range p.Sizes {
			for range o.Reps {
				p.Calls = append(p.Calls, Call{worker, size})
			}
		}
	}
	shuffle(p.Calls, source)
	return p, nil
}

// shuffle puts the calls into one of all orders, each as likely (Fisher and Yates;
// 64 random bits leave a bias of less than 2^-40).
func shuffle(calls []Call, source noise.Source) {
	for i := len(calls) - 1; i > 0; i-- {
		bits := source.Draw(useOrder, 0, 0, uint32(i))
		j := int((uint64(bits[0])<<32 | uint64(bits[1])) % uint64(i+1))
		calls[i], calls[j] = calls[j], calls[i]
	}
}

// coreGroups divides the cores among workers, of Threads cores each.
func coreGroups(o *Options) ([][]int, error) {
	allowed, err := allowedCores()
	if err != nil {
		return nil, err
	}
	cores := o.Cores
	if len(cores) == 0 {
		cores = allowed
	}
	for _, c := range cores {
		if !slices.Contains(allowed, c) {
			return nil, fmt.Errorf("core %d: this process may use %s only", c, coreList(allowed))
		}
	}
	if len(cores)%o.Threads != 0 {
		return nil, OptionError{fmt.Errorf("%d threads of each dgemm on %d cores: want a divisor", o.Threads, len(cores))}
	}
	var groups [][]int
	for i := 0; i < len(cores); i += o.Threads {
		groups = append(groups, cores[i:i+o.Threads])
	}
	return groups, nil
}

// coreList returns 0,2,3.
func coreList(cores []int) string {
	var texts []string
	for _, c := range cores {
		texts = append(texts, strconv.Itoa(c))
	}
	return strings.Join(texts, ",")
}

// Cores returns the cores of each worker, as 0,1; 2,3.
func (p *Plan) Cores() string {
	var texts []string
	for _, g := range p.Groups {
		texts = append(texts, coreList(g))
	}
	return strings.Join(texts, "; ")
}

// largest returns the number of elements of all matrices of the largest size.
func (p *Plan) largest() int64 {
	var most int64
	for _, s := range p.Sizes {
		most = max(most, s.Bytes()/8)
	}
	return most
}

// Bytes returns the memory that the matrices of all workers take.
func (p *Plan) Bytes() int64 { return int64(len(p.Groups)) * 8 * p.largest() }
