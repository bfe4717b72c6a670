package measure

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options says how the kernels of a run are measured.
type Options struct {
	Ranks   int   // processes that measure at once, as many as the run has ranks on a host
	Threads int   // of each, on as many cores
	Cores   []int // to measure on, in the order of the ranks; none: all that this process may use
	NoPin   bool  // leave to the system where processes run

	Operands []Operands
	Memory   int64         // bytes that one process may take
	Caches   int64         // bytes of the largest cache, which the ranks share and cold operands are not in
	Budget   time.Duration // no call begins later than this
	Seed     uint64        // of operands and order

	BLAS     string   // a library, by path or by name; empty: the first that is found
	Compiler string   // of the C program that times; empty: cc, gcc or clang
	Flags    []string // of the compiler; none: those of the program
}

// Operands says where the operands of a call are when it begins.
type Operands string

// What there is to choose from.
const (
	AsRun Operands = "run"  // those that a run has used just before in the caches, those of its matrix wherever they are
	Hot   Operands = "hot"  // in the caches, as far as these hold them
	Cold  Operands = "cold" // in memory
)

// DefaultOptions returns the options of the command without flags, but for the ranks.
func DefaultOptions() Options {
	return Options{Ranks: 1, Threads: 1, Operands: []Operands{AsRun}, Memory: 512 << 20, Caches: 32 << 20,
		Budget: 10 * time.Minute, Seed: 1}
}

// MinMemory and MaxMemory are the least and the most that a process can be allowed, in bytes.
const (
	MinMemory = 1 << 20
	MaxMemory = 1 << 46
)

// maxThreads bounds ranks and threads.
const maxThreads = 1 << 12

// Validate reports what is wrong with the options.
func (o *Options) Validate() error {
	var errs []error
	for _, c := range []struct {
		name          string
		value, lo, hi int64
	}{
		{"ranks of a host", int64(o.Ranks), 1, maxThreads},
		{"threads", int64(o.Threads), 1, maxThreads},
		{"bytes of memory", o.Memory, MinMemory, MaxMemory},
		{"bytes of caches", o.Caches, 0, MaxMemory},
		{"nanoseconds of budget", int64(o.Budget), 1, math.MaxInt64},
	} {
		if c.value < c.lo || c.value > c.hi {
			errs = append(errs, fmt.Errorf("%s: %d, want %d to %d", c.name, c.value, c.lo, c.hi))
		}
	}
	for i, c := range o.Cores {
		if slices.Contains(o.Cores[:i], c) {
			errs = append(errs, fmt.Errorf("core %d twice", c))
		}
	}
	if len(o.Operands) == 0 {
		errs = append(errs, errors.New("operands: want run, hot or cold"))
	}
	return errors.Join(errs...)
}

// cached returns how many elements the caches hold for a rank: half of its part, as of what is swept through again
// and again nothing stays where not all does, and caches are shared with others, in the cloud with strangers.
func (o *Options) cached() int64 { return o.Caches / int64(o.Ranks) / 2 / 8 }

// humanBytes returns 1.5 GiB.
func humanBytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	x, i := float64(n), 0
	for x >= 1024 && i < len(units)-1 {
		x /= 1024
		i++
	}
	return fmt.Sprintf("%g %s", math.Round(x*10)/10, units[i])
}

// coreGroups divides the cores among the ranks, Threads for each.
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
	if need := o.Ranks * o.Threads; need > len(cores) {
		return nil, OptionError{fmt.Errorf("%d ranks of %d threads need %d cores, and there are %d: measure with fewer --ranks-per-host or --threads, on a machine as that of the run",
			o.Ranks, o.Threads, need, len(cores))}
	}
	var groups [][]int
	for i := range o.Ranks {
		groups = append(groups, cores[i*o.Threads:(i+1)*o.Threads])
	}
	return groups, nil
}

// cores returns the number of cores that can be measured on: those given, or all that this
// process may use.
func (o *Options) cores() (int, error) {
	if len(o.Cores) > 0 {
		return len(o.Cores), nil
	}
	allowed, err := allowedCores()
	return len(allowed), err
}

// RanksOf returns how many of a run's ranks a host like this one has, as far as the number of
// cores tells: as many as there are cores for, or all.
func (o *Options) RanksOf(run int) (int, error) {
	cores, err := o.cores()
	return max(1, min(run, cores/max(1, o.Threads))), err
}

// coreList returns 0,2,3.
func coreList(cores []int) string {
	var texts []string
	for _, c := range cores {
		texts = append(texts, strconv.Itoa(c))
	}
	return strings.Join(texts, ",")
}

// Cores returns the cores of each rank, as 0,1; 2,3.
func (p *Plan) Cores() string {
	var texts []string
	for _, g := range p.Groups {
		texts = append(texts, coreList(g))
	}
	return strings.Join(texts, "; ")
}
