package search

import "math"

// design returns the points to begin with, as many as the model has main effects: each level, and each
// pair of levels of two factors, is there about as often as others.
func (s *Space) design() []int {
	n := 1
	for _, f := range s.Factors {
		n += f.Levels - 1
	}
	n = min(len(s.Points), (n+batch-1)/batch*batch)
	d := designer{count: map[[4]int]int{}}
	var list []int
	used := make([]bool, len(s.Points))
	for len(list) < n {
		next, least := -1, math.Inf(1)
		for i, x := range s.Points {
			if used[i] {
				continue
			}
			if c := float64(d.crowding(x)) + anyOrder(i); c < least {
				next, least = i, c
			}
		}
		used[next] = true
		list = append(list, next)
		d.add(s.Points[next])
	}
	return list
}

// designer counts how often levels, and pairs of levels, are in a design.
type designer struct {
	count map[[4]int]int // by factor, level, factor, level; of one factor twice: that level
}

// crowding returns how often the levels and pairs of a point are there; levels count twice.
func (d *designer) crowding(x []int) int {
	sum := 0
	for a := range x {
		sum += 2 * d.count[[4]int{a, x[a], a, x[a]}]
		for b := range a {
			sum += d.count[[4]int{a, x[a], b, x[b]}]
		}
	}
	return sum
}

func (d *designer) add(x []int) {
	for a := range x {
		for b := range a + 1 {
			d.count[[4]int{a, x[a], b, x[b]}]++
		}
	}
}

// anyOrder returns numbers in [0, 1) that put points in an order that has nothing to do with
// their levels (splitmix64).
func anyOrder(i int) float64 {
	x := uint64(i+1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return float64((x^x>>31)>>11) / (1 << 53)
}
