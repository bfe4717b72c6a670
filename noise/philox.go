package noise

// Source is the randomness of one seed. It is immutable.
type Source struct{ key [2]uint32 }

// NewSource returns the source of a seed.
func NewSource(seed uint64) Source { return Source{[2]uint32{uint32(seed), uint32(seed >> 32)}} }

// Use says what a draw is for, so that the same place in a program has several.
type Use uint32

// What draws are for.
const (
	Computation Use = iota
	SendOverhead
	RecvOverhead
	Latency
	Coefficient // of a kernel's model, by piece of its file and term
	HostScatter // by the name of the host
)

// Draw is 128 random bits: one mode and one deviate.
type Draw [4]uint32

// Draw returns the bits of a name: the index-th draw for a use that a rank makes
// in a step. Different names have independent bits.
func (s Source) Draw(use Use, rank, step, index uint32) Draw {
	return philox([4]uint32{index, uint32(use), rank, step}, s.key)
}

// philox is Philox4x32-10 of J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel
// random numbers: as easy as 1, 2, 3" (SC 2011): a bijection of the counter for
// each key, that passes BigCrush in either.
func philox(c [4]uint32, key [2]uint32) [4]uint32 {
	const (
		rounds      = 10
		multiplier0 = 0xD2511F53
		multiplier1 = 0xCD9E8D57
		weyl0       = 0x9E3779B9 // golden ratio
		weyl1       = 0xBB67AE85 // sqrt(3) - 1
	)
	for range rounds {
		p0, p1 := uint64(c[0])*multiplier0, uint64(c[2])*multiplier1
		c = [4]uint32{
			uint32(p1>>32) ^ c[1] ^ key[0], uint32(p1),
			uint32(p0>>32) ^ c[3] ^ key[1], uint32(p0),
		}
		key[0] += weyl0
		key[1] += weyl1
	}
	return c
}

// uniform returns a number in (0,1): an odd multiple of 2^-53.
func (d Draw) uniform() float64 {
	bits := uint64(d[0])<<32 | uint64(d[1])
	return float64(bits>>11|1) * 0x1p-53
}

// mode returns a number in [0,1) that is independent of Normal.
func (d Draw) mode() float64 { return float64(d[2]) * 0x1p-32 }

// Normal returns the standard normal deviate of the draw.
func (d Draw) Normal() float64 { return quantile(d.uniform()) }
