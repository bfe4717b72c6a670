package trace

import "fmt"

// Check reports the first field that is out of range.
func (d *Draw) Check() error {
	switch {
	case d.First < 0 || d.Count < 0 || d.Count > MaxElements:
		return fmt.Errorf("draw of %d elements from %d, at most %d from 0 on", d.Count, d.First, MaxElements)
	case d.Rows < d.Count || d.First > d.Rows-d.Count:
		return fmt.Errorf("draw of elements [%d,%d+%d) of %d rows", d.First, d.First, d.Count, d.Rows)
	case d.Block < 1 || d.Owners < 1:
		return fmt.Errorf("draw over blocks of %d rows dealt to %d owners", d.Block, d.Owners)
	}
	return nil
}

// Append appends the values to dst: d.Count integers in [0, d.Owners]. The fields must
// pass Check.
func (d *Draw) Append(dst []int64) []int64 {
	key := mix(d.Seed)
	base := d.First / d.Block
	for c := d.First; c < d.First+d.Count; c++ {
		offset := int64(mix(key+uint64(c)) % uint64(d.Rows-c)) // rows below the diagonal
		if offset == 0 {
			dst = append(dst, 0)
			continue
		}
		dst = append(dst, 1+((c+offset)/d.Block-base)%d.Owners)
	}
	return dst
}

// mix is the finalizer of SplitMix64: Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014.
func mix(c uint64) uint64 {
	z := c + 0x9E3779B97F4A7C15
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}

// newVector returns the running sums of a vector.
func newVector(v *Vector) vector {
	var sums []int64
	if v.Draw != nil {
		sums = v.Draw.Append(make([]int64, 1, v.Draw.Count+1))
	} else {
		sums = append(make([]int64, 1, len(v.Values)+1), v.Values...)
	}
	counts := true
	for i := 1; i < len(sums); i++ {
		counts = counts && uint64(sums[i]) <= MaxCount
		sums[i] += sums[i-1]
	}
	return vector{sums, counts}
}

// drawFields is the number of integers that state a draw.
const drawFields = 6

// fields returns the integers that state a draw, in the order of the file.
func (d *Draw) fields() [drawFields]int64 {
	return [drawFields]int64{int64(d.Seed), d.First, d.Count, d.Rows, d.Block, d.Owners}
}

func drawOf(f [drawFields]int64) Draw {
	return Draw{Seed: uint64(f[0]), First: f[1], Count: f[2], Rows: f[3], Block: f[4], Owners: f[5]}
}
