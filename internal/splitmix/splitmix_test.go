package splitmix

import "testing"

const gamma = 0x9E3779B97F4A7C15

// The generator SplitMix64 with state s yields Mix(s), Mix(s+g), Mix(s+2g), ... with g
// the golden gamma. The first outputs for s = 0 are published with the reference
// implementation (S. Vigna, splitmix64.c; also the test of Java's SplittableRandom),
// those for 1234567 are the test vector that other implementations use.
func TestMixIsSplitMix64(t *testing.T) {
	for state, outputs := range map[uint64][]uint64{
		0:       {0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F},
		1234567: {6457827717110365317, 3203168211198807973, 9817491932198370423},
	} {
		for i, want := range outputs {
			if got := Mix(state + uint64(i)*gamma); got != want {
				t.Errorf("state %d, output %d: %#x, want %#x", state, i, got, want)
			}
		}
	}
}
