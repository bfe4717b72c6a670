package platforms

import (
	"math"
	"slices"

	"reprise/internal/eventqueue"
)

// This file finds the paths of fewest links over the listed routes of a graph (graph.go); findPaths is the entry. If
// several paths are equally short, SimGrid's choice follows from the order in which its algorithms look at points, and
// from their replacing a path only by a strictly shorter one.

// unreached is the distance to a point that cannot be reached.
const unreached = math.MaxInt64

// findPaths fills graph.last. numbers are those of points by their first appearance in routes.
func (g *graph) findPaths(numbers []int32) {
	g.last = make([]int32, int(g.size)*int(g.size))
	if !g.dijkstra { // Floyd's algorithm goes by the order of declaration
		for point := range numbers {
			numbers[point] = int32(point)
		}
	}
	n := int(g.size)
	s := &search{graph: g, numbers: numbers, points: make([]int32, n), dist: make([]int64, n), queue: eventqueue.New(n)}
	for point, number := range numbers {
		s.points[number] = int32(point)
	}
	if g.dijkstra {
		for from := range g.size {
			s.dijkstra(from)
		}
		return
	}
	for from := range g.size {
		s.findVia(from)
	}
	s.resolveVia()
}

// A search is the scratch memory of findPaths.
// Its slices are used for one point after the other.
type search struct {
	*graph
	numbers []int32          // of points, by which the queue orders those of equal distance
	points  []int32          // by number
	dist    []int64          // links from the point where the search began
	queue   eventqueue.Queue // the numbers of points to go on from, by distance
	settled []int32          // points in the order in which they left the queue
}

// appearances numbers points as SimGrid's Dijkstra does: as they first appear as the
// source or destination of a listed route; points of none come last. It is for the time before edges are sorted.
func (g *graph) appearances() []int32 {
	numbers := slices.Repeat([]int32{-1}, int(g.size))
	next := int32(0)
	number := func(point int32) {
		if numbers[point] < 0 {
			numbers[point] = next
			next++
		}
	}
	for _, e := range g.edges {
		number(e.from)
		number(e.to)
	}
	for point := range g.size {
		number(point)
	}
	return numbers
}

// dijkstra finds the paths from one point by Dijkstra's algorithm. The predecessor of a point changes only for strictly
// fewer links, so that it is the one that left the queue first.
func (s *search) dijkstra(from int32) {
	last := s.last[from*s.size : (from+1)*s.size]
	for i := range last {
		s.dist[i], last[i] = unreached, -1
	}
	s.dist[from] = 0
	s.settled = s.settled[:0]
	s.queue.Set(s.numbers[from], 0)
	for !math.IsInf(s.queue.Next(), 1) {
		point := s.points[s.queue.Pop()]
		s.settled = append(s.settled, point)
		for i := s.first[point]; i < s.first[point+1]; i++ {
			to, d := s.edges[i].to, s.dist[point]+s.edges[i].count()
			if d < s.dist[to] {
				s.dist[to], last[to] = d, i
				s.queue.Set(s.numbers[to], float64(d))
			}
		}
	}
	last[from] = s.edge(from, from)
}

// What stands in place of the highest point between the ends of a path.
const (
	direct = int32(-1) // the path is one edge
	noPath = int32(-2)
)

// findVia fills the row of a point with what Floyd's algorithm finds, which tries all points, in the order of their
// declaration, as one between two others: of the paths of fewest links it takes the first that it meets, whose highest
// point between the ends is as low as can be. That point is put in place of the last edge; resolveVia goes on from
// there. So it takes the time of Dijkstra's algorithm, not the cube of the points' number.
func (s *search) findVia(from int32) {
	s.dijkstra(from)
	via := s.last[from*s.size : (from+1)*s.size]
	// Of the point's way to itself: the listed route, or a round trip if that has fewer links. Without a listed one
	// it is the loopback of a single link, and no path is looked for.
	self := int64(-1)
	if listed := s.edge(from, from); listed >= 0 {
		self = s.edges[listed].count()
		for _, point := range s.settled {
			if i := s.edge(point, from); i >= 0 && point != from {
				self = min(self, s.dist[point]+s.edges[i].count())
			}
		}
	}
	for i := range via {
		via[i] = noPath
	}
	lower := func(to, between int32) {
		if via[to] == noPath || between < via[to] {
			via[to] = between
		}
	}
	for _, point := range s.settled { // by distance, so that via[point] is final
		for i := s.first[point]; i < s.first[point+1]; i++ {
			e := &s.edges[i]
			target := s.dist[e.to]
			if e.to == from {
				target = self
			}
			switch {
			case s.dist[point]+e.count() != target:
			case point == from:
				lower(e.to, direct)
			default:
				lower(e.to, max(via[point], point))
			}
		}
	}
}

// resolveVia replaces the points between the ends by last edges. From the point between to the end leads the path that
// Floyd's algorithm found before, whose point between is lower: so those come first, and then the others.
func (s *search) resolveVia() {
	via := make([]int32, s.size) // the column of an end
	for to := range s.size {
		for from := range s.size {
			via[from] = s.last[from*s.size+to]
		}
		for _, first := range [...]bool{true, false} {
			for from, between := range via {
				if first == (between < int32(from)) {
					edge := int32(-1)
					switch between {
					case noPath:
					case direct:
						edge = s.edge(int32(from), to)
					default:
						edge = s.last[between*s.size+to]
					}
					s.last[int32(from)*s.size+to] = edge
				}
			}
		}
	}
}
