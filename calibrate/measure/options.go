package measure

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Options says what is measured, and how.
type Options struct {
	Sizes      int     // number of random sizes
	MaxDim     int64   // largest dimension of random sizes
	BlockSizes []int64 // of HPL-like random sizes; none: only products with three random dimensions
	Given      []Size  // instead of random sizes
	Reps       int     // timings of each size on each worker
	WarmUp     int     // calls of each worker that are not recorded
	Seed       uint64  // of sizes and order

	Cores   []int // to measure on; none: all that this process may use
	Threads int   // of one dgemm, on as many of the cores
	Alone   bool  // one worker at a time, instead of all at once
	NoPin   bool  // leave to the system where workers run

	Memory int64         // bytes of matrices of one worker, at most
	Budget time.Duration // no call begins later than this; 0: no limit

	BLAS     string   // path of a library; empty: the dgemm of Gonum
	Compiler string   // of the C program that loads it; empty: cc, gcc or clang
	Worker   []string // command of a worker with the dgemm of Gonum
}

// DefaultOptions returns the options of the command without flags.
func DefaultOptions() Options {
	return Options{Sizes: 120, MaxDim: 2048, BlockSizes: []int64{32, 64, 128, 256}, Reps: 5, WarmUp: 3, Seed: 1, Threads: 1, Memory: 256 << 20}
}

// Limits of what can be asked for.
const (
	maxSizes   = 1 << 20
	maxTimings = 1 << 24
)

// MaxMemory is the most that the matrices of a worker can be allowed, in bytes.
const MaxMemory = 1 << 46

// Validate reports what is wrong with the options.
func (o *Options) Validate() error {
	var errs []error
	for _, c := range []struct {
		name          string
		value, lo, hi int64
		skip          bool
		instead       string
	}{
		{name: "random sizes", value: int64(o.Sizes), lo: 1, hi: maxSizes, skip: len(o.Given) > 0},
		{name: "largest dimension", value: o.MaxDim, lo: 1, hi: maxDim, skip: len(o.Given) > 0},
		{name: "timings of each size", value: int64(o.Reps), lo: 1, hi: maxTimings},
		{name: "calls to warm up", value: int64(o.WarmUp), lo: 0, hi: 1 << 20},
		{name: "threads", value: int64(o.Threads), lo: 1, hi: 1 << 12},
		{name: "bytes of memory", value: o.Memory, lo: 1 << 10, hi: MaxMemory},
	} {
		if !c.skip && (c.value < c.lo || c.value > c.hi) {
			errs = append(errs, fmt.Errorf("%s: %d, want %d to %d", c.name, c.value, c.lo, c.hi))
		}
	}
	for _, b := range o.BlockSizes {
		if b < 1 || b > maxDim {
			errs = append(errs, fmt.Errorf("block size %d, want 1 to %d", b, maxDim))
		}
	}
	for i, c := range o.Cores {
		if slices.Contains(o.Cores[:i], c) {
			errs = append(errs, fmt.Errorf("core %d twice", c))
		}
	}
	if o.Budget < 0 {
		errs = append(errs, fmt.Errorf("budget %v, want more than 0", o.Budget))
	}
	if len(errs) == 0 {
		return o.checkMemory()
	}
	return errors.Join(errs...)
}

// checkMemory refuses sizes whose matrices are larger than the memory that a
// worker may take, before any is drawn.
func (o *Options) checkMemory() error {
	sizes := o.Given
	if len(sizes) == 0 {
		sizes = []Size{{o.MaxDim, o.MaxDim, o.MaxDim}}
	}
	for _, s := range sizes {
		if s.M < 1 || s.N < 1 || s.K < 1 || max(s.M, s.N, s.K) > maxDim {
			return fmt.Errorf("size %v, want dimensions of 1 to %d", s, maxDim)
		}
		if s.Bytes() > o.Memory {
			return &MemoryError{s, o.Memory}
		}
	}
	return nil
}

// MemoryError is about a size whose matrices are larger than the memory of a worker.
type MemoryError struct {
	Size  Size
	Limit int64 // bytes
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("size %v: matrices of %s, more than the %s that a worker may take", e.Size, humanBytes(e.Size.Bytes()), humanBytes(e.Limit))
}

// MaxDim returns the largest dimension of a size with equal ones that has room.
func (e *MemoryError) MaxDim() int64 { return int64(math.Sqrt(float64(e.Limit) / (3 * 8))) }

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
