package platforms

import "math/bits"

// A divisor divides by a number that is fixed when the platform is read, by
// multiplying: a route is a dozen divisions, asked for twice per message.
type divisor struct {
	by         uint32
	reciprocal uint64 // floor((2^64-1) / by)
}

// divideBy returns a divisor of d, of [1, 2^32).
func divideBy(d int64) divisor { return divisor{uint32(d), ^uint64(0) / uint64(d)} }

// quotient returns floor(x/d) as floor((x+1)*m / 2^64), m the reciprocal. With
// m = (2^64-r)/d, r in [1, d], the product is (x+1)/d less (x+1)*r/(d*2^64). That
// is above 0, so where d divides x+1 the floor is (x+1)/d - 1; and it is at most
// 1/d, so elsewhere it does not reach down to the whole number below (x+1)/d.
func (d *divisor) quotient(x uint32) uint32 {
	high, _ := bits.Mul64(d.reciprocal, uint64(x)+1)
	return uint32(high)
}

// split returns x/d and x mod d.
func (d *divisor) split(x uint32) (quotient, rest uint32) {
	quotient = d.quotient(x)
	return quotient, x - quotient*d.by
}
