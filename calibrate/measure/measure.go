// Package measure times the kernels that a run calls, on the machine that it runs on, for calibrate kernels to fit.
//
//	run := &measure.RunCalls{}                           // the calls of a run
//	k := run.Kernel(kernel, guess)
//	err := run.Add(k, dims)
//	plan, err := measure.NewPlan(run, o)                 // sizes by where the time goes, in random order
//	result, err := measure.Run(ctx, plan, o, progress)   // a process for each rank, bound to its cores
//	err = result.WriteCSV(w, plan, host, facts)
//
// The processes are those of a small C program (directory helper), compiled when it is needed: it
// loads a BLAS, and has loops of its own for HPL's copies and row swaps. So no C is linked in, and
// a library that crashes takes nothing along. All processes make the same call at the same time, on
// random numbers, in memory that is laid out as that of the run.
//
// HPCG's kernels are timed by another program, whose loops work on matrices as HPCG stores them, in the order
// of a run: the content of the caches after one loop decides how long the next one takes. [RunCalls.Plane]
// gives the size of the boxes of such a run.
//
// A [RunCalls] holds the calls, a [Plan] the sizes and their order, a [Result] the timings and a [Report]
// everything that is told of them. Reading runs from traces is left to calibrate/runs, fitting to calibrate.
//
// This package and measure/network are the only ones of the models that look at a clock; it knows nothing of traces.
//
// # Units
//
// Times are in seconds, memory is in bytes.
//
// # Errors
//
// An [OptionError] is about options that do not go together on this machine. Messages of a process,
// a compiler or a library that fails are part of the error.
//
// # Source
//
// The method (sizes, order, binding) is that of docs/calibrate.md. The elements that HPL's copies
// and row swaps read and write are those of its documentation (HPL 2.3), the matrices of HPCG and
// the order of its calls those of docs/hpcg.md (HPCG 3.1).
package measure

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"reprise/internal/textutil"
)

// Options says how the kernels of a run are measured.
type Options struct {
	Ranks   int   // processes that measure at once, as many as the run has ranks on a host
	Threads int   // threads of each process, on as many cores
	Cores   []int // cores to measure on, in the order of the ranks; none: all that this process may use
	NoPin   bool  // processes are not bound to cores: the system places them

	Operands []Operands    // each size is timed with each of them
	Memory   int64         // bytes that one process may take
	Caches   int64         // bytes of the largest cache, which the ranks share and cold operands are not in
	Budget   time.Duration // no call begins later than this
	Seed     uint64        // of the numbers in operands and of the order

	BLAS     string   // a library, by path or by name; empty: the first that is found
	Compiler string   // of the C program that times; empty: cc, gcc or clang
	Flags    []string // of the compiler; none: those of the program
}

// Operands says where the operands of a call are when it begins.
type Operands string

// Places of operands. Of a run, operands that it has used just before are in the caches, and those
// of its matrix wherever the calls in between have left them.
const (
	AsRun Operands = "run"
	Hot   Operands = "hot"  // in the caches, as far as these hold them
	Cold  Operands = "cold" // in memory
)

// ParseOperands returns the operands of a name: "run", "hot", "cold", or "both" for hot and cold ones.
func ParseOperands(text string) ([]Operands, bool) {
	if text == "both" {
		return []Operands{Hot, Cold}, true
	}
	o := Operands(text)
	return []Operands{o}, o == AsRun || o == Hot || o == Cold
}

// mostCores bounds the numbers of cores.
const mostCores = 1 << 12

// ParseCores returns the cores of a list as 0,2-5; nil for "all".
func ParseCores(text string) (list []int, err error) {
	if text == "all" {
		return nil, nil
	}
	for field := range strings.SplitSeq(text, ",") {
		from, to, ok := textutil.ParseRange(field, "-")
		if !ok || to >= mostCores {
			return nil, fmt.Errorf("%q, want all, or numbers and ranges below %d as 0,2-5", text, mostCores)
		}
		for core := from; core <= to; core++ {
			list = append(list, int(core))
		}
	}
	return list, nil
}

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

// Validate reports everything that is wrong with the options, joined.
func (o *Options) Validate() error {
	var faults textutil.Faults
	faults.WantRange("ranks of a host", int64(o.Ranks), 1, maxThreads)
	faults.WantRange("threads", int64(o.Threads), 1, maxThreads)
	faults.WantRange("bytes of memory", o.Memory, MinMemory, MaxMemory)
	faults.WantRange("bytes of caches", o.Caches, 0, MaxMemory)
	faults.WantRange("nanoseconds of budget", int64(o.Budget), 1, math.MaxInt64)
	for i, c := range o.Cores {
		faults.Want(!slices.Contains(o.Cores[:i], c), "core %d twice", c)
	}
	faults.Want(len(o.Operands) > 0, "operands: want run, hot or cold")
	return faults.Err()
}

// cached returns how many elements of 8 bytes the caches hold for a rank: half of its part. An
// array that is swept through again and again stays in a cache as a whole or not at all, and caches
// are shared with other processes, in the cloud with those of strangers.
func (o *Options) cached() int64 { return o.Caches / int64(o.Ranks) / 2 / 8 }

// humanBytes returns 1.5 GiB.
func humanBytes(n int64) string {
	x, unit := float64(n), 0
	for ; x >= 1024; unit++ {
		x /= 1024
	}
	return fmt.Sprintf("%g %s", math.Round(x*10)/10, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}[unit])
}

// cores returns the cores that can be measured on: those given, or all that this process may use.
func (o *Options) cores() ([]int, error) {
	if len(o.Cores) > 0 {
		return o.Cores, nil
	}
	return allowedCores()
}

// RanksOf returns how many of a run's ranks a host like this one has, as far as the number of
// cores tells: as many as there are cores for, or all.
func (o *Options) RanksOf(run int) (int, error) {
	cores, err := o.cores()
	return max(1, min(run, len(cores)/max(1, o.Threads))), err
}

// numbers returns 0,2,3, or numbers with another text in between.
func numbers[T int | int64](list []T, between string) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", between)
}
