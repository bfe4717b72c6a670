package measure

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"reprise/noise"
)

// Size is the size of a call: C (M x N) is updated by A (M x K) times B (K x N).
type Size struct{ M, N, K int64 }

// maxDim is the largest dimension: BLAS counts in 32 bits.
const maxDim = math.MaxInt32

// String returns 100x200x30.
func (s Size) String() string { return fmt.Sprintf("%dx%dx%d", s.M, s.N, s.K) }

// ParseSize reads 100x200x30.
func ParseSize(text string) (Size, error) {
	var dims []int64
	for field := range strings.SplitSeq(text, "x") {
		d, err := strconv.ParseInt(field, 10, 64)
		if err != nil || d < 1 || d > maxDim {
			return Size{}, fmt.Errorf("size %q: want MxNxK, each from 1 to %d, as 100x200x30", text, maxDim)
		}
		dims = append(dims, d)
	}
	if len(dims) != 3 {
		return Size{}, fmt.Errorf("size %q: %d dimensions, want MxNxK", text, len(dims))
	}
	return Size{dims[0], dims[1], dims[2]}, nil
}

// Flop returns the floating-point operations of a call, 2MNK.
func (s Size) Flop() float64 { return 2 * float64(s.M) * float64(s.N) * float64(s.K) }

// Bytes returns the size of the three matrices, or more than any memory if that
// overflows.
func (s Size) Bytes() int64 {
	bytes := 8 * (float64(s.M)*float64(s.K) + float64(s.K)*float64(s.N) + float64(s.M)*float64(s.N))
	if bytes >= math.MaxInt64/2 {
		return math.MaxInt64 / 2
	}
	return int64(bytes)
}

// Uses of random numbers.
const (
	useSize noise.Use = 0x6d656173 + iota
	useOrder
)

// randomSize returns the i-th random size. In turn it is a product with three
// dimensions at random, an update as HPL does it (K is a block size), and one of a panel (N and K
// are at most a block size); without block sizes always the first. Dimensions are uniform in their
// logarithm, from 1.
func randomSize(source noise.Source, i int, o *Options) Size {
	bits := source.Draw(useSize, 0, 0, uint32(i))
	largest := [3]int64{o.MaxDim, o.MaxDim, o.MaxDim}
	kind := i % 3
	if len(o.BlockSizes) == 0 {
		kind = 0
	}
	var block int64
	if kind > 0 {
		block = min(o.MaxDim, o.BlockSizes[int(bits[3])%len(o.BlockSizes)])
	}
	if kind == 2 {
		largest[1], largest[2] = block, block
	}
	var dims [3]int64
	for d := range dims {
		dims[d] = logUniform(bits[d], largest[d])
	}
	if kind == 1 {
		dims[2] = block
	}
	return Size{dims[0], dims[1], dims[2]}
}

// logUniform maps 32 random bits to 1 to largest, as the whole part of a number
// whose logarithm is uniform from log(1) to log(largest+1).
func logUniform(bits uint32, largest int64) int64 {
	u := float64(bits) * 0x1p-32
	return min(largest, int64(math.Exp(u*math.Log(float64(largest)+1))))
}
