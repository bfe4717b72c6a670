// Package splitmix scrambles 64-bit integers.
package splitmix

// Mix is the finalizer of SplitMix64: Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014.
func Mix(c uint64) uint64 {
	z := c + 0x9E3779B97F4A7C15
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}
