package platforms

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A star is a zone of routing Cluster or Vivaldi: points with links of their own, to and from a middle. In a Cluster
// the points are hosts, listed one by one or in cabinets, around one switch, and routes are as in a flat cluster. In a
// Vivaldi zone they are peers, and their coordinates give the latency between them (addDistance).
type star struct {
	zone     int32
	up, down []int32           // of each point, -1 for none: a router, or a zone
	loopback map[int32][]int32 // of points that list a route to themselves
	backbone int32             // -1 for none
	at       []coordinates     // of each point, if the routing is Vivaldi
}

// appendLocal appends the links of both points and the backbone between them. As in SimGrid a link is there once,
// however often the points name it. The route of a point to itself is its listed loopback, if it has one.
func (s *star) appendLocal(w walk, route []int32, src, dst int32) ([]int32, error) {
	if s.at != nil {
		if err := s.addDistance(w, src, dst); err != nil {
			return route, err
		}
	}
	few := [...]int32{s.up[src], s.backbone, s.down[dst]}
	links := few[:]
	if own := s.loopback[src]; src == dst && own != nil {
		links = own
	} else if s.up[src] < 0 && s.down[dst] < 0 {
		return route, nil // a router to itself, or to another
	}
	start := len(route)
	for _, l := range links {
		if l >= 0 && !slices.Contains(route[start:], l) {
			route = append(route, l)
		}
	}
	return route, nil
}

// The distances between the points of zones of routing Vivaldi, which embeds hosts of the
// Internet in a plane with a height for the line to each (F. Dabek, R. Cox, F. Kaashoek,
// R. Morris, "Vivaldi: a decentralized network coordinate system", 2004).

// coordinates are two in the plane and the height, all in ms; NaN where there are none.
type coordinates [3]float64

// maxCoordinate bounds coordinates, in ms, so that the distances of a route are a possible latency.
const maxCoordinate = 1e9

// coordinates reads three numbers of an attribute. An empty text says that there are none.
func (v *values) coordinates() (c coordinates) {
	text := v.text("coordinates")
	if text == "" {
		return coordinates{math.NaN(), math.NaN(), math.NaN()}
	}
	words := strings.Fields(text)
	if len(words) != len(c) {
		v.failf("coordinates: %q: want 3 numbers, two in the plane and the height, in ms", text)
	}
	for i, word := range words {
		var err error
		c[i], err = strconv.ParseFloat(word, 64)
		if err != nil || !(math.Abs(c[i]) <= maxCoordinate) {
			v.failf("coordinates: %q: %q is not a number of ms of [%g,%g]", text, word, -maxCoordinate, maxCoordinate)
		}
	}
	return c
}

// addDistance adds how far two points are apart to the distance of the walk.
func (s *star) addDistance(w walk, src, dst int32) error {
	a, b := s.at[src], s.at[dst]
	// The products are rounded one by one, so that every processor gives the same bits.
	seconds := (math.Sqrt(float64((a[0]-b[0])*(a[0]-b[0]))+float64((a[1]-b[1])*(a[1]-b[1]))) + math.Abs(a[2]) +
		math.Abs(b[2])) / 1000
	if math.IsNaN(seconds) {
		return fmt.Errorf("%s: no route in zone %q from %s to %s: not both have coordinates",
			w.Name(), w.zones[s.zone].name, w.pointName(position{s.zone, src}), w.pointName(position{s.zone, dst}))
	}
	if w.distance != nil {
		*w.distance += seconds
	}
	return nil
}

// HasDistances tells whether there may be routes whose Distance is not 0.
func (p *Platform) HasDistances() bool { return p.distances }

// Distance returns the seconds that a message from host src to host dst takes besides the latencies of the links of its
// route: what the coordinates of points in zones of routing Vivaldi say. It is 0 where there is no route.
func (p *Platform) Distance(src, dst int) (seconds float64) {
	if !p.distances {
		return 0
	}
	if _, err := (walk{p, AsMet, &seconds}).appendRoute(nil, p.hostPlaces[src], p.hostPlaces[dst]); err != nil {
		return 0
	}
	return seconds
}
